import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/server/app/store.ts';
import type { NewEvent, RoomSession } from '../../../../src/server/events/store.ts';
import { createMigratedDatabase } from '../../../support/parts/migrated-database.ts';
import type { Database } from '../../../support/parts/postgres.ts';
import { type Network, startNetwork } from './network.ts';
import { expectUnavailable } from './store-records.ts';
import { open } from './test-databases.ts';

/*
 * One instance stops within its transaction, like a process that gets SIGSTOP. Here it waits for a promise, or its
 * connection is cut. For PostgreSQL these are the same.
 */

let database: Database;
let network: Network;
let frozen: Store;
let other: Store;

beforeEach(async () => {
  database = await createMigratedDatabase();
  network = await startNetwork(new URL(database.url));
  const url = new URL(network.url(database.url));
  url.searchParams.set('query_timeout', '500');
  url.searchParams.set('idle_in_transaction_session_timeout', '2000');
  frozen = await open({ databaseUrl: url.href });
  other = await open({ databaseUrl: database.url });
});
afterEach(async () => {
  network.speak();
  await Promise.all([frozen.close(), other.close()]);
  await network.close();
  await database.close();
});

const listed = async () =>
  (await other.events.list({ afterPosition: 0, limit: 10 })).map(({ id, position }) => [id, position]);

describe('an instance that is suspended in the transaction of its events', () => {
  it('blocks no other instance and no readers', async () => {
    const thaw = Promise.withResolvers<void>();
    const isHeld = Promise.withResolvers<void>();
    const held = frozen.transaction(async (within) => {
      await within.presence.lockRooms(['RM_held']);
      await within.presence.saveRoom(newRoom('RM_held'));
      await within.events.insertAll([newEvent('held', 'RM_held')], []);
      isHeld.resolve();
      await thaw.promise;
    });
    await isHeld.promise;
    await other.transaction(async (within) => {
      await within.presence.lockRooms(['RM_free']);
      await within.events.insertAll([newEvent('free', 'RM_free')], []);
    });
    expect(await listed()).toEqual([['free', 1]]);
    thaw.resolve();
    await held;
    expect(await listed()).toEqual([
      ['free', 1],
      ['held', 2],
    ]);
  });

  it('blocks no other after it has sent the events, because their commit was sent with them', async () => {
    await frozen.ping();
    network.silenceAfter('insert into events');
    const lost = frozen.transaction(async (within) => {
      await within.events.insertAll([newEvent('sent', 'RM_held')], []);
    });
    await expectUnavailable(lost, { retryable: true });
    expect(network.isSilent()).toBe(true);
    await other.events.insertAll([newEvent('free', 'RM_free')], []);
    expect(await listed()).toEqual([
      ['sent', 1],
      ['free', 2],
    ]);
  });

  it('blocks only its own rooms until the database ends its transaction', async () => {
    const isHeld = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const held = frozen.transaction(async (within) => {
      await within.presence.lockRooms(['RM_held']);
      isHeld.resolve();
      await ended.promise;
      await within.events.insertAll([newEvent('late', 'RM_held')], []);
    });
    const late = expectUnavailable(held, { retryable: true });
    await isHeld.promise;
    const store = () =>
      other.transaction(async (within) => {
        await within.presence.lockRooms(['RM_held']);
        await within.events.insertAll([newEvent('other', 'RM_held')], []);
      });
    const { message } = await expectUnavailable(store(), { retryable: true });
    expect(message).toContain('busy');
    await expect
      .poll(
        () =>
          store().then(
            () => true,
            () => false,
          ),
        { timeout: 60_000 },
      )
      .toBe(true);
    ended.resolve();
    await late;
    expect(await listed()).toEqual([['other', 1]]);
  });
});

function newEvent(id: string, roomSid: string): NewEvent {
  const times = { occurredAt: 1, createdAt: 1 };
  return {
    id,
    sourceId: id,
    type: 'room_started',
    room: 'demo',
    roomSid,
    sequence: 1,
    payload: '{}',
    traceparent: null,
    ...times,
  };
}

function newRoom(sid: string): RoomSession {
  return {
    ...{ sid, name: 'demo', createdAt: 1, startedAt: null, endedAt: null },
    ...{ sequence: 1, metadata: null },
  };
}
