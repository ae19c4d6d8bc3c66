import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';

/** Number of rows to insert. */
export type Size = {
  readonly rooms: number;
  readonly webhooks: number;
  readonly events: number;
  readonly deliveries: number;
};

/** Runs SQL on the database, beside the service. Only when no instance has it open may it change something. */
export type Filler = {
  readonly run: (sql: string) => Promise<void>;
  readonly read: (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
  readonly count: (table: string, condition?: string) => Promise<number>;
  /** Each table with its definition, or on PostgreSQL with its columns. */
  readonly listTables: () => Promise<readonly Table[]>;
  /** Bytes of the tables with their indexes. */
  readonly measureBytes: () => Promise<number>;
  readonly close: () => Promise<void>;
};

type Table = { readonly name: string; readonly definition: string };

/** The rows are younger than any retention. */
const SPREAD_MS = 2 * 86_400_000;

export async function openFiller(
  database: { readonly sqlitePath: string } | { readonly databaseUrl: string },
): Promise<Filler> {
  const { run, read, close } = await ('sqlitePath' in database
    ? openSqlite(database.sqlitePath)
    : openPostgres(database.databaseUrl));
  const engine = 'sqlitePath' in database ? 'SQLite' : 'PostgreSQL';
  const readNumber = async (sql: string): Promise<number> => Number((await read(sql))[0]?.number);
  return {
    ...{ run, read, close },
    count: (table, condition = 'true') =>
      readNumber(`select count(*) as number from "${table}" where ${condition}`),
    listTables: async () =>
      (await read(TABLES[engine])).map((row) => ({
        name: String(row.name),
        definition: String(row.definition),
      })),
    measureBytes: () => readNumber(BYTES[engine]),
  };
}

type Opened = Pick<Filler, 'run' | 'read' | 'close'>;

async function openSqlite(path: string): Promise<Opened> {
  const file = new DatabaseSync(path);
  return {
    run: async (sql) => file.exec(sql),
    read: async (sql) => file.prepare(sql).all(),
    close: async () => file.close(),
  };
}

async function openPostgres(connectionString: string): Promise<Opened> {
  const client = new Client({ connectionString });
  // A server that stops before it is closed would end the process, and hide why.
  client.on('error', () => {});
  await client.connect();
  const read = async (sql: string) => (await client.query(sql)).rows;
  return {
    run: async (sql) => {
      await read(sql);
    },
    read,
    close: () => client.end(),
  };
}

const TABLES = {
  SQLite: `select name, sql as definition from sqlite_schema where type = 'table'`,
  PostgreSQL: `
    select table_name as name, string_agg(column_name || ' ' || data_type, ',' order by ordinal_position) as definition
    from information_schema.columns where table_schema = current_schema() group by table_name`,
} as const;

const BYTES = {
  SQLite: 'select page_count * page_size as number from pragma_page_count(), pragma_page_size()',
  PostgreSQL: `
    select sum(pg_total_relation_size(quote_ident(tablename)::regclass)) as number from pg_tables
    where schemaname = current_schema()`,
} as const;

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
