import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/server/app/store.ts';
import { DAY_MS } from '../../../../src/server/usage/spans.ts';
import { RESETTLED_MS, type UsageRequest } from '../../../../src/server/usage/store.ts';
import { readEventUsage } from '../../../../src/server/usage/usage-rows.ts';
import { Random } from '../../../support/random.ts';
import { DATABASES, type TestDatabase } from './test-databases.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const NOVEMBER = Date.UTC(2026, 10, 1);
const DECEMBER = Date.UTC(2026, 11, 1);
const JANUARY = Date.UTC(2027, 0, 1);

type Stay = {
  readonly identity: string;
  readonly role: string;
  readonly joinedAt: number;
  readonly leftAt: number | null;
  readonly keyId?: string;
};

describe.each(DATABASES)('usage on $engine', ({ prepare }) => {
  let testDatabase: TestDatabase;
  let store: Store;

  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
  });
  afterEach(() => testDatabase.close());

  const saveSession = (sid: string, name: string, { from, to }: { from: number; to: number | null }) =>
    store.transaction(({ presence }) =>
      presence.saveRoom({
        ...{ sid, name, createdAt: from, startedAt: from, endedAt: to, sequence: 1, metadata: null },
      }),
    );
  const saveStay = (roomSid: string, stay: Stay, number = 0) => {
    const { identity, role: accessRole, joinedAt, leftAt, keyId } = stay;
    const sid = `PA_${roomSid}_${identity}_${joinedAt}_${number}`;
    const who = {
      sid,
      roomSid,
      identity,
      name: identity,
      countsAs: 'participant',
      metadata: null,
    } as const;
    return store.presence.saveParticipant({
      ...who,
      accessRole,
      joinedAt,
      leftAt,
      untoldUntil: null,
      keyId,
    });
  };
  const settle = async (now: number) => {
    while ((await store.usage.settle({ now, dueBy: now, limit: 20 })) > 0);
  };
  const list = (query: Partial<UsageRequest> = {}) =>
    store.usage.list({ from: NOVEMBER, to: DECEMBER, by: 'day', limit: 1000, ...query });
  const total = async (query: Partial<UsageRequest> = {}) => (await list({ ...query, by: 'total' }))[0];

  it('adds up a session by role, splits it at midnight in UTC, and has the peak of each day', async () => {
    const midnight = NOVEMBER + DAY_MS;
    await saveSession('RM_1', 'lesson-1', { from: midnight - HOUR, to: midnight + HOUR });
    await saveStay('RM_1', {
      identity: 'ada',
      role: 'host',
      joinedAt: midnight - HOUR,
      leftAt: midnight + HOUR,
    });
    await saveStay('RM_1', {
      ...{ identity: 'bob', role: 'participant', keyId: 'key_1' },
      ...{ joinedAt: midnight - 2 * MINUTE, leftAt: midnight - MINUTE },
    });
    await saveStay('RM_1', {
      ...{ identity: 'cam', role: 'ingress', joinedAt: midnight, leftAt: midnight + MINUTE },
    });
    await settle(DECEMBER);
    const days = await list();
    expect(
      days.map((day) => [day.group, day.participant, day.host, day.room, day.ingress, day.peak]),
    ).toEqual([
      ['2026-11-01', HOUR + MINUTE, HOUR, HOUR, 0, 2],
      ['2026-11-02', HOUR, HOUR, HOUR, MINUTE, 1],
    ]);
    const byKey = await list({ by: 'key' });
    expect(byKey.map((key) => [key.group, key.participant, key.room])).toEqual([
      ['key_1', MINUTE, 0],
      ['root', 2 * HOUR, 2 * HOUR],
    ]);
    expect((await list({ by: 'month' })).map(({ group }) => group)).toEqual(['2026-11']);
  });

  it('counts the same however often and by whomever a session is computed, and what comes late', async () => {
    await saveSession('RM_1', 'demo', { from: NOVEMBER, to: NOVEMBER + HOUR });
    await saveStay('RM_1', { identity: 'ada', role: 'host', joinedAt: NOVEMBER, leftAt: NOVEMBER + HOUR });
    const dueBy = DECEMBER;
    const other = await testDatabase.open();
    const instances = Array.from({ length: 24 }, (_, index) => (index % 2 === 0 ? store : other));
    await Promise.all(instances.map(({ usage }) => usage.settle({ now: DECEMBER, dueBy, limit: 5 })));
    expect(await total()).toMatchObject({ participant: HOUR, isFinal: 1 });
    expect(await store.usage.findNextDue()).toBeUndefined();
    await saveStay('RM_1', {
      identity: 'bob',
      role: 'viewer',
      joinedAt: NOVEMBER,
      leftAt: NOVEMBER + MINUTE,
    });
    await saveSession('RM_1', 'demo', { from: NOVEMBER, to: NOVEMBER + HOUR });
    await settle(DECEMBER);
    expect(await total()).toMatchObject({ participant: HOUR + MINUTE, viewer: MINUTE, peak: 2 });
  });

  it('includes an open session until now, and is not final then', async () => {
    await saveSession('RM_1', 'demo', { from: NOVEMBER, to: null });
    await saveStay('RM_1', { identity: 'ada', role: 'host', joinedAt: NOVEMBER, leftAt: null });
    await settle(NOVEMBER + MINUTE);
    expect(await total()).toMatchObject({ participant: MINUTE, room: MINUTE, isFinal: 0 });
    expect(await store.usage.findNextDue()).toBe(NOVEMBER + MINUTE + RESETTLED_MS);
    await settle(NOVEMBER + MINUTE + RESETTLED_MS);
    expect(await total()).toMatchObject({ participant: MINUTE + RESETTLED_MS });
  });

  it('keeps what it counted when the session is purged, and forgets nobody’s minutes with a person', async () => {
    await saveSession('RM_1', 'demo', { from: NOVEMBER, to: NOVEMBER + HOUR });
    await saveStay('RM_1', {
      identity: 'ada',
      role: 'host',
      joinedAt: NOVEMBER,
      leftAt: NOVEMBER + MINUTE,
    });
    await saveStay(
      'RM_1',
      { identity: 'ada', role: 'host', joinedAt: NOVEMBER, leftAt: NOVEMBER + MINUTE },
      1,
    );
    await store.erasure.eraseConnections({ identity: 'ada', room: undefined }, '');
    await settle(DECEMBER);
    expect(await total()).toMatchObject({ participant: MINUTE, peak: 1 });
    await saveSession('RM_1', 'demo', { from: NOVEMBER, to: NOVEMBER + HOUR });
    await store.erasure.eraseConnections({ identity: 'ada', room: undefined }, '');
    await settle(DECEMBER);
    expect(await total()).toMatchObject({ participant: MINUTE, peak: 1 });
    while ((await store.presence.purge(DECEMBER, 10)) > 0);
    expect(await total()).toMatchObject({ participant: MINUTE, room: HOUR });
    expect(await store.usage.purge(NOVEMBER, 10)).toBe(0);
    expect(await store.usage.purge(NOVEMBER + 1, 10)).toBeGreaterThan(0);
    expect(await total()).toBeUndefined();
  });

  it('counts days that are over once while a room stays open for months, and all of them again with its end', async () => {
    const opened = NOVEMBER - 60 * DAY_MS;
    const early = { identity: 'ada', role: 'host', joinedAt: opened, leftAt: opened + HOUR };
    await saveSession('RM_1', 'always', { from: opened, to: null });
    await saveStay('RM_1', early);
    await saveStay('RM_1', {
      identity: 'bob',
      role: 'viewer',
      joinedAt: NOVEMBER - HOUR,
      leftAt: null,
      keyId: 'key_2',
    });
    const all = { from: opened, to: DECEMBER };
    await settle(NOVEMBER + HOUR);
    expect(await total(all)).toMatchObject({
      participant: 3 * HOUR,
      room: 60 * DAY_MS + HOUR,
      peak: 1,
      isFinal: 0,
    });
    await saveStay('RM_1', { ...early, leftAt: opened + 2 * HOUR });
    const next = NOVEMBER + HOUR + RESETTLED_MS;
    await settle(next);
    expect(await total(all)).toMatchObject({
      participant: 3 * HOUR + RESETTLED_MS,
      room: 60 * DAY_MS + HOUR + RESETTLED_MS,
    });
    expect(await list({ ...all, by: 'key' })).toMatchObject([
      { group: 'key_2', participant: 2 * HOUR + RESETTLED_MS, room: 0 },
      { group: 'root', participant: HOUR, room: 60 * DAY_MS + HOUR + RESETTLED_MS },
    ]);
    await saveStay('RM_1', {
      identity: 'bob',
      role: 'viewer',
      joinedAt: NOVEMBER - HOUR,
      leftAt: next,
      keyId: 'key_2',
    });
    await saveSession('RM_1', 'always', { from: opened, to: next });
    await settle(next);
    expect(await total(all)).toMatchObject({ participant: 4 * HOUR + RESETTLED_MS, peak: 1, isFinal: 1 });
  });

  it('counts a room that stays open the same as at once, however often it is computed in between', async () => {
    const random = new Random(20_261_103);
    const sids = ['RM_often', 'RM_once'];
    for (const sid of sids) await saveSession(sid, sid, { from: NOVEMBER, to: null });
    let at = NOVEMBER;
    for (let number = 0; number < 40; number += 1) {
      const joinedAt = at + random.integer(6 * HOUR);
      const stay = { identity: `p${random.integer(3)}`, role: 'viewer', joinedAt };
      for (const sid of sids) await saveStay(sid, { ...stay, leftAt: null }, number);
      at = joinedAt + random.integer(9 * HOUR);
      if (random.integer(2) === 0) await settle(at);
      for (const sid of sids) await saveStay(sid, { ...stay, leftAt: at }, number);
      if (random.integer(2) === 0) await settle(at + 1);
    }
    const end = at + 2 * RESETTLED_MS;
    await settle(end);
    const before = await total({ room: 'RM_often', to: JANUARY });
    for (const sid of sids) await saveSession(sid, sid, { from: NOVEMBER, to: end });
    await settle(end);
    const after = await list({ room: 'RM_often', to: JANUARY });
    expect(await total({ room: 'RM_often', to: JANUARY })).toEqual({ ...before, isFinal: 1 });
    expect(await list({ room: 'RM_once', to: JANUARY })).toEqual(after);
  });

  it('counts a recording by its key and once, also when its end is corrected', async () => {
    await saveSession('RM_1', 'acme-1', { from: NOVEMBER, to: NOVEMBER + HOUR });
    await saveStay('RM_1', {
      ...{ identity: 'ada', role: 'host', joinedAt: NOVEMBER, leftAt: NOVEMBER + HOUR, keyId: 'key_1' },
    });
    const recording = { egressId: 'EG_1', mediaStartedAt: new Date(NOVEMBER).toISOString() };
    const end = (durationMs: number, sizeBytes: number) => {
      const event = { type: 'egress_ended', occurredAt: NOVEMBER + HOUR };
      const subject = { recording: { ...recording, durationMs, sizeBytes } };
      return readEventUsage({ ...event, subject }, { room: 'acme-1', roomSid: 'RM_1' });
    };
    await store.usage.save(end(MINUTE, 10));
    await settle(DECEMBER);
    await store.usage.save(end(2 * MINUTE, 25));
    expect(await total()).toMatchObject({ recording: 2 * MINUTE, bytes: 25 });
    expect(await list({ by: 'key' })).toMatchObject([{ group: 'key_1', recording: 2 * MINUTE }]);
  });

  it('counts a broadcast from its start to its stop, and not one that was aborted', async () => {
    const end = (broadcastId: string, status: string) =>
      readEventUsage(
        {
          ...{ type: 'broadcast_ended', occurredAt: NOVEMBER + DAY_MS + HOUR },
          usedUntil: NOVEMBER + DAY_MS + MINUTE,
          subject: {
            broadcast: {
              broadcastId,
              status,
              startedAt: new Date(NOVEMBER + DAY_MS - MINUTE).toISOString(),
            },
          },
        },
        { room: 'acme-1', roomSid: 'RM_1' },
      );
    await store.usage.save([...end('bc_1', 'stopped'), ...end('bc_2', 'aborted')]);
    expect((await list()).map(({ group, broadcast }) => [group, broadcast])).toEqual([
      ['2026-11-01', MINUTE],
      ['2026-11-02', MINUTE],
    ]);
  });

  it('pages groups in the order of their names, by room and by the beginning of names', async () => {
    const names = ['acme-1', 'acme-2', 'acmé', 'beta-1', 'demo', 'acme'];
    for (const [index, name] of names.entries()) {
      await saveSession(`RM_${index}`, name, { from: NOVEMBER, to: NOVEMBER + HOUR });
      const stay = { identity: 'ada', role: 'host', joinedAt: NOVEMBER, leftAt: NOVEMBER + MINUTE };
      await saveStay(`RM_${index}`, stay);
    }
    await settle(DECEMBER);
    const groups = async (query: Partial<UsageRequest>) => (await list(query)).map(({ group }) => group);
    expect(await groups({ by: 'room', limit: 2 })).toEqual(['acme', 'acme-1']);
    expect(await groups({ by: 'room', after: 'acme-1' })).toEqual(['acme-2', 'acmé', 'beta-1', 'demo']);
    expect(await groups({ by: 'prefix' })).toEqual(['acme', 'acme-', 'acmé', 'beta-', 'demo']);
    expect(await groups({ by: 'room', prefix: 'acme-' })).toEqual(['acme-1', 'acme-2']);
    expect(await groups({ by: 'room', room: 'demo' })).toEqual(['demo']);
    expect(await groups({ from: DECEMBER, to: JANUARY })).toEqual([]);
  });

  it('agrees with a plain count over a month of random sessions', async () => {
    const random = new Random(20_261_101);
    const pick = (below: number) => (below < 1 ? 0 : random.integer(below));
    const roles = ['host', 'moderator', 'participant', 'viewer', 'other'];
    const stays: (Stay & { readonly room: string; readonly sid: string })[] = [];
    for (let number = 0; number < 120; number += 1) {
      const sid = `RM_${number}`;
      const room = `${['acme', 'beta', 'gamma'][pick(3)]}-${pick(9)}`;
      const from = NOVEMBER + pick(29 * DAY_MS);
      const to = Math.min(DECEMBER, from + pick(30 * HOUR));
      await saveSession(sid, room, { from, to: null });
      for (let person = pick(6); person >= 0; person -= 1) {
        const joinedAt = from + pick(to - from);
        const leftAt = joinedAt + pick(to - joinedAt);
        const stay = { identity: `p${pick(4)}`, role: roles[pick(5)] ?? '', joinedAt, leftAt };
        stays.push({ ...stay, room, sid });
        await saveStay(sid, stay, person);
      }
      // Some are computed while they are open, some several times.
      if (pick(3) === 0) await settle(to);
      await saveSession(sid, room, { from, to });
      if (pick(3) === 0) await settle(DECEMBER);
    }
    await settle(DECEMBER);
    const days = await list();
    const plain = countPlainly(stays);
    expect(days.map(({ group, participant }) => [group, participant])).toEqual(
      [...plain.byDay].toSorted().map(([day, ms]) => [day, ms]),
    );
    const rooms = await list({ by: 'prefix' });
    expect(rooms.map(({ group, participant }) => [group, participant])).toEqual(
      [...plain.byPrefix].toSorted(),
    );
    expect((await total())?.participant).toBe([...plain.byDay.values()].reduce((sum, ms) => sum + ms, 0));
  });
});

/** Looks between any two instants at which something changes whether the person was there, and knows nothing of spans. */
function countPlainly(stays: readonly (Stay & { readonly room: string; readonly sid: string })[]) {
  const byDay = new Map<string, number>();
  const byPrefix = new Map<string, number>();
  const people = Map.groupBy(stays, ({ sid, identity }) => `${sid} ${identity}`);
  for (const ofPerson of people.values()) {
    const instants = [...new Set(ofPerson.flatMap(({ joinedAt, leftAt }) => [joinedAt, leftAt ?? joinedAt]))];
    for (let day = NOVEMBER; day < DECEMBER; day += DAY_MS) instants.push(day);
    instants.sort((one, other) => one - other);
    for (const [index, at] of instants.entries()) {
      const isThere = ofPerson.some(({ joinedAt, leftAt }) => joinedAt <= at && at < (leftAt ?? joinedAt));
      if (!isThere) continue;
      const ms = (instants[index + 1] ?? at) - at;
      const day = new Date(at).toISOString().slice(0, 10);
      byDay.set(day, (byDay.get(day) ?? 0) + ms);
      const prefix = `${ofPerson[0]?.room.split('-')[0]}-`;
      byPrefix.set(prefix, (byPrefix.get(prefix) ?? 0) + ms);
    }
  }
  return { byDay, byPrefix };
}
