import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it } from 'vitest';
import type { Event } from '../../../src/contract/events.ts';
import { createWholeBodyServer } from '../../support/whole-body-server.ts';
import { type Run, run } from '../support/run.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';
const ENVIRONMENT = { RTC_WEBHOOK_SECRET: SECRET };

type Check = { readonly check: string; readonly passed: boolean | null; readonly detail: string };

type TestReceiver = { readonly url: string; readonly handled: readonly string[]; close(): Promise<void> };

const open: TestReceiver[] = [];
afterEach(async () => {
  for (const receiver of open.splice(0)) await receiver.close();
});

/** Starts a receiver. `take` gets a delivery and whether its signature is valid, and returns the response's status. */
async function startReceiver(
  take: (event: Event, isVerified: boolean, handle: (event: Event) => void) => number,
): Promise<TestReceiver> {
  const handled: string[] = [];
  const server = createWholeBodyServer((request, response, body) => {
    if (request.method === 'GET') return void response.end(JSON.stringify(handled));
    const status = take(JSON.parse(body), isVerified(body, request.headers), ({ id }) => handled.push(id));
    response.writeHead(status).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    handled,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  open.push(receiver);
  return receiver;
}

/** Verifies with the library of Standard Webhooks, which also checks the timestamp. */
function isVerified(body: string, headers: object): boolean {
  try {
    new Webhook(SECRET).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

/** A receiver that verifies deliveries, handles each id once, and waits for earlier events. */
function goodReceiver() {
  const waiting = new Map<number, Event>();
  let next = 1;
  return startReceiver((event, verified, handle) => {
    if (!verified) return 401;
    if ((event.sequence ?? 0) >= next) waiting.set(event.sequence ?? 0, event);
    for (let due = waiting.get(next); due !== undefined; due = waiting.get(next)) {
      handle(due);
      waiting.delete(next);
      next += 1;
    }
    return 200;
  });
}

const simulate = (scenario: string, words: readonly string[] = []): Promise<Run> =>
  run(['webhooks', 'simulate', '-', '--json', ...words], { env: ENVIRONMENT, stdin: scenario });

async function checksOf(
  scenario: string,
): Promise<{ code: number; passed: Record<string, boolean | null>; details: string }> {
  const { code, stdout, stderr } = await simulate(scenario);
  expect(stderr).toBe('');
  const { checks } = JSON.parse(stdout) as { checks: readonly Check[] };
  return {
    code,
    passed: Object.fromEntries(checks.map(({ check, passed }) => [check, passed])),
    details: checks.map(({ detail }) => detail).join('\n'),
  };
}

const ALL = {
  accepted: true,
  'refused-forged': true,
  'refused-old': true,
  'handled-once': true,
  'in-order': true,
};

describe('rtc webhooks simulate', () => {
  it('passes a receiver that verifies, and handles each event once and in order: a class of thirty', async () => {
    const { url, handled } = await goodReceiver();
    const { code, passed, details } = await checksOf(`to: ${url}/hook\nhandled: ${url}\nseconds: 0`);
    expect([code, passed]).toEqual([0, ALL]);
    expect(handled).toHaveLength(63);
    expect(details).toContain('69 of 69 genuine deliveries got a 2xx');
    expect(details).toContain('each of 63 events once');
  });

  it('fails a receiver that believes everything and handles it on arrival', async () => {
    const { url } = await startReceiver((event, _verified, handle) => {
      handle(event);
      return 204;
    });
    const { code, passed, details } = await checksOf(`{"to":"${url}","handled":"${url}","seconds":0}`);
    expect([code, passed]).toEqual([
      7,
      {
        accepted: true,
        'refused-forged': false,
        'refused-old': false,
        'handled-once': false,
        'in-order': false,
      },
    ]);
    expect(details).toContain('6 handled again, 6 handled though they must not be');
    expect(details).toMatch(/sequence \d+ was handled after \d+/);
  });

  it('fails a receiver that ignores the time, and one that refuses genuine deliveries', async () => {
    const careless = await startReceiver(() => 200);
    expect((await checksOf(`to: ${careless.url}\nseconds: 0\nforged: 0`)).passed).toMatchObject({
      'refused-forged': null,
      'refused-old': false,
    });
    const strict = await startReceiver(() => 400);
    const { code, passed, details } = await checksOf(`to: ${strict.url}\nseconds: 0`);
    expect([code, passed]).toMatchObject([
      7,
      { accepted: false, 'refused-forged': true, 'refused-old': true },
    ]);
    expect(details).toMatch(/0 of 69 genuine deliveries got a 2xx; evt_\w+ got 400/);
  });

  it('leaves open what nothing shows', async () => {
    const { url } = await goodReceiver();
    const { code, passed } = await checksOf(`to: ${url}\nseconds: 0\npeople: 2`);
    expect([code, passed]).toEqual([0, { ...ALL, 'handled-once': null, 'in-order': null }]);
  });

  it('takes as long as the scenario requires', async () => {
    const { url } = await goodReceiver();
    const startedAt = performance.now();
    await checksOf(`to: ${url}\nseconds: 1\npeople: 5`);
    // The last delivery is due one step before the end.
    expect(performance.now() - startedAt).toBeGreaterThan(800);
  });

  it.each([
    ['to: http://127.0.0.1:9\nseconds: -1', 'seconds'],
    ['to: http://127.0.0.1:9\npeople: many', 'people'],
    ['to: http://127.0.0.1:9\nstudents: 3', 'unknown fields: students'],
    ['people: 3', 'names no receiver'],
    ['to: [', 'not well-formed YAML'],
    ['- a', 'not a mapping'],
    ['to: ftp://example.org', 'not an address of a receiver'],
  ])('refuses the scenario %j', async (scenario, words) => {
    const { code, stdout, stderr } = await simulate(scenario);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(words);
  });

  it('ends with 1 when the address in `handled` does not report what was handled', async () => {
    const { url } = await goodReceiver();
    const { code, stderr } = await simulate(`to: ${url}\nhandled: http://127.0.0.1:9\nseconds: 0\npeople: 1`);
    expect([code, stderr.includes('does not return a JSON list')]).toEqual([1, true]);
  });
});
