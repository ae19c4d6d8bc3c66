import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';

/** Number of rows to insert. */
export type Size = {
  readonly rooms: number;
  readonly webhooks: number;
  readonly events: number;
  readonly deliveries: number;
  readonly tailers: number;
};

/** Runs SQL on the database, beside the service. Only when no instance has it open may it change something. */
export type Filler = {
  readonly run: (sql: string) => Promise<void>;
  readonly count: (table: string, condition?: string) => Promise<number>;
  readonly listTables: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
};

/** The rows are younger than any retention. */
const SPREAD_MS = 2 * 86_400_000;

export async function openFiller(
  database: { readonly sqlitePath: string } | { readonly databaseUrl: string },
): Promise<Filler> {
  if ('sqlitePath' in database) {
    const file = new DatabaseSync(database.sqlitePath);
    return {
      run: async (sql) => file.exec(sql),
      count: async (table, condition) => Number(file.prepare(countRows(table, condition)).get()?.rows),
      listTables: async () =>
        file
          .prepare(SQLITE_TABLES)
          .all()
          .map(({ name }) => String(name)),
      close: async () => file.close(),
    };
  }
  const client = new Client({ connectionString: database.databaseUrl });
  await client.connect();
  return {
    run: async (sql) => {
      await client.query(sql);
    },
    count: async (table, condition) =>
      Number((await client.query(countRows(table, condition))).rows[0]?.rows),
    listTables: async () => (await client.query(POSTGRES_TABLES)).rows.map(({ name }) => String(name)),
    close: () => client.end(),
  };
}

const SQLITE_TABLES = "select name from sqlite_schema where type = 'table'";
const POSTGRES_TABLES = 'select tablename as name from pg_tables where schemaname = current_schema()';

function countRows(table: string, condition = 'true'): string {
  return `select count(*) as rows from "${table}" where ${condition}`;
}

/**
 * Inserts events and completed deliveries with one attempt each. Half of the deliveries belong to the first webhook. Both
 * engines use the same statements.
 */
export async function fill({ run }: Filler, { rooms, webhooks, events, deliveries }: Size): Promise<void> {
  const now = Date.now();
  const payload = JSON.stringify({
    timestamp: new Date(now).toISOString(),
    ...{ sequence: 1, room: { id: 'RM_filled', name: 'filled', numParticipants: 1 } },
    participant: { sid: 'PA_filled', identity: 'ada', name: 'Ada Lovelace' },
  });
  const type = `case n % 4 when 0 then 'participant_joined' when 1 then 'participant_left'
    when 2 then 'track_published' else 'track_unpublished' end`;
  const at = (count: number): string => `${now - SPREAD_MS} + n * ${Math.floor(SPREAD_MS / count)}`;
  await run(`
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${events})
    insert into events (position, id, "sourceId", type, room, "roomSid", sequence, payload, "occurredAt", "createdAt")
    select (select value from counters where name = 'events') + n, 'evt_filled' || n, 'EV_filled' || n, ${type},
      'room-' || (n % ${rooms}), 'RM_filled' || (n % ${rooms}), n / ${rooms}, '${payload}', ${at(events)}, ${at(events)}
    from numbers`);
  await run(`update counters set value = value + ${events} where name = 'events'`);
  await run(`
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${deliveries}),
    numbered as (select id, row_number() over (order by "createdAt", id) - 1 as place from webhooks)
    insert into deliveries
      (id, "webhookId", "eventId", "eventName", state, "dueAt", "createdAt", "endedAt", attempts, "roundAttempts", log)
    select 'dlv_filled' || n, numbered.id, 'evt_filled' || n, ${type},
      case when n % 20 = 0 then 'failed' else 'delivered' end, ${at(deliveries)}, ${at(deliveries)}, ${at(deliveries)}, 1, 1,
      '[[' || (${at(deliveries)}) || ',5,' || case when n % 20 = 0 then 500 else 200 end || ',null,"ok"]]'
    from numbers join numbered on numbered.place = case when n % 2 = 0 then 0 else n % ${webhooks} end`);
  // PostgreSQL does this by itself within minutes of so many new rows.
  await run('analyze');
}
