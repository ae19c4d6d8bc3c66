import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/server/app/store.ts';
import { applyObservation } from '../../../../src/server/recordings/recording-events.ts';
import type { Recording } from '../../../../src/server/recordings/store.ts';
import { observeRecording } from '../../../support/observe-recording.ts';
import { expectUnavailable, newRecording } from './store-records.ts';
import { DATABASES, type TestDatabase } from './test-databases.ts';

describe.each(DATABASES)('the store on $engine', ({ prepare }) => {
  let testDatabase: TestDatabase;
  let store: Store;

  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
  });
  afterEach(() => testDatabase.close());

  /** Makes a row in a given state, by the same steps as the service. */
  const make = async (id: string, options: MadeRecording = {}): Promise<Recording> => {
    const { room = `room of ${id}`, createdAt = 1000, status = 'starting' } = options;
    const { recordings } = store;
    await recordings.claim(
      newRecording(id, { room, owner: 'maker', claimUntil: createdAt + 500 }),
      createdAt,
    );
    if (status !== 'starting') {
      const created = { owner: 'maker', egressId: `EG_${id}`, at: createdAt + 1 };
      await observeRecording(store, id, { type: 'egress-created', ...created });
    }
    if (status !== 'starting' && status !== 'recording') {
      const running = await recordings.find(id);
      if (running !== undefined) await recordings.update(running, { status, stoppedAt: createdAt + 2 });
    }
    const made = await recordings.find(id);
    if (made === undefined) throw new Error(`the recording ${id} was not made`);
    return made;
  };

  it('counts recordings and deliveries by status, up to a limit', async () => {
    for (const id of ['one', 'two', 'three']) await make(id, { status: 'stopped' });
    await make('four', { status: 'recording' });
    const read = async (most?: number) => {
      const { recordings, deliveriesPending, oldestPendingDeliveryAt } = await store.figures.read(1000, most);
      return [recordings, deliveriesPending, oldestPendingDeliveryAt];
    };
    const running = { status: 'recording', count: 1 };
    expect(await read()).toEqual([[running, { status: 'stopped', count: 3 }], 0, null]);
    expect(await read(2)).toEqual([[running, { status: 'stopped', count: 2 }], 0, null]);
  });

  describe('claim', () => {
    it('inserts a starting recording without further facts', async () => {
      const claim = await store.recordings.claim(newRecording('one', { bucket: 'films' }), 1000);
      const recording = {
        id: 'one',
        room: 'demo',
        roomSid: null,
        egressId: null,
        status: 'starting',
        filepath: 'one.mp4',
        bucket: 'films',
        claimOwner: 'owner of one',
        claimUntil: 1500,
        createdAt: 1000,
        startedAt: null,
        mediaStartedAt: null,
        stoppedAt: null,
        endedAt: null,
        sizeBytes: null,
        durationMs: null,
        error: null,
        recordTracks: 0,
        kind: 'recording',
        outputs: null,
      };
      expect(claim).toEqual({ claimed: true, recording });
      expect(await store.recordings.find('one')).toEqual(recording);
    });

    it('refuses a room that another instance has claimed, and returns that claim', async () => {
      const first = await store.recordings.claim(newRecording('one'), 1000);
      const second = await store.recordings.claim(newRecording('two'), 1499);
      expect(second).toEqual({ claimed: false, recording: first.recording });
      expect(await store.recordings.find('two')).toBeUndefined();
    });

    it('refuses a room that is being recorded, however old its claim', async () => {
      const running = await make('one', { room: 'demo', status: 'recording' });
      expect(await store.recordings.claim(newRecording('two'), 1_000_000)).toEqual({
        claimed: false,
        recording: running,
      });
    });

    it.each(['stopped', 'aborted', 'failed'] as const)(
      'accepts a room whose recording is %s',
      async (status) => {
        await make('one', { room: 'demo', status });
        const claim = await store.recordings.claim(newRecording('two'), 2000);
        expect(claim).toMatchObject({ claimed: true, recording: { id: 'two' } });
      },
    );

    it('distinguishes rooms by every character', async () => {
      for (const room of ['demo', 'Demo', 'demo ', 'démo', 'de\u0301mo', '🎥']) {
        const claim = await store.recordings.claim(newRecording(room, { room }), 1000);
        expect(claim).toMatchObject({ claimed: true, recording: { room } });
      }
    });

    it.each([
      ['a millisecond before its end', 1499, false],
      ['at its end', 1500, true],
      ['a millisecond after its end', 1501, true],
    ])('treats a claim %s', async (_when, now, takesOver) => {
      await store.recordings.claim(newRecording('one'), 1000);
      const claim = await store.recordings.claim(newRecording('one', { claimUntil: 9000 }), now);
      expect(claim.claimed).toBe(takesOver);
    });

    it('takes over an expired claim: the same row with a new owner, claim, path and time', async () => {
      const first = await store.recordings.claim(newRecording('one'), 1000);
      const taker = newRecording('two', { id: 'one', claimUntil: 2500, bucket: 'films' });
      const second = await store.recordings.claim(taker, 2000);
      expect(second).toEqual({
        claimed: true,
        recording: {
          ...first.recording,
          filepath: 'two.mp4',
          bucket: 'films',
          claimOwner: 'owner of two',
          claimUntil: 2500,
          createdAt: 2000,
        },
      });
      expect(await store.recordings.findActive('demo', 'recording')).toEqual(second.recording);
    });

    it('leaves an expired claim to an instance that knows what was started under it', async () => {
      const stale = await store.recordings.claim(newRecording('stale'), 1000);
      expect(await store.recordings.claim(newRecording('two'), 1_000_000)).toEqual({
        claimed: false,
        recording: stale.recording,
      });
    });

    it('gives the room to one of 50 concurrent claims on five instances', async () => {
      const stores = await openMany(testDatabase, 5);
      const claims = await Promise.all(
        attempts(50).map((n) => pick(stores, n).recordings.claim(newRecording(`id ${n}`), 1000)),
      );
      const [winner, ...others] = claims.filter((claim) => claim.claimed);
      expect(others).toEqual([]);
      expect(new Set(claims.map((claim) => claim.recording.id))).toEqual(new Set([winner?.recording.id]));
      expect(await store.recordings.list({ limit: 100 })).toEqual([winner?.recording]);
    });

    it('gives the expired claim to one of 50 concurrent claims on five instances', async () => {
      const stale = await store.recordings.claim(newRecording('stale'), 1000);
      const stores = await openMany(testDatabase, 5);
      const claims = await Promise.all(
        attempts(50).map((n) =>
          pick(stores, n).recordings.claim(
            newRecording('stale', { owner: `owner ${n}`, claimUntil: 9000 }),
            2000,
          ),
        ),
      );
      const won = claims.filter((claim) => claim.claimed);
      expect(won).toHaveLength(1);
      expect(won[0]?.recording).toMatchObject({ id: stale.recording.id, claimUntil: 9000 });
    });

    it('gives a room to one at a time while 20 others claim, end and claim again', async () => {
      const stores = await openMany(testDatabase, 4);
      const held = new Set<string>();
      const takeTurn = async (n: number) => {
        const taker = pick(stores, n);
        const claim = await taker.recordings.claim(newRecording(`id ${n}`), 1000);
        if (!claim.claimed) return false;
        expect(held.size).toBe(0);
        held.add(claim.recording.id);
        const created = { owner: `owner of id ${n}`, egressId: `EG_${n}`, at: 1 };
        await observeRecording(taker, claim.recording.id, { type: 'egress-created', ...created });
        held.delete(claim.recording.id);
        return observeRecording(taker, claim.recording.id, { type: 'stop-accepted', at: 2 });
      };
      const turns = await Promise.all(attempts(20).map(takeTurn));
      const rows = await store.recordings.list({ limit: 100 });
      expect(rows.length).toBe(turns.filter((taken) => taken).length);
      expect(rows.every((row) => row.status === 'stopped')).toBe(true);
    });
  });

  describe('a created egress', () => {
    const created = (egressId = 'EG_one') => ({ type: 'egress-created', egressId, at: 1234 }) as const;

    it('turns a starting recording into a running one without a claim', async () => {
      const { recording } = await store.recordings.claim(newRecording('one'), 1000);
      expect(await observeRecording(store, 'one', created())).toBe(true);
      const running = {
        ...recording,
        egressId: 'EG_one',
        startedAt: 1234,
        status: 'recording',
        claimOwner: null,
        claimUntil: null,
      };
      expect(await store.recordings.findActive('demo', 'recording')).toEqual(running);
    });

    it('is that of the first that tells of it, although the claim was taken over', async () => {
      const { recording } = await store.recordings.claim(newRecording('one'), 1000);
      await store.recordings.claim(newRecording('one', { owner: 'owner of two', claimUntil: 9000 }), 2000);
      expect(await observeRecording(store, 'one', created('EG_late'))).toBe(true);
      const again = await applyObservation({ store }, recording, created());
      expect(again).toMatchObject({ hasChanged: false, recording: { egressId: 'EG_late' } });
    });

    it('changes nothing in a start that nobody wants any more, also after it was taken over', async () => {
      const { recording } = await store.recordings.claim(newRecording('one'), 1000);
      const unwanted = { type: 'start-unwanted', owner: 'owner of one', at: 1100 } as const;
      expect(await applyObservation({ store }, recording, unwanted)).toMatchObject({ hasChanged: true });
      await store.recordings.claim(newRecording('one', { owner: 'owner of two', claimUntil: 9000 }), 2000);
      expect(await observeRecording(store, 'one', created())).toBe(false);
    });

    it.each(['recording', 'stopped', 'aborted', 'failed'] as const)(
      'changes nothing in a %s recording',
      async (status) => {
        const made = await make('one', { status });
        expect(await observeRecording(store, 'one', created('EG_2'))).toBe(false);
        expect(await store.recordings.find('one')).toEqual(made);
      },
    );
  });

  describe('a refused start', () => {
    const refused = (owner: string) => ({ type: 'start-refused', owner }) as const;

    it('removes a starting recording and frees its room', async () => {
      await store.recordings.claim(newRecording('one'), 1000);
      expect(await observeRecording(store, 'one', refused('owner of one'))).toBe(true);
      expect(await store.recordings.find('one')).toBeUndefined();
      expect(await store.recordings.claim(newRecording('two'), 1001)).toMatchObject({ claimed: true });
    });

    it('changes nothing for an instance without the claim, and for a deleted row', async () => {
      const made = await make('one');
      expect(await observeRecording(store, 'one', refused('another'))).toBe(false);
      expect(await store.recordings.release({ ...made, id: 'two' })).toBe(false);
      expect(await store.recordings.find('one')).toEqual(made);
    });

    it.each(['recording', 'stopped', 'aborted', 'failed'] as const)(
      'does not change a %s recording',
      async (status) => {
        const made = await make('one', { status });
        expect(await observeRecording(store, 'one', refused('maker'))).toBe(false);
        expect(await store.recordings.release(made)).toBe(false);
        expect(await store.recordings.find('one')).toEqual(made);
      },
    );
  });

  describe('update', () => {
    it.each([
      ['starting', 'stopped'],
      ['starting', 'aborted'],
      ['starting', 'failed'],
      ['recording', 'stopped'],
      ['recording', 'aborted'],
      ['recording', 'failed'],
    ] as const)('turns a %s recording into a %s one and frees its room', async (from, status) => {
      const made = await make('one', { room: 'demo', status: from });
      const end = { status, stoppedAt: 1700, error: 'why', claimOwner: null, claimUntil: null };
      const ended = { ...made, ...end };
      expect(await store.recordings.update(made, end)).toEqual(ended);
      expect(await store.recordings.find('one')).toEqual(ended);
      expect(await store.recordings.findActive('demo', 'recording')).toBeUndefined();
    });

    it.each(['stopped', 'aborted', 'failed'] as const)(
      'refuses to stop a recording that is %s in the meantime',
      async (status) => {
        const made = await make('one', { status });
        const running = { ...made, status: 'recording', stoppedAt: null } as const;
        expect(await store.recordings.update(running, { status: 'failed', stoppedAt: 9999 })).toBe(undefined);
        expect(await observeRecording(store, 'one', { type: 'stop-accepted', at: 9999 })).toBe(false);
        expect(await store.recordings.find('one')).toEqual(made);
      },
    );

    it('lets only the owner of the claim give up a start', async () => {
      const made = await make('one');
      const givenUp = { type: 'start-given-up', error: 'why', at: 1700 } as const;
      expect(await observeRecording(store, 'one', { ...givenUp, owner: 'another' })).toBe(false);
      expect(await store.recordings.find('one')).toEqual(made);
      expect(await observeRecording(store, 'one', { ...givenUp, owner: 'maker' })).toBe(true);
    });

    it('stops a recording for one of 20 concurrent calls', async () => {
      const made = await make('one', { status: 'recording' });
      const stores = await openMany(testDatabase, 4);
      const ended = await Promise.all(
        attempts(20).map((n) =>
          applyObservation({ store: pick(stores, n) }, made, { type: 'stop-accepted', at: n }),
        ),
      );
      expect(ended.filter(({ hasChanged }) => hasChanged)).toHaveLength(1);
      expect(new Set(ended.map(({ recording }) => recording?.stoppedAt)).size).toBe(1);
    });

    it('adds facts to an ended recording and keeps the others', async () => {
      const made = await make('one', { status: 'stopped' });
      const facts = { endedAt: 1800, sizeBytes: 5_000_000_000_000, durationMs: 700 };
      const { durationMs, ...first } = facts;
      const updated = await store.recordings.update(made, first);
      expect(updated).toEqual({ ...made, ...first });
      await store.recordings.update({ ...made, ...first }, { durationMs });
      expect(await store.recordings.find('one')).toEqual({ ...made, ...facts });
    });

    it('corrects how a recording ended', async () => {
      const made = await make('one', { status: 'stopped' });
      await store.recordings.update(made, { status: 'aborted', error: 'no media' });
      expect(await store.recordings.find('one')).toMatchObject({ status: 'aborted', error: 'no media' });
    });

    it.each(['starting', 'recording'] as const)(
      'refuses facts of an ended recording for a %s one',
      async (status) => {
        const made = await make('one', { status });
        const ended = { ...made, status: 'stopped', stoppedAt: 1002 } as const;
        expect(await store.recordings.update(ended, { status: 'failed', endedAt: 1800 })).toBeUndefined();
        expect(await store.recordings.find('one')).toEqual(made);
      },
    );
  });

  describe('delete', () => {
    it.each(['stopped', 'aborted', 'failed'] as const)('removes a %s recording', async (status) => {
      await make('one', { status });
      expect(await store.recordings.delete('one')).toBe(true);
      expect(await store.recordings.delete('one')).toBe(false);
      expect(await store.recordings.find('one')).toBeUndefined();
    });

    it.each(['starting', 'recording'] as const)(
      'refuses a %s recording, which locks its room',
      async (status) => {
        const made = await make('one', { status });
        expect(await store.recordings.delete('one')).toBe(false);
        expect(await store.recordings.find('one')).toEqual(made);
      },
    );
  });

  it('lists recordings that ended before an instant, the oldest end first, in pages', async () => {
    await make('running', { room: 'running', status: 'recording' });
    for (const [id, at] of [
      ['c', 3000],
      ['b', 2000],
      ['a', 2000],
      ['late', 4000],
    ] as const) {
      await store.recordings.claim(newRecording(id, { room: id, owner: 'maker', claimUntil: at }), at - 2);
      const created = { owner: 'maker', egressId: `EG_${id}`, at: at - 1 };
      await observeRecording(store, id, { type: 'egress-created', ...created });
      await observeRecording(store, id, { type: 'recorder-gone', reason: 'gone', file: undefined, at });
    }
    const first = await store.recordings.listEnded({ before: 4000, limit: 2 });
    const second = await store.recordings.listEnded({ before: 4000, limit: 2, after: first[1] });
    expect([first, second].map((page) => page.map(({ id }) => id))).toEqual([['a', 'b'], ['c']]);
  });

  describe('find', () => {
    it('finds by id, by egress and by room while active', async () => {
      const running = await make('one', { room: 'demo', status: 'recording' });
      await make('other', { room: 'elsewhere', status: 'recording' });
      expect(await store.recordings.find('one')).toEqual(running);
      expect(await store.recordings.findByEgressId('EG_one')).toEqual(running);
      expect(await store.recordings.findActive('demo', 'recording')).toEqual(running);
    });

    it('returns undefined for an unknown one', async () => {
      expect(await store.recordings.find('one')).toBeUndefined();
      expect(await store.recordings.findByEgressId('EG_one')).toBeUndefined();
      expect(await store.recordings.findActive('demo', 'recording')).toBeUndefined();
    });
  });

  it('returns whether any recording is active or recent', async () => {
    const { isAnyActiveSince } = store.recordings;
    expect(await isAnyActiveSince(0)).toBe(false);
    await make('over', { createdAt: 1000, status: 'stopped' });
    expect([await isAnyActiveSince(999), await isAnyActiveSince(1000)]).toEqual([true, false]);
    await make('running', { createdAt: 500, status: 'recording' });
    expect(await isAnyActiveSince(1000)).toBe(true);
  });

  describe('list', () => {
    const ids = (rows: readonly Recording[]) => rows.map((row) => row.id);

    it('lists the newest first, and by id within a millisecond, byte by byte', async () => {
      await make('a', { createdAt: 1000 });
      for (const id of ['_', 'b', 'B', '0', 'é']) await make(id, { createdAt: 2000 });
      await make('c', { createdAt: 3000 });
      expect(ids(await store.recordings.list({ limit: 10 }))).toEqual(['c', 'é', 'b', '_', 'B', '0', 'a']);
    });

    it('filters by room and by status', async () => {
      await make('one', { room: 'demo', createdAt: 1000, status: 'stopped' });
      await make('two', { room: 'demo', createdAt: 2000, status: 'recording' });
      await make('three', { room: 'elsewhere', createdAt: 3000, status: 'stopped' });
      const { list } = store.recordings;
      expect(ids(await list({ room: 'demo', limit: 10 }))).toEqual(['two', 'one']);
      expect(ids(await list({ status: 'stopped', limit: 10 }))).toEqual(['three', 'one']);
      expect(ids(await list({ room: 'demo', status: 'stopped', limit: 10 }))).toEqual(['one']);
      expect(ids(await list({ room: 'nowhere', limit: 10 }))).toEqual([]);
    });

    it('pages through rows of one millisecond without a gap or a repetition while others are inserted', async () => {
      const all = attempts(25).map((n) => `id ${String(n).padStart(2, '0')}`);
      for (const id of all) await make(id, { createdAt: 1000 + (Number(id.slice(3)) % 3) });
      const seen: string[] = [];
      let after: { createdAt: number; id: string } | undefined;
      for (;;) {
        const page = await store.recordings.list({ limit: 4, after });
        seen.push(...ids(page));
        await make(`newer than page ${seen.length}`, { createdAt: 5000 });
        after = page.at(-1);
        if (page.length < 4) break;
      }
      expect(seen.length).toBe(25);
      expect([...seen].sort()).toEqual(all);
    });

    it('pages within a filter', async () => {
      for (const n of [1, 2, 3]) await make(`d${n}`, { room: 'demo', createdAt: n, status: 'stopped' });
      await make('other', { room: 'elsewhere', createdAt: 2, status: 'stopped' });
      const filter = { room: 'demo', status: 'stopped', limit: 2 } as const;
      const first = await store.recordings.list(filter);
      expect(ids(first)).toEqual(['d3', 'd2']);
      expect(ids(await store.recordings.list({ ...filter, after: first[1] }))).toEqual(['d1']);
    });
  });

  describe('transaction', () => {
    it('keeps all changes when the work succeeds, and returns its result', async () => {
      const result = await store.transaction(async (within) => {
        await within.recordings.claim(newRecording('one', { room: 'a' }), 1000);
        await within.recordings.claim(newRecording('two', { room: 'b' }), 1000);
        return 'done';
      });
      expect(result).toBe('done');
      expect(await store.recordings.list({ limit: 10 })).toHaveLength(2);
    });

    it('rolls back everything when the work throws, and rethrows the error', async () => {
      const reason = new Error('no');
      const outcome = store.transaction(async (within) => {
        await within.recordings.claim(newRecording('one'), 1000);
        expect(await within.recordings.find('one')).toMatchObject({ id: 'one' });
        throw reason;
      });
      await expect(outcome).rejects.toBe(reason);
      expect(await store.recordings.list({ limit: 10 })).toEqual([]);
    });

    it('rolls back only the inner transaction when the outer one catches its error', async () => {
      await store.transaction(async (outer) => {
        await outer.recordings.claim(newRecording('one', { room: 'a' }), 1000);
        const inner = outer.transaction(async (within) => {
          await within.recordings.claim(newRecording('two', { room: 'b' }), 1000);
          throw new Error('no');
        });
        await expect(inner).rejects.toThrow('no');
        await outer.transaction((within) =>
          within.recordings.claim(newRecording('three', { room: 'c' }), 999),
        );
      });
      const rows = await store.recordings.list({ limit: 10 });
      expect(rows.map((row) => row.id)).toEqual(['one', 'three']);
    });

    it('keeps the statements of others out of a transaction that is rolled back', async () => {
      const begun = Promise.withResolvers<void>();
      const written = Promise.withResolvers<void>();
      const failing = store.transaction(async (within) => {
        await within.recordings.claim(newRecording('doomed', { room: 'a' }), 1000);
        begun.resolve();
        await written.promise;
        throw new Error('no');
      });
      await begun.promise;
      const others = attempts(5).map((n) =>
        store.recordings.claim(newRecording(`id ${n}`, { room: `room ${n}` }), 1000),
      );
      written.resolve();
      await expect(failing).rejects.toThrow('no');
      await Promise.all(others);
      const rows = await store.recordings.list({ limit: 10 });
      expect(rows.map((row) => row.id).sort()).toEqual(['id 0', 'id 1', 'id 2', 'id 3', 'id 4']);
    });

    it('keeps 30 concurrent transactions separate', async () => {
      const run = (n: number) =>
        store.transaction(async (within) => {
          await within.recordings.claim(newRecording(`a${n}`, { room: `a${n}` }), 1000);
          await within.recordings.claim(newRecording(`b${n}`, { room: `b${n}` }), 1000);
          if (n % 3 === 0) throw new Error('every third fails');
        });
      await Promise.allSettled(attempts(30).map(run));
      const rows = await store.recordings.list({ limit: 100 });
      const expected = attempts(30)
        .filter((n) => n % 3 !== 0)
        .flatMap((n) => [`a${n}`, `b${n}`]);
      expect(rows.map((row) => row.id).sort()).toEqual(expected.sort());
    });

    it('has one store of each kind, which nested transactions share', async () => {
      const [outer, again, inner] = await store.transaction(async (within) => [
        within.recordings,
        within.recordings,
        await within.transaction(async (nested) => nested.recordings),
      ]);
      expect(again).toBe(outer);
      expect(inner).toBe(outer);
      expect(outer).not.toBe(store.recordings);
    });

    it('cannot close its own store', async () => {
      await store.transaction((within) => expect(within.close()).rejects.toThrow('cannot close'));
      await store.ping();
    });
  });

  describe('close', () => {
    it('waits for running calls, also for those that wait for their turn', async () => {
      const begun = Promise.withResolvers<void>();
      const resume = Promise.withResolvers<void>();
      const order: string[] = [];
      const transaction = store
        .transaction(async (within) => {
          begun.resolve();
          await resume.promise;
          await within.recordings.claim(newRecording('one', { room: 'a' }), 1000);
        })
        .then(() => order.push('transaction'));
      await begun.promise;
      const queued = attempts(15).map((n) =>
        store.recordings
          .claim(newRecording(`id ${n}`, { room: `b${n}` }), 1000)
          .then(() => order.push('claim')),
      );
      const closed = store.close().then(() => order.push('closed'));
      resume.resolve();
      await Promise.all([transaction, ...queued, closed]);
      expect(order.at(-1)).toBe('closed');
      const reopened = await testDatabase.open();
      expect(await reopened.recordings.list({ limit: 100 })).toHaveLength(16);
    });

    it('may be called twice, and rejects calls afterwards', async () => {
      await Promise.all([store.close(), store.close()]);
      await store.close();
      await expectUnavailable(store.ping(), { retryable: true });
      await expectUnavailable(store.recordings.claim(newRecording('one'), 1), { retryable: true });
      await expectUnavailable(
        store.transaction(async () => {}),
        { retryable: true },
      );
    });
  });

  describe('instances', () => {
    it('see the changes of the others, and earlier ones', async () => {
      const made = await make('one');
      const other = await testDatabase.open();
      expect(await other.recordings.find('one')).toEqual(made);
      await other.recordings.release(made);
      expect(await store.recordings.find('one')).toBeUndefined();
    });
  });

  it('responds to a ping', async () => {
    await store.ping();
    await store.transaction((within) => within.ping());
  });

  it.each(['\0', 'wh_\0', '\ud800'])('finds nothing for the made-up id %j', async (id) => {
    const { recordings, webhooks, deliveries, transcriptions } = store;
    expect(await recordings.find(id)).toBeUndefined();
    expect(await recordings.findByEgressId(id)).toBeUndefined();
    expect(await recordings.list({ room: id, after: { createdAt: 1, id }, limit: 10 })).toEqual([]);
    expect(await webhooks.find(id)).toBeUndefined();
    expect(await webhooks.update(id, { updatedAt: 1 })).toBeUndefined();
    expect(await webhooks.delete(id, 1)).toBe(false);
    expect(await deliveries.find(id, id)).toBeUndefined();
    expect(await deliveries.replay(id, id, 1)).toBe(false);
    expect(await transcriptions.find(id)).toBeUndefined();
    expect(await transcriptions.delete(id)).toBe(false);
  });
});

it.each(DATABASES)(
  'opening eight instances at once succeeds on an empty $engine database',
  async ({ prepare }) => {
    const testDatabase = await prepare();
    try {
      const stores = await openMany(testDatabase, 8);
      await Promise.all(stores.map((store, n) => store.recordings.claim(newRecording(`id ${n}`), 1000)));
      expect(await stores[0]?.recordings.list({ limit: 10 })).toHaveLength(1);
    } finally {
      await testDatabase.close();
    }
  },
);

type MadeRecording = {
  readonly room?: string;
  readonly createdAt?: number;
  readonly status?: Recording['status'];
};

function openMany(testDatabase: TestDatabase, count: number): Promise<readonly Store[]> {
  return Promise.all(attempts(count).map(() => testDatabase.open()));
}

function attempts(count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) => n);
}

function pick(stores: readonly Store[], n: number): Store {
  const store = stores[n % stores.length];
  if (store === undefined) throw new Error('there is no store');
  return store;
}
