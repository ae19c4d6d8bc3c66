import { join } from 'node:path';
import { type Keys, repeatedCall, type SignedRequest } from './load.ts';
import { type Pair, processorTimesInTurns, type Rounds, speedsInTurns } from './pairs.ts';
import { startProgram } from './start-program.ts';

export type TokenTimes = {
  /** Requests per second. */
  readonly speeds: readonly Pair[];
  /** Microseconds of processor time for a request. */
  readonly processorTimes: readonly Pair[];
};

type Service = { readonly url: string; readonly pid: number; readonly keys: Keys };

/** Measures POST /v1/token of the service beside a plain Fastify route that makes the same token. */
export async function measureTokens(service: Service, rounds: Rounds): Promise<TokenTimes> {
  const { keys } = service;
  const bare = await startProgram({
    args: [join(import.meta.dirname, 'bare-server.ts')],
    output: 'stdout',
    environment: { API_KEY: keys.apiKey, API_SECRET: keys.apiSecret },
  });
  const body = JSON.stringify({ roomId: 'demo', userId: 'ada', name: 'Ada Lovelace', role: 'participant' });
  const request: SignedRequest = { method: 'POST', path: '/v1/token', body };
  const measured = repeatedCall(service.url, request, keys, rounds.concurrency);
  const floor = repeatedCall(bare.url, request, keys, rounds.concurrency);
  try {
    return {
      speeds: await speedsInTurns(measured.call, floor.call, rounds),
      processorTimes: await processorTimesInTurns(
        { call: measured.call, pid: service.pid },
        { call: floor.call, pid: bare.pid },
        rounds,
      ),
    };
  } finally {
    await Promise.all([measured.close(), floor.close()]);
    bare.stop();
  }
}
