import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Signing, signatureHeaders } from '../../test/support/sign.ts';
import { atMost, exactly, type Figures, named, observed } from '../figures.ts';
import { lookEvery } from '../support/poll.ts';
import { sampleProcess } from '../support/process-figures.ts';
import { percentile } from '../support/statistics.ts';

/** The service that is called and watched during an attack. */
export type Served = {
  readonly url: string;
  readonly pid: number;
  readonly keys: Omit<Signing, 'timestamp'>;
};

/** Measurements of a well-behaved caller and of the process during a stage. */
export type Stage = {
  readonly name: string;
  readonly timesMs: readonly number[];
  readonly failures: readonly string[];
  readonly highestMb: number;
};

/** Sends forty signed requests a second. Every second one opens a connection. */
const PAUSE_MS = 25;
const REQUEST_TIMEOUT_MS = 30_000;
const SAMPLE_MS = 200;
const PATHS = ['/v1/webhooks', '/v1/events?limit=5', '/v1/health'];

/** Calls the service at a constant rate while `work` runs, and watches its memory. */
export async function whileServed<Result>(
  served: Served,
  name: string,
  work: () => Promise<Result>,
): Promise<{ readonly stage: Stage; readonly result: Result }> {
  const timesMs: number[] = [];
  const failures: string[] = [];
  let highestMb = (await sampleProcess(served.pid)).residentMb;
  const sampler = lookEvery(SAMPLE_MS, async () => {
    const { residentMb } = await sampleProcess(served.pid);
    highestMb = Math.max(highestMb, residentMb);
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const over = new AbortController();
  const calls: Promise<void>[] = [];
  const callOnce = async (count: number): Promise<void> => {
    const startedAt = performance.now();
    const outcome = await callService(served, PATHS[count % PATHS.length] ?? '', count % 2 === 0 && agent);
    timesMs.push(performance.now() - startedAt);
    if (outcome !== '200') failures.push(outcome);
  };
  const calling = (async () => {
    for (let count = 0; !over.signal.aborted; count += 1) {
      calls.push(callOnce(count));
      await delay(PAUSE_MS);
    }
  })();
  try {
    const result = await work();
    return { stage: { name, timesMs, failures, highestMb }, result };
  } finally {
    over.abort();
    await calling;
    await Promise.all(calls);
    sampler.close();
    agent.destroy();
  }
}

/** Returns the status, or the reason why there is none. */
function callService({ url, keys }: Served, path: string, agent: Agent | false): Promise<string> {
  const signing = { ...keys, timestamp: Math.floor(Date.now() / 1000) };
  const headers = signatureHeaders({ method: 'GET', path }, signing);
  return new Promise((resolve) => {
    const sent = request(`${url}${path}`, { agent, headers, timeout: REQUEST_TIMEOUT_MS }, (response) => {
      response.resume();
      response.on('close', () => resolve(response.complete ? `${response.statusCode}` : 'a cut answer'));
    });
    sent.on('timeout', () => sent.destroy(new Error('no response in time')));
    sent.on('error', (error) => resolve(error.message));
    sent.end();
  });
}

/** Limits for what other callers notice of an attack. */
export type Limits = { readonly p99Ms: number; readonly growthMb: number };

export function servedFigures(stage: Stage, calm: Stage, limits: Limits): Figures {
  const { name, timesMs, failures, highestMb } = stage;
  const calmMs = Math.round(percentile(calm.timesMs, 0.99));
  const p99 = { name: `p99 of the caller (${calmMs} ms when calm)`, bound: limits.p99Ms, unit: ' ms' };
  const measured = Math.round(percentile(timesMs, 0.99));
  const memory = { name: 'memory of the service over calm', bound: limits.growthMb, unit: ' MB' };
  const growth = Math.round(Math.max(0, highestMb - calm.highestMb));
  return named(name, [
    observed('requests of a well-behaved caller', timesMs.length),
    exactly('failed requests of the caller', failures.length, 0),
    atMost({ ...p99, measured }),
    atMost({ ...memory, measured: growth }),
  ]);
}
