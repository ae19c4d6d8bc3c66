import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/contract/errors.ts';
import { createRunOnce } from '../../../src/server/access/run-once.ts';
import type { Store } from '../../../src/server/app/store.ts';
import { systemIds } from '../../../src/server/platform/clock.ts';
import { collectingLog, type LogLine } from '../../support/app.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { sqliteTestDatabase, type TestDatabase } from '../platform/storage/test-databases.ts';

let testDatabase: TestDatabase;
let store: Store;
let clock: ManualClock;
beforeEach(async () => {
  testDatabase = await sqliteTestDatabase();
  store = await testDatabase.open();
  clock = new ManualClock(1_000_000);
});
afterEach(() => testDatabase.close());

const REQUEST = { key: 'k', keyId: 'root', method: 'POST', url: '/v1/webhooks', body: Buffer.from('{}') };
const secretBox = { seal: (text: string) => text, open: (text: string) => text };

const instance = () =>
  createRunOnce({ store, clock, ids: systemIds, log: collectingLog([]), secretBox, apiKey: 'key' });

/** A handler that ends when the test says so, and counts its runs. */
function handler() {
  let runs = 0;
  let end = (): void => {};
  return {
    runs: () => runs,
    end: () => end(),
    work: () => {
      runs += 1;
      const body = { run: runs };
      return new Promise<{ status: number; body: object }>((resolve) => {
        end = () => resolve({ status: 201, body });
      });
    },
  };
}

/** The store, some of whose methods do something else. */
const storeWith = (changes: Partial<Store['idempotency']>): Store => ({
  ...store,
  idempotency: {
    claim: (request, now) => store.idempotency.claim(request, now),
    renew: (lease) => store.idempotency.renew(lease),
    release: (id, owner) => store.idempotency.release(id, owner),
    complete: (done) => store.idempotency.complete(done),
    purge: (now, limit) => store.idempotency.purge(now, limit),
    ...changes,
  },
});

const pickCode = (error: unknown): string => (error instanceof ServiceError ? error.code : String(error));

describe('a request that is run once', () => {
  it('keeps its lease for as long as its handler runs', async () => {
    const { work, runs, end } = handler();
    const running = instance()(REQUEST, work);
    await expect.poll(runs).toBe(1);
    for (let second = 0; second < 120; second += 10) {
      await expect.poll(() => clock.sleeping).toBe(1);
      clock.advance(10_000);
      await expect(instance()(REQUEST, work).catch(pickCode)).resolves.toBe('idempotency-in-progress');
    }
    end();
    expect(await running).toEqual({ status: 201, body: { run: 1 } });
    expect(runs()).toBe(1);
  });

  it('is taken over when its instance has died and the lease has expired', async () => {
    const dead = handler();
    const lost = createRunOnce({
      // A clock that never reaches the next renewal, as if the process had died.
      ...{ store, ids: systemIds, log: collectingLog([]), secretBox, apiKey: 'key' },
      clock: {
        now: () => clock.now(),
        monotonic: () => clock.monotonic(),
        sleep: () => new Promise<void>(() => {}),
      },
    });
    void lost(REQUEST, dead.work);
    await expect.poll(dead.runs).toBe(1);
    clock.advance(29_999);
    expect(await instance()(REQUEST, dead.work).catch(pickCode)).toBe('idempotency-in-progress');
    clock.advance(1);
    const next = handler();
    const taken = instance()(REQUEST, next.work);
    await expect.poll(next.runs).toBe(1);
    next.end();
    expect((await taken).body).toEqual({ run: 1 });
    const replayed = await instance()(REQUEST, next.work);
    expect([replayed.body, next.runs()]).toEqual([{ run: 1 }, 1]);
  });

  it('gets its response even if that cannot be stored, and is run again', async () => {
    const lines: LogLine[] = [];
    const unstored = createRunOnce({
      ...{ clock, ids: systemIds, log: collectingLog(lines), secretBox, apiKey: 'key' },
      store: storeWith({
        complete: () => Promise.reject(new ServiceError('storage-unavailable', 'The disk is full.')),
      }),
    });
    let runs = 0;
    const work = async () => {
      runs += 1;
      return { status: 201, body: { run: runs } };
    };
    expect(await unstored(REQUEST, work)).toEqual({ status: 201, body: { run: 1 } });
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ['warn', expect.stringContaining('a retry will run it again')],
    ]);
    clock.advance(30_000);
    expect(await unstored(REQUEST, work)).toEqual({ status: 201, body: { run: 2 } });
  });

  it('goes on while its lease cannot be renewed, and renews it later', async () => {
    const lines: LogLine[] = [];
    let renewals = 0;
    const failingOnce = createRunOnce({
      ...{ clock, ids: systemIds, log: collectingLog(lines), secretBox, apiKey: 'key' },
      store: storeWith({
        renew: (lease) => {
          renewals += 1;
          if (renewals > 1) return store.idempotency.renew(lease);
          return Promise.reject(new ServiceError('storage-unavailable', 'The database is down.'));
        },
      }),
    });
    const { work, runs, end } = handler();
    const running = failingOnce(REQUEST, work);
    await expect.poll(runs).toBe(1);
    for (let second = 0; second < 40; second += 10) {
      await expect.poll(() => clock.sleeping).toBe(1);
      clock.advance(10_000);
    }
    await expect.poll(() => renewals).toBe(4);
    expect(await instance()(REQUEST, work).catch(pickCode)).toBe('idempotency-in-progress');
    expect(lines.map(({ level }) => level)).toEqual(['warn']);
    end();
    expect(await running).toEqual({ status: 201, body: { run: 1 } });
  });

  it('is new after 24 hours', async () => {
    const run = async (): Promise<unknown> =>
      (await instance()(REQUEST, async () => ({ status: 200, body: clock.now() }))).body;
    const first = await run();
    clock.advance(86_400_000 - 1);
    expect(await run()).toBe(first);
    clock.advance(1);
    expect(await run()).not.toBe(first);
  });

  it.each([
    ['rate-limited', 2],
    ['media-server-unavailable', 2],
    ['internal-error', 2],
    ['conflict', 1],
    ['room-not-found', 1],
  ] as const)('that ends in %s is run %i times when it is sent twice', async (code, times) => {
    let runs = 0;
    const work = async (): Promise<never> => {
      runs += 1;
      throw new ServiceError(code, 'Not now.', { extensions: { run: runs } });
    };
    const first = await instance()(REQUEST, work).catch((error: ServiceError) => error.extensions);
    const again = await instance()(REQUEST, work).catch((error: ServiceError) => error.extensions);
    expect([runs, first, again]).toEqual([times, { run: 1 }, { run: times }]);
  });
});
