import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type FollowEventsOptions, RtcClient, RtcError } from '../../../src/client/index.ts';
import type { Event } from '../../../src/contract/events.ts';
import { json, problem, startHttpServer, type TestHttpServer } from '../../cli/support/http-server.ts';

type Step = (response: ServerResponse) => void;

let server: TestHttpServer | undefined;
let client: RtcClient;
const pauses: number[] = [];
afterEach(async () => {
  await client.close();
  await server?.close();
  server = undefined;
  pauses.length = 0;
});

const event = (id: string): Event => ({
  id,
  event: 'room_started',
  room: { id: 'RM_hycBMAjmt6Ub', name: 'demo', metadata: '', numParticipants: 1 },
  timestamp: '2026-01-31T09:30:00.000Z',
  sequence: 1,
});

const page =
  (nextCursor: string, ...ids: readonly string[]): Step =>
  (response) =>
    json(response, 200, { events: ids.map(event), nextCursor });

const refuse =
  (status: number, code: string, headers: object = {}): Step =>
  (response) =>
    problem(response, status, code, { headers });

const hangUp: Step = (response) => void response.destroy();

/** Starts a service that responds with one step for each request. After the last step it does not respond. */
async function script(...steps: readonly Step[]): Promise<void> {
  server = await startHttpServer((_request, response, count) => steps[count - 1]?.(response));
  client = new RtcClient({
    url: server.url,
    apiKey: 'key',
    apiSecret: 'secret',
    random: () => 1,
    pause: async (ms) => void pauses.push(ms),
  });
}

/** Iterates until `count` ids have arrived. Returns the ids. */
async function take(count: number, options: FollowEventsOptions = {}): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id } of client.events.follow(options)) {
    ids.push(id);
    if (ids.length === count) break;
  }
  return ids;
}

const queries = (): readonly string[] =>
  (server?.received ?? []).map(({ url }) => url.replace(/^[^?]*\?/, ''));

async function failure(call: Promise<unknown>): Promise<RtcError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof RtcError) return error;
  throw new Error(`no RtcError but ${String(error)}`);
}

describe('events.follow', () => {
  it('begins with future events, and continues by nextCursor with a wait', async () => {
    await script(page('c1'), page('c2', 'a', 'b'), page('c3', 'c'));
    expect(await take(3)).toEqual(['a', 'b', 'c']);
    expect(queries()).toEqual([
      'cursor=latest&limit=200',
      'cursor=c1&limit=200&wait=25',
      'cursor=c2&limit=200&wait=25',
    ]);
  });

  it('begins at a cursor, or at an instant, and keeps the filter', async () => {
    await script(page('c1', 'a'), page('c2', 'b'));
    await take(1, { cursor: 'c0', roomId: 'a b' });
    await take(1, { since: '2026-01-31T09:30:00.000Z', types: ['room_closed', 'room_started'] });
    expect(queries()).toEqual([
      'cursor=c0&roomId=a%20b&limit=200',
      'since=2026-01-31T09%3A30%3A00.000Z&types=room_closed%2Croom_started&limit=200',
    ]);
  });

  it('ends with an error when the service repeats cursor and events', async () => {
    await script(page('c1', 'a'), page('c1', 'a'), page('c1', 'a'));
    const ids: string[] = [];
    const following = async () => {
      for await (const { id } of client.events.follow({ cursor: 'c0' })) ids.push(id);
    };
    expect((await failure(following())).detail).toContain('repeats the cursor');
    expect(ids).toEqual(['a']);
  });

  it('reports a cursor only when all events before it have been handled', async () => {
    await script(page('c1', 'a', 'b'), page('c2', 'c'));
    const calls: string[] = [];
    for await (const { id } of client.events.follow({
      cursor: 'c0',
      onCursor: (cursor) => calls.push(cursor),
    })) {
      calls.push(id);
      if (id === 'c') break;
    }
    expect(calls).toEqual(['a', 'b', 'c1', 'c']);
  });

  it.each([
    ['a broken connection', hangUp],
    ['a service that closes', refuse(503, 'shutting-down')],
    ['a store that is unavailable', refuse(503, 'storage-unavailable')],
    ['a rate limit', refuse(429, 'rate-limited')],
    ['an internal error', refuse(500, 'internal-error')],
    ['a proxy without a service', (response: ServerResponse) => void response.writeHead(502).end('<html>')],
  ])('sends the same cursor again after %s', async (_what, fault) => {
    await script(page('c1', 'a'), fault, fault, fault, fault, fault, page('c2', 'b'));
    const calls: string[] = [];
    const ids = await take(2, {
      cursor: 'c0',
      onInterruption: () => calls.push('away'),
      onResumption: () => calls.push('back'),
    });
    expect(ids).toEqual(['a', 'b']);
    expect(calls).toEqual(['away', 'back']);
    expect(new Set(queries().slice(1))).toEqual(new Set(['cursor=c1&limit=200&wait=25']));
  });

  it('pauses longer each time, 5 s at most, and as long as requested', async () => {
    const faults = Array.from({ length: 7 }, () => hangUp);
    await script(
      page('c1', 'a'),
      ...faults,
      refuse(429, 'rate-limited', { 'retry-after': '4' }),
      page('c2', 'b'),
    );
    await take(2, { cursor: 'c0' });
    expect(pauses).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000, 4000]);
  });

  it('pauses when waits end at once without events', async () => {
    await script(page('c1', 'a'), page('c1'), page('c1'), page('c2', 'b'));
    expect(await take(2, { cursor: 'c0' })).toEqual(['a', 'b']);
    expect(pauses).toEqual([500, 500]);
  });

  it.each([
    [400, 'invalid-request'],
    [401, 'invalid-api-key'],
    [403, 'invalid-signature'],
    [404, 'route-not-found'],
  ])('ends with a %i, which is permanent', async (status, code) => {
    await script(page('c1', 'a'), refuse(status, code));
    expect(await failure(take(2, { cursor: 'c0' }))).toMatchObject({ status, code });
  });

  it('requires a response to the first call', async () => {
    await script(hangUp);
    expect((await failure(take(1))).code).toBe('unreachable');
    expect(server?.received).toHaveLength(1);
  });

  it('ends with the signal while it waits', async () => {
    await script(page('c1', 'a'));
    const end = new AbortController();
    const waiting = take(2, {
      cursor: 'c0',
      signal: end.signal,
      onCursor: () => setImmediate(() => end.abort()),
    });
    expect((await failure(waiting)).code).toBe('aborted');
  });

  it('ends with the signal while it pauses', async () => {
    await script(page('c1', 'a'), hangUp);
    await client.close();
    client = new RtcClient({ url: server?.url ?? '', apiKey: 'key', apiSecret: 'secret' });
    const end = new AbortController();
    const pausing = take(2, {
      cursor: 'c0',
      signal: end.signal,
      onInterruption: () => setImmediate(() => end.abort()),
    });
    expect((await failure(pausing)).code).toBe('aborted');
  });
});
