import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LATEST_CURSOR } from '../../../src/contract/event-names.ts';
import type { Store } from '../../../src/server/app/store.ts';
import { type EventsQuery, type ListEventsDeps, listEvents } from '../../../src/server/events/list-events.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { sqliteGround } from '../platform/storage/grounds.ts';
import type { Ground } from '../platform/storage/store-contract.ts';

const NOW = 1_767_225_600_000;

let clock: ManualClock;
let ground: Ground;
let store: Store;
let closing: AbortController;

beforeEach(async () => {
  clock = new ManualClock(NOW);
  closing = new AbortController();
  ground = await sqliteGround();
  store = await ground.open();
  await happen('before');
});
afterEach(() => ground.close());

async function happen(id: string): Promise<void> {
  const session = { room: 'demo', roomSid: 'RM_1', sequence: 1 };
  const times = { occurredAt: clock.now(), createdAt: clock.now() };
  const payload = JSON.stringify({ id });
  await store.events.insert({
    id,
    sourceId: `EV_${id}`,
    type: 'room_started',
    payload,
    ...session,
    ...times,
  });
}

async function read(query: Partial<EventsQuery>) {
  const deps: ListEventsDeps = {
    store,
    clock,
    closing: closing.signal,
    fileUrls: { urlOf: async () => undefined },
  };
  const { events, nextCursor } = await listEvents(deps, { limit: 100, waitSeconds: 0, ...query });
  return { ids: events.map(({ id }) => id), nextCursor };
}

describe('the latest cursor', () => {
  it('gives nothing of what was, and a cursor that what comes follows', async () => {
    const { ids, nextCursor } = await read({ cursor: LATEST_CURSOR });
    expect(ids).toEqual([]);
    await happen('after');
    expect((await read({ cursor: nextCursor })).ids).toEqual(['after']);
  });

  it('waits for the first event to come where it is asked to', async () => {
    const waiting = read({ cursor: LATEST_CURSOR, waitSeconds: 20 });
    await expect.poll(() => clock.sleeping).toBe(1);
    await happen('after');
    expect((await waiting).ids).toEqual(['after']);
    expect(clock.sleeping).toBe(0);
  });

  it('waits for an event of another process too', async () => {
    const waiting = read({ cursor: LATEST_CURSOR, waitSeconds: 20 });
    await expect.poll(() => clock.sleeping).toBe(1);
    const own = store;
    store = await ground.open();
    await happen('after');
    store = own;
    expect((await waiting).ids).toEqual(['after']);
  });

  it('waits no longer than it is asked to', async () => {
    const waiting = read({ cursor: LATEST_CURSOR, waitSeconds: 20 });
    await expect.poll(() => clock.sleeping).toBe(1);
    clock.advance(20_000);
    const { ids, nextCursor } = await waiting;
    expect(ids).toEqual([]);
    await happen('after');
    expect((await read({ cursor: nextCursor })).ids).toEqual(['after']);
  });

  it('waits no longer than the service runs', async () => {
    const waiting = read({ cursor: LATEST_CURSOR, waitSeconds: 20 });
    await expect.poll(() => clock.sleeping).toBe(1);
    closing.abort();
    expect((await waiting).ids).toEqual([]);
  });
});
