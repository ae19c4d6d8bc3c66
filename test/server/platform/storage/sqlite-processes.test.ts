import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../../../src/server/app/create-store.ts';
import type { Store } from '../../../../src/server/app/store.ts';
import { observeRecording } from '../../../support/observe-recording.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { type Claimer, startClaimer } from './start-claimer.ts';
import { expectUnavailable, newRecording } from './store-records.ts';
import { open } from './test-databases.ts';

const RETRYABLE = { retryable: true } as const;

describe('a SQLite file that other processes use too', () => {
  let folder: string;
  let path: string;
  let claimers: Claimer[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rtc-store-'));
    path = join(folder, 'store.sqlite');
    claimers = [];
  });
  afterEach(async () => {
    await Promise.all(claimers.map((claimer) => claimer.kill()));
    await rm(folder, { recursive: true });
  });

  const start = async (count: number) => {
    const names = Array.from({ length: count }, (_, n) => `process ${n}`);
    claimers = await Promise.all(names.map((name) => startClaimer(path, name)));
  };

  it('gives each of 50 rooms to one of four processes that start and claim at once', async () => {
    await start(4);
    const rooms = Array.from({ length: 50 }, (_, n) => `room ${n}`);
    const claimed = await Promise.all(claimers.map((claimer) => claimer.claim({ rooms, endEach: false })));
    expect(claimed.flatMap((one) => one.errors)).toEqual([]);
    expect(claimed.flatMap((one) => one.got).sort()).toEqual(rooms.sort());
  });

  it('keeps every write of four processes that write all the time', async () => {
    await start(4);
    const claimed = await Promise.all(
      claimers.map((claimer, n) => {
        const rooms = Array.from({ length: 200 }, (_, room) => `room ${n}.${room}`);
        return claimer.claim({ rooms, endEach: true });
      }),
    );
    expect(claimed.flatMap((one) => one.errors)).toEqual([]);
    const store = await open({ sqlitePath: path });
    expect(await store.recordings.list({ status: 'stopped', limit: 1000 })).toHaveLength(800);
    await store.close();
  });

  it('waits for another writer without blocking, and continues when it has finished', async () => {
    const other = new DatabaseSync(path);
    let slept = 0;
    const store = await openStore({
      database: { sqlitePath: path },
      clock: {
        now: () => slept,
        monotonic: () => slept,
        sleep: async (ms) => {
          slept += ms;
          if (other.isTransaction && slept > 100) other.exec('commit');
        },
      },
      log: silentLog,
    });
    for (const work of [
      () => store.recordings.claim(newRecording('one'), 1000),
      () =>
        store.transaction((within) =>
          observeRecording(within, 'one', {
            type: 'start-given-up',
            owner: 'owner of one',
            error: 'why',
            at: 1,
          }),
        ),
    ]) {
      slept = 0;
      other.exec('begin immediate');
      await work();
      expect(slept).toBeGreaterThan(100);
    }
    expect(await store.recordings.find('one')).toMatchObject({ status: 'failed' });
    await store.close();
    other.close();
  });

  it('can be read while another process writes', async () => {
    const store = await open({ sqlitePath: path });
    await store.recordings.claim(newRecording('one'), 1000);
    const other = new DatabaseSync(path);
    other.exec(`begin immediate; delete from recordings`);
    expect(await store.recordings.find('one')).toMatchObject({ id: 'one' });
    other.close();
    await store.close();
  });

  it('can be read at once while a write waits for another writer', async () => {
    const reached = Promise.withResolvers<void>();
    const resumed = Promise.withResolvers<void>();
    const clock = {
      now: () => 0,
      monotonic: () => 0,
      sleep: () => {
        reached.resolve();
        return resumed.promise;
      },
    };
    const store = await openStore({ database: { sqlitePath: path }, clock, log: silentLog });
    await store.recordings.claim(newRecording('one'), 1000);
    const other = new DatabaseSync(path);
    other.exec('begin immediate');
    const waiting = store.recordings.claim(newRecording('two', { room: 'another' }), 1000);
    const waitingTransaction = store.transaction((within) => within.recordings.find('one'));
    await reached.promise;
    expect(await store.recordings.find('one')).toMatchObject({ id: 'one' });
    expect(await store.recordings.list({ limit: 10 })).toHaveLength(1);
    await store.ping();
    other.exec('rollback');
    resumed.resolve();
    expect(await waiting).toMatchObject({ claimed: true });
    expect(await waitingTransaction).toMatchObject({ id: 'one' });
    expect(await store.recordings.list({ limit: 10 })).toHaveLength(2);
    await store.close();
    other.close();
  });

  it('returns the last committed state while a transaction of its own is open', async () => {
    const store = await open({ sqlitePath: path });
    await store.transaction(async (within) => {
      await within.recordings.claim(newRecording('one'), 1000);
      expect(await within.recordings.find('one')).toMatchObject({ id: 'one' });
      expect(await store.recordings.find('one')).toBeUndefined();
    });
    expect(await store.recordings.find('one')).toMatchObject({ id: 'one' });
    await store.close();
  });

  it('gives up all writes that wait together after the same five seconds', async () => {
    let slept = 0;
    const clock = {
      now: () => slept,
      monotonic: () => slept,
      sleep: async (ms: number) => {
        // For each 5 ms of the clock, 10 ms pass in reality.
        slept += 100 * ms;
        await nextTurn();
      },
    };
    const store = await openStore({ database: { sqlitePath: path }, clock, log: silentLog });
    const other = new DatabaseSync(path);
    other.exec('begin immediate');
    const take = ({ leases }: Pick<Store, 'leases'>, name: string) =>
      leases.take({ name, owner: 'me', until: 1000 });
    await Promise.all([
      ...['one', 'two', 'three'].map((name) => expectUnavailable(take(store, name), RETRYABLE)),
      expectUnavailable(
        store.transaction((within) => take(within, 'four')),
        RETRYABLE,
      ),
    ]);
    expect(slept).toBeLessThanOrEqual(6000);
    other.exec('rollback');
    await take(store, 'five');
    other.close();
    await store.close();
  });

  it('gives up after five seconds of waiting, with a retryable error', async () => {
    let slept = 0;
    const clock = {
      now: () => slept,
      monotonic: () => slept,
      sleep: async (ms: number) => {
        slept += ms;
      },
    };
    const store = await openStore({ database: { sqlitePath: path }, clock, log: silentLog });
    const other = new DatabaseSync(path);
    other.exec('begin immediate');
    // For each 5 ms of the clock, 10 ms pass in reality. Nine tenths of the timeout are spent beforehand.
    const sleep = clock.sleep;
    clock.sleep = async (ms) => sleep(ms * 100);
    const { message } = await expectUnavailable(store.recordings.claim(newRecording('one'), 1000), {
      retryable: true,
    });
    expect(message).toContain('locked by another process');
    expect(slept).toBe(5000);
    other.exec('rollback');
    expect(await store.recordings.claim(newRecording('one'), 1000)).toMatchObject({ claimed: true });
    await store.close();
    other.close();
  });
});
