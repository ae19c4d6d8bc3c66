import { type RawBuilder, sql } from 'kysely';
import { isProbeRoom } from '../../contract/names.ts';
import type { RowColumns } from '../platform/storage/engine.ts';
import { beginsWith, columnList, sanitizeText } from '../platform/storage/statements.ts';
import type { Connection } from '../schema/tables.ts';
import { DAY_MS } from './spans.ts';
import {
  RESETTLED_MS,
  type SettleQuery,
  type UsageRequest,
  type UsageRow,
  type UsageStore,
  type UsageSums,
} from './store.ts';
import { computeSessionUsage, type UsedConnection, type UsedSession } from './usage-rows.ts';

export function createUsageStore(connection: Connection): UsageStore {
  return {
    save: (rows) => connection.atomically((db) => saveRows({ ...connection, db }, rows)),
    settle: (query) => connection.atomically((db) => settleSessions({ ...connection, db }, query)),
    findNextDue: async () => {
      const next = connection.db.selectFrom('roomSessions').select('settleAt').where('settleAt', '>=', 0);
      return (await next.orderBy('settleAt').limit(1).executeTakeFirst())?.settleAt ?? undefined;
    },
    list: (query) => listGroups(connection, query),
    purge: async (before, limit) => {
      const old = sql`select "sourceId", kind from usage where day < ${before} limit ${limit}`;
      const deleted = await sql`
        delete from usage where day < ${before} and ("sourceId", kind) in (${old})`.execute(connection.db);
      return Number(deleted.numAffectedRows ?? 0);
    },
  };
}

const COLUMNS: RowColumns<StoredUsage> = {
  sourceId: 'text',
  kind: 'text',
  day: 'integer',
  role: 'text',
  keyId: 'text',
  room: 'text',
  prefix: 'text',
  roomSid: 'text',
  ms: 'integer',
  peak: 'integer',
  bytes: 'integer',
  isFinal: 'integer',
};

type StoredUsage = UsageRow & { readonly prefix: string };

type Database = Pick<Connection, 'db' | 'dialect'>;

async function saveRows({ db, dialect }: Database, rows: readonly UsageRow[]): Promise<void> {
  if (rows.length === 0) return;
  const kinds = [...new Set(rows.map(({ kind }) => kind))];
  const sources = [...new Set(rows.map(({ sourceId }) => sourceId))];
  await sql`
    delete from usage where "sourceId" ${dialect.oneOf(sources)} and kind ${dialect.oneOf(kinds)}`.execute(
    db,
  );
  await insertRows({ db, dialect }, rows);
}

async function insertRows({ db, dialect }: Database, rows: readonly UsageRow[]): Promise<void> {
  if (rows.length === 0) return;
  const listed = dialect.rows(rows.map(toStored), COLUMNS);
  const columns = columnList(Object.keys(COLUMNS));
  await sql`
    insert into usage (${columns})
    select "sourceId", kind, day, role, case when "keyId" <> '' then "keyId" else coalesce((
      select known."keyId" from usage as known
      where known."sourceId" = listed."roomSid" and known.kind = 'room' limit 1
    ), (
      select known."keyId" from usage as known
      where known.room = listed.room and known.kind = 'room' order by known.day desc limit 1
    ), '') end, room, prefix, "roomSid", ms, peak, bytes, "isFinal" from ${listed} as listed`.execute(db);
}

function toStored(row: UsageRow): StoredUsage {
  const room = sanitizeText(row.room);
  return { ...row, room, prefix: room.slice(0, room.indexOf('-') + 1) || room };
}

/** A session that is settled in the order of its sid cannot wait for another instance that does the same. */
async function settleSessions(
  { db, dialect }: Database,
  { now, dueBy, limit }: SettleQuery,
): Promise<number> {
  const due = await db
    .selectFrom('roomSessions')
    .select('sid')
    .where('settleAt', '>=', 0)
    .where('settleAt', '<=', dueBy)
    .orderBy('settleAt')
    .limit(limit)
    .execute();
  const locked = await lockFree(
    { db, dialect },
    due.map(({ sid }) => sid),
  );
  if (locked.length === 0) return 0;
  // Another instance may have settled some between the list and the lock, or a purge has begun to delete their details:
  // their rows must stay.
  const { rows: sessions } = await sql<SettledSession>`
    select sid, name, "endedAt", sequence from ${sql.table('roomSessions')}
    where sid ${dialect.oneOf(locked)} and "settleAt" between 0 and ${dueBy}`.execute(db);
  if (sessions.length === 0) return 0;
  const counted = await readCounted(
    { db, dialect },
    sessions.flatMap(({ sid, endedAt }) => (endedAt === null ? sid : [])),
  );
  const [continued, whole] = [
    sessions.filter(({ sid }) => counted.has(sid)),
    sessions.filter(({ sid }) => !counted.has(sid)),
  ];
  const since = Math.min(...[...counted.values()].map(({ lastDay }) => lastDay)) - DAY_MS;
  await countSessions({ db, dialect }, whole, { now, since: 0, counted });
  await countSessions({ db, dialect }, continued, { now, since, counted });
  await sql`
    update ${sql.table('roomSessions')}
    set "settleAt" = case when "endedAt" is null then cast(${now + RESETTLED_MS} as bigint) end
    where sid ${dialect.oneOf(sessions.map(({ sid }) => sid))}`.execute(db);
  return sessions.length;
}

type SettledSession = UsedSession & { readonly sequence: number };

type Counted = {
  readonly sid: string;
  readonly firstDay: number;
  readonly lastDay: number;
  readonly keyId: string;
};

/** Reads which days of these rooms were counted before, and for which key. */
async function readCounted({ db, dialect }: Database, sids: readonly string[]) {
  if (sids.length === 0) return new Map<string, Counted>();
  const { rows } = await sql<Counted>`
    select "sourceId" as sid, min(day) as "firstDay", max(day) as "lastDay", min("keyId") as "keyId"
    from usage where "sourceId" ${dialect.oneOf(sids)} and kind = 'room' group by "sourceId"`.execute(db);
  return new Map(rows.map((row) => [row.sid, row]));
}

type Count = {
  readonly now: number;
  /** Beginning of the first day that is counted again. */
  readonly since: number;
  readonly counted: ReadonlyMap<string, Counted>;
};

/**
 * Replaces the rows of days from `since` on. A room that stays open for months is counted again for its last days only;
 * what is reported later than a day afterwards is counted with its end.
 */
async function countSessions(
  { db, dialect }: Database,
  sessions: readonly SettledSession[],
  { now, since, counted }: Count,
): Promise<void> {
  const sids = sessions.map(({ sid }) => sid);
  if (sids.length === 0) return;
  const connections = await readConnections({ db, dialect }, sids, since);
  // A session without an event is not told: see sessions.
  const told = sessions.filter(({ name, sequence }) => sequence > 0 && !isProbeRoom(name));
  const rows = told.flatMap((session) => {
    const known = counted.get(session.sid);
    const continued =
      known !== undefined && known.firstDay < since ? { since, keyId: known.keyId } : undefined;
    return computeSessionUsage(session, connections.get(session.sid) ?? [], { now, continued });
  });
  await sql`
    delete from usage where "sourceId" ${dialect.oneOf(sids)} and kind in ('participant', 'room', 'ingress')
    and day >= ${since}`.execute(db);
  await insertRows({ db, dialect }, rows);
  await nameKeys({ db, dialect }, rows);
}

async function lockFree({ db, dialect }: Database, sids: readonly string[]): Promise<readonly string[]> {
  const ordered = sids.toSorted();
  if (dialect.nameLocks === undefined || ordered.length === 0) return ordered;
  const { rows } = await dialect.nameLocks.free(ordered).sql.execute(db);
  return rows.map(({ name }) => name);
}

type ConnectionRow = UsedConnection & { readonly roomSid: string };

/** Reads the connections that lasted beyond `since`. */
async function readConnections(
  { db, dialect }: Database,
  sids: readonly string[],
  since: number,
): Promise<ReadonlyMap<string, readonly ConnectionRow[]>> {
  const read = (lasted: RawBuilder<unknown>) => sql`
    select "roomSid", identity, "joinedAt", "leftAt", "accessRole", "keyId", sid
    from ${sql.table('participantSessions')}
    where "roomSid" ${dialect.oneOf(sids)} and ${lasted} and "countsAs" = 'participant' and "joinedAt" is not null`;
  // Each part uses the index of rooms and departures.
  const { rows } = await sql<ConnectionRow>`
    ${read(sql`"leftAt" is null`)} union all ${read(sql`"leftAt" >= ${since}`)}
    order by "joinedAt", sid`.execute(db);
  return Map.groupBy(rows, ({ roomSid }) => roomSid);
}

/** The recordings and transcriptions of a session count for its key. */
async function nameKeys({ db, dialect }: Database, rows: readonly UsageRow[]): Promise<void> {
  const sids = [...new Set(rows.map(({ roomSid }) => roomSid))];
  await sql`
    update usage set "keyId" = coalesce((
      select known."keyId" from usage as known where known."sourceId" = usage."roomSid" and known.kind = 'room' limit 1
    ), '') where "roomSid" ${dialect.oneOf(sids)} and "keyId" = ''`.execute(db);
}

async function listGroups({ db, dialect }: Connection, query: UsageRequest): Promise<readonly UsageSums[]> {
  const { from, to, by, room, prefix, rooms, after, limit } = query;
  const group = groupExpression(dialect.engine, by);
  const conditions = [
    sql`day >= ${from} and day < ${to}`,
    ...(room === undefined ? [] : [sql`room = ${sanitizeText(room)}`]),
    ...(prefix === undefined ? [] : [beginsWith(sql`room`, [sanitizeText(prefix)])]),
    ...(rooms === undefined ? [] : [beginsWith(sql`room`, rooms)]),
    ...(after === undefined ? [] : [sql`${group} > ${after}`]),
  ];
  const sum = (kind: string, role?: string): RawBuilder<number> => {
    const ofRole = role === undefined ? sql`` : sql` and role = ${sql.lit(role)}`;
    return sql`cast(sum(case when kind = ${sql.lit(kind)}${ofRole} then ms else 0 end) as bigint)`;
  };
  const { rows } = await sql<UsageSums>`
    select ${group} as "group", ${sum('participant')} as participant, ${sum('participant', 'host')} as host,
      ${sum('participant', 'moderator')} as moderator, ${sum('participant', 'participant')} as "participantRole",
      ${sum('participant', 'viewer')} as viewer, ${sum('room')} as room, ${sum('recording')} as recording,
      ${sum('transcription')} as transcription, ${sum('broadcast')} as broadcast, ${sum('ingress')} as ingress,
      max(peak) as peak, cast(sum(bytes) as bigint) as bytes, max(day) as "lastDay", min("isFinal") as "isFinal"
    from usage where ${sql.join(conditions, sql` and `)} group by 1 order by 1 limit ${limit}`.execute(db);
  return rows;
}

function groupExpression(engine: 'SQLite' | 'PostgreSQL', by: UsageRequest['by']): RawBuilder<string> {
  switch (by) {
    case 'day':
    case 'month':
      return formatDay(engine, by);
    case 'room':
      return sql`room`;
    case 'prefix':
      return sql`prefix`;
    case 'key':
      return sql`"keyId"`;
    case 'total':
      return sql`''`;
  }
}

function formatDay(engine: 'SQLite' | 'PostgreSQL', by: 'day' | 'month'): RawBuilder<string> {
  const isDay = by === 'day';
  if (engine === 'SQLite')
    return sql`strftime(${sql.lit(isDay ? '%Y-%m-%d' : '%Y-%m')}, day / 1000, 'unixepoch')`;
  const pattern = sql.lit(isDay ? 'YYYY-MM-DD' : 'YYYY-MM');
  return sql`to_char(to_timestamp(day / 1000) at time zone 'UTC', ${pattern}) collate "C"`;
}
