import type { KyselyPlugin, RootOperationNode } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createStore } from '../../../../src/server/app/create-store.ts';
import { createPresenceStore } from '../../../../src/server/events/presence.sql.ts';
import { openPostgres } from '../../../../src/server/platform/storage/postgres/engine.ts';
import { MIGRATIONS } from '../../../../src/server/schema/migrations.ts';
import type { Connection } from '../../../../src/server/schema/tables.ts';
import { RESETTLED_MS } from '../../../../src/server/usage/store.ts';
import { createUsageStore } from '../../../../src/server/usage/usage.sql.ts';
import { createMigratedDatabase } from '../../../support/parts/migrated-database.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { systemClock } from './test-databases.ts';

/*
 * With SQLite one transaction follows another. With PostgreSQL another instance may act between two statements, which these
 * tests make it do.
 */
describe('usage on PostgreSQL, between two statements of another instance,', () => {
  const session = {
    ...{ sid: 'RM_1', name: 'demo', createdAt: 1, startedAt: 1, endedAt: 1000, sequence: 1, metadata: null },
  };
  const stay = {
    ...({
      sid: 'PA_1',
      roomSid: 'RM_1',
      identity: 'ada',
      name: '',
      countsAs: 'participant',
      joinedAt: 1,
    } as const),
    ...{ leftAt: 1000, metadata: null, accessRole: 'host', untoldUntil: null },
  };

  async function stage() {
    const database = await createMigratedDatabase();
    const options = { url: database.url, clock: systemClock, log: silentLog, migrations: MIGRATIONS };
    const engine = await openPostgres(options);
    onTestFinished(async () => {
      await engine.close();
      await database.close();
    });
    const store = createStore(engine);
    await store.presence.saveParticipant(stay);
    await store.presence.saveRoom(session);
    /** A connection of an instance on which \`act\` runs once, after its first statement that has the text. */
    const interrupted = (text: string, act: () => Promise<unknown>): Connection => {
      const { db, transaction, ...rest } = engine;
      const plugin = actAfter(text, act);
      return {
        ...rest,
        db: db.withPlugin(plugin),
        atomically: (work) => transaction((inside) => work(inside.withPlugin(plugin))),
      };
    };
    const settle = { now: 2000, dueBy: 2000, limit: 9 };
    const total = async () => (await store.usage.list({ from: 0, to: 1, by: 'total', limit: 1 }))[0];
    return { store, interrupted, settle, total };
  }

  it('is computed by one of two that have found the same session due', async () => {
    const { store, interrupted, settle, total } = await stage();
    let others = -1;
    const late = createUsageStore(
      interrupted('settleAt', async () => {
        others = await store.usage.settle(settle);
        // What it counted must not be deleted by an instance that knows less.
        await store.presence.saveParticipant({ ...stay, countsAs: 'machinery' });
      }),
    );
    expect([await late.settle(settle), others]).toEqual([0, 1]);
    expect(await total()).toMatchObject({ participant: 999, isFinal: 1 });
  });

  it('is left to an instance that computes it now', async () => {
    const { store, interrupted, settle, total } = await stage();
    let others = -1;
    const first = createUsageStore(
      interrupted('pg_try_advisory_xact_lock', async () => {
        others = await store.usage.settle(settle);
      }),
    );
    expect([await first.settle(settle), others]).toEqual([1, 0]);
    expect(await total()).toMatchObject({ participant: 999, isFinal: 1 });
  });

  it('does not count less when an event comes while the details of its session are deleted', async () => {
    const { store, interrupted, settle, total } = await stage();
    await store.usage.settle(settle);
    const now = settle.now + RESETTLED_MS;
    const purging = createPresenceStore(
      interrupted('delete from "participantSessions"', async () => {
        const late = { ...stay, sid: 'PA_2', identity: 'bob', leftAt: 2 };
        await store.transaction(async ({ presence }) => {
          await presence.lockRoom('RM_1');
          await presence.saveParticipant(late);
          await presence.saveRoom(session);
        });
        await store.usage.settle({ ...settle, now, dueBy: now });
      }),
    );
    await purging.purge(2000, 9);
    await store.usage.settle({ ...settle, now, dueBy: now });
    expect(await total()).toMatchObject({ participant: 999, isFinal: 1 });
    expect(await store.presence.purge(2000, 9)).toBe(1);
    expect(await store.presence.findParticipant('PA_2')).toBeUndefined();
  });
});

/** Acts once, after the first statement whose text or tables have \`text\`, before its caller goes on. */
function actAfter(text: string, act: () => Promise<unknown>): KyselyPlugin {
  let found: object | undefined;
  let isDone = false;
  return {
    transformQuery: ({ node, queryId }) => {
      if (found === undefined && hasText(node, text)) found = queryId;
      return node;
    },
    transformResult: async ({ queryId, result }) => {
      if (queryId === found && !isDone) {
        isDone = true;
        await act();
      }
      return result;
    },
  };
}

function hasText(node: RootOperationNode, text: string): boolean {
  const read = (value: unknown): string =>
    typeof value === 'string'
      ? value
      : typeof value === 'object' && value !== null
        ? Object.values(value).map(read).join('\n')
        : '';
  return text.split(' ').every((word) => read(node).includes(word.replaceAll('"', '')));
}
