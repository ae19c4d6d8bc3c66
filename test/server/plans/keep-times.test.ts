import { afterEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/contract/errors.ts';
import type { Participant } from '../../../src/contract/participants.ts';
import type { PlanSettings } from '../../../src/contract/plans.ts';
import type { Room } from '../../../src/contract/rooms.ts';
import { openStore } from '../../../src/server/app/create-store.ts';
import { keepTimes, sweepPlannedRooms } from '../../../src/server/plans/keep-times.ts';
import { systemClock } from '../../../src/server/platform/clock.ts';
import { ROOT_QUOTA } from '../../../src/server/platform/http/limits/key-limits.ts';
import { ROOT_CALLER } from '../../../src/server/platform/http/route.ts';
import { getPlan, type PlanDeps, putPlan } from '../../../src/server/rooms/plans/plans.ts';
import { createMigratedDatabase } from '../../support/parts/migrated-database.ts';
import { silentLog } from '../../support/silent-log.ts';
import { joined, mediaEvent, NOW, openEventStage } from '../media-events/support/event-stage.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type RoomOptions = {
  /** Seconds from the start of the room to its plan. Undefined: the plan comes first. */
  readonly plannedAfter?: number;
  readonly failures?: number;
  readonly isSilent?: boolean;
};

/** The room `demo` with ada in it, opened and joined at NOW, by the plan. Time stands still. */
async function startRoom(
  engine: 'SQLite' | 'PostgreSQL',
  plan: PlanSettings,
  { plannedAfter, failures = 0, isSilent = false }: RoomOptions = {},
) {
  const database = engine === 'PostgreSQL' ? await createMigratedDatabase() : undefined;
  if (database !== undefined) closers.push(() => database.close());
  const stage = await openEventStage(database?.url);
  closers.push(() => stage.close());
  const { clock, deps, store } = stage;
  const acts: string[] = [];
  let failing = failures;
  let warnings = 0;
  let meanwhile: (() => Promise<unknown>) | undefined;
  const mediaServer = {
    // Between the reading of what is planned and the writing of what is due.
    listRooms: async () => {
      const change = meanwhile;
      meanwhile = undefined;
      await change?.();
      return [{ name: 'demo', sid: 'RM_1' } as Room];
    },
    listParticipants: async () => [{ identity: 'ada' } as Participant],
    sendData: async () => {
      warnings += 1;
      if (isSilent) await new Promise(() => {});
      failing -= 1;
      if (failing >= 0) throw new Error('the media server does not respond');
      acts.push(`warned at ${(clock.now() - NOW) / 1000}`);
    },
  };
  const log = silentLog;
  const closeRoom = async (name: string) => {
    acts.push(`closed ${name} at ${(clock.now() - NOW) / 1000}`);
  };
  const makePlan = () => putPlan({ store, clock, keyLimits: NO_LIMITS }, PLAN, { room: 'demo', ...plan });
  if (plannedAfter === undefined) await makePlan();
  await stage.receive(mediaEvent('room_started'), joined('ada1'));
  if (plannedAfter !== undefined) {
    clock.advance(plannedAfter * 1000);
    await makePlan();
  }
  const keeper = keepTimes({ ...deps, store, log, mediaServer, prepareClosing: async () => closeRoom });
  closers.push(() => keeper.close());
  /** Moves the end by one instance or another one, and returns it. */
  const move = async (by: 'one' | 'another', seconds: number) => {
    const through = by === 'one' ? store : await openOther();
    const changed = { room: 'demo', closesAt: at(seconds), closingWarnings: [] };
    return await putPlan({ store: through, clock, keyLimits: NO_LIMITS }, PLAN, changed);
  };
  /** Two instances never have the same file of SQLite. */
  const openOther = async () => {
    if (database === undefined) return store;
    const other = await openStore({ database: { databaseUrl: database.url }, clock: systemClock, log });
    closers.push(() => other.close());
    return other;
  };
  return {
    ...{ clock, acts, store, move },
    countWarnings: () => warnings,
    inBetween: (change: typeof meanwhile) => (meanwhile = change),
  };
}

const NO_LIMITS: PlanDeps['keyLimits'] = {
  quota: () => ROOT_QUOTA,
  refuse: (kind) => new ServiceError('key-limit-reached', kind),
};
const PLAN = { id: 'plan', caller: ROOT_CALLER };

const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();

describe.each(['SQLite', 'PostgreSQL'] as const)('the times of a room on %s', (engine) => {
  it('are kept also when one follows right after a warning', async () => {
    const { clock, acts } = await startRoom(engine, { closesAt: at(3600), closingWarnings: [300, 2] });
    const steps = [
      [3300, 'warned at 3300'],
      [298, 'warned at 3598'],
      [2, 'closed demo at 3600'],
    ] as const;
    for (const [seconds, act] of steps) {
      await expect.poll(() => clock.sleeping).toBe(1);
      clock.advance(seconds * 1000);
      await expect.poll(() => acts.at(-1)).toBe(act);
    }
    expect(acts).toHaveLength(3);
  });

  it.each([
    [300, 5],
    [3, 1],
  ])(
    'include a warning %i s before the end that the media server did not take at first',
    async (left, later) => {
      const plan = { closesAt: at(3600), closingWarnings: [left] };
      const { clock, acts, countWarnings } = await startRoom(engine, plan, { failures: 1 });
      const pass = async (seconds: number) => {
        await expect.poll(() => clock.sleeping).toBe(1);
        clock.advance(seconds * 1000);
      };
      await pass(3600 - left);
      await expect.poll(countWarnings).toBe(1);
      await pass(later);
      await expect.poll(() => acts).toEqual([`warned at ${3600 - left + later}`]);
      await pass(left - later);
      await expect.poll(() => acts.at(-1)).toBe('closed demo at 3600');
    },
  );

  it('include the end although the media server does not respond to a warning before it', async () => {
    const plan = { closesAt: at(3600), closingWarnings: [3] };
    const { clock, acts, countWarnings } = await startRoom(engine, plan, { isSilent: true });
    await expect.poll(() => clock.sleeping).toBe(1);
    clock.advance(3_597_000);
    await expect.poll(countWarnings).toBe(1);
    for (let step = 0; step < 30; step += 1) {
      await expect.poll(() => clock.sleeping).toBeGreaterThan(0);
      clock.advance(100);
    }
    await expect.poll(() => acts.at(-1)).toBe('closed demo at 3600');
  });

  it.each([
    [3600, 600],
    [600, 3600],
  ])(
    'are those of the later change, which another instance makes while one acts on the first: %i s, then %i s',
    async (first, second) => {
      const { clock, acts, move, inBetween } = await startRoom(engine, { closesAt: at(7200) });
      await expect.poll(() => clock.sleeping).toBe(1);
      const changed = Promise.withResolvers<void>();
      inBetween(() => move('another', second).then(() => changed.resolve()));
      await move('one', first);
      await changed.promise;
      for (const seconds of first < second ? [first, second - first] : [second]) {
        await expect.poll(() => clock.sleeping).toBe(1);
        clock.advance(seconds * 1000);
      }
      await expect.poll(() => acts).toEqual([`closed demo at ${second}`]);
    },
  );

  it('are those of the change that lasts, when two instances make one at the same moment', async () => {
    const { clock, acts, store, move } = await startRoom(engine, { closesAt: at(7200) });
    await expect.poll(() => clock.sleeping).toBe(1);
    await Promise.all([move('one', 600), move('another', 1200), move('one', 1800), move('another', 2400)]);
    const { closesAt = '' } = await getPlan({ store }, PLAN);
    for (const step of [600, 600, 600, 600]) {
      await expect.poll(() => clock.sleeping).toBe(1);
      if (clock.now() < Date.parse(closesAt)) clock.advance(step * 1000);
    }
    const [first] = await expect
      .poll(() => acts[0])
      .toBeDefined()
      .then(() => acts);
    expect(first).toBe(`closed demo at ${(Date.parse(closesAt) - NOW) / 1000}`);
  });

  it('begin with the next comparison when whoever recorded the first join did not know the plan', async () => {
    const database = engine === 'PostgreSQL' ? await createMigratedDatabase() : undefined;
    if (database !== undefined) closers.push(() => database.close());
    const { clock, store, receive, close } = await openEventStage(database?.url);
    closers.push(close);
    const opened = { sid: 'RM_1', room: 'demo', createdAt: NOW, startedAt: null, aloneSince: null };
    await store.plannedRooms.note({ ...opened, dueAt: null, now: NOW });
    await receive(mediaEvent('room_started'), joined('ada1'));
    const claim = { now: NOW, until: NOW + 700, limit: 10 };
    const [unknown] = await store.plannedRooms.claim(claim);
    expect(unknown).toMatchObject({ startedAt: null, aloneSince: null });
    await sweepPlannedRooms({ store, clock, findPlan: () => ({ maxDuration: 60 }) });
    expect(await store.plannedRooms.claim(claim)).toMatchObject([
      { sid: 'RM_1', startedAt: expect.any(Number), aloneSince: NOW },
    ]);
    await sweepPlannedRooms({ store, clock, findPlan: () => ({ maxDuration: 60 }) });
    expect(await store.plannedRooms.claim(claim)).toEqual([]);
  });

  it('include a warning at once when an open room gets an end before which it should have been warned', async () => {
    const plan = { closesAt: at(1000 + 240), closingWarnings: [300, 60] };
    const { clock, acts } = await startRoom(engine, plan, { plannedAfter: 1000 });
    await expect.poll(() => acts).toEqual(['warned at 1000']);
    await expect.poll(() => clock.sleeping).toBe(1);
    clock.advance(180_000);
    await expect.poll(() => acts).toEqual(['warned at 1000', 'warned at 1180']);
  });

  it('begin when the plan is made, for somebody who is alone in an open room', async () => {
    const { clock, acts } = await startRoom(engine, { soloTimeout: 60 }, { plannedAfter: 0 });
    await expect.poll(() => clock.sleeping).toBe(1);
    clock.advance(60_000);
    await expect.poll(() => acts).toEqual(['closed demo at 60']);
  });
});
