import { setImmediate } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { PROBE_ROOM_PREFIX } from '../../contract/names.ts';
import { hasJoined, isPresent, ROOM_COLUMNS } from '../events/event-context.sql.ts';
import type { RoomSession } from '../events/store.ts';
import { splitByWeight } from '../platform/jobs/concurrently.ts';
import { beginsWith, isBehind, sanitizeText, withinRooms } from '../platform/storage/statements.ts';
import type { Connection } from '../schema/tables.ts';
import { countPeak, type Presence, Stays } from '../usage/spans.ts';
import { STREAM_ROLE } from '../usage/usage-rows.ts';
import type {
  ConnectionQuery,
  OpenQuery,
  ParticipantConnection,
  SessionQuery,
  SessionRow,
  SessionStore,
} from './store.ts';

export function createSessionStore(connection: Connection): SessionStore {
  return {
    list: (query) => listSessions(connection, query),
    find: async (sid, now) => {
      const found = connection.db
        .selectFrom('roomSessions')
        .select(ROOM_COLUMNS)
        .where('sid', '=', sanitizeText(sid))
        .where(isTold);
      return (await withFigures(connection, await found.execute(), now))[0];
    },
    listConnections: (query) => listConnections(connection, query),
    countOpen: (query) => countOpen(connection, query),
    countPresent: (query) => countPresent(connection, query),
    isOpen: async (room) => {
      const open = connection.db.selectFrom('roomSessions').select('sid').where('endedAt', 'is', null);
      const found = open.where('name', '=', sanitizeText(room)).where(isTold).limit(1);
      return (await found.executeTakeFirst()) !== undefined;
    },
  };
}

async function countOpen({ db }: Connection, { rooms, except = '', limit }: OpenQuery): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (
      select 1 from "roomSessions" where "endedAt" is null and ${beginsWith(sql`name`, rooms)} and ${isTold}
        and name <> ${sanitizeText(except)} limit ${limit}
    ) as found`.execute(db);
  return Number(rows[0]?.count);
}

async function countPresent(
  { db }: Connection,
  { rooms, except = '', identity = '', limit }: Parameters<SessionStore['countPresent']>[0],
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (
      select 1 from "roomSessions" join "participantSessions" as present on present."roomSid" = "roomSessions".sid
      where "endedAt" is null and ${beginsWith(sql`"roomSessions".name`, rooms)} and ${isPresent}
        and not ("roomSessions".name = ${sanitizeText(except)} and identity = ${sanitizeText(identity)})
      limit ${limit}
    ) as found`.execute(db);
  return Number(rows[0]?.count);
}

async function listSessions(connection: Connection, query: SessionQuery): Promise<readonly SessionRow[]> {
  const { room, rooms, status, since, until, after, limit, now } = query;
  let select = connection.db.selectFrom('roomSessions').select(ROOM_COLUMNS).where(isNoProbe()).where(isTold);
  if (room !== undefined) select = select.where('name', '=', sanitizeText(room));
  if (rooms !== undefined) {
    const listed = { table: 'roomSessions', key: 'sid', room: 'name' };
    select = select.where((await withinRooms(connection, listed, rooms)).condition);
  }
  if (status !== undefined) select = select.where('endedAt', status === 'open' ? 'is' : 'is not', null);
  if (since !== undefined) select = select.where('createdAt', '>=', since);
  if (until !== undefined) select = select.where('createdAt', '<', until);
  select = select.where(isBehind(['createdAt', 'sid'], '<', after && [after.createdAt, after.id]));
  const sessions = await select.orderBy('createdAt', 'desc').orderBy('sid', 'desc').limit(limit).execute();
  return await withFigures(connection, sessions, now);
}

/** A session without an event belongs to a room that was opened although it is closed, and is not told. */
const isTold = sql<boolean>`sequence > 0`;

function isNoProbe(): RawBuilder<boolean> {
  return sql<boolean>`substr(name, 1, ${PROBE_ROOM_PREFIX.length}) <> ${PROBE_ROOM_PREFIX}`;
}

async function withFigures(
  connection: Connection,
  sessions: readonly RoomSession[],
  now: number,
): Promise<readonly SessionRow[]> {
  const figures = await readFigures(connection, { sids: sessions.map(({ sid }) => sid), now });
  return sessions.map(({ sid, name, createdAt, startedAt, endedAt, metadata }) => {
    const known = figures.get(sid);
    return {
      sid,
      name,
      createdAt,
      endedAt,
      metadata,
      startedAt: known?.firstJoinedAt ?? startedAt,
      totalParticipants: known?.totalParticipants ?? 0,
      peakParticipants: known?.peakParticipants ?? 0,
      participantMs: known?.participantMs ?? 0,
    };
  });
}

function listConnections(
  { db }: Connection,
  { roomSid, limit, after }: ConnectionQuery,
): Promise<readonly ParticipantConnection[]> {
  return db
    .selectFrom('participantSessions')
    .select(['sid', 'identity', 'name', 'accessRole', 'joinedAt', 'leftAt'])
    .where('roomSid', '=', sanitizeText(roomSid))
    .where(hasJoined)
    .$narrowType<{ joinedAt: number }>()
    .where(isBehind(['joinedAt', 'sid'], '>', after && [after.createdAt, after.id]))
    .orderBy('joinedAt')
    .orderBy('sid')
    .limit(limit)
    .execute();
}

/** Connections that are read in one step: on SQLite nothing else runs during a step. */
const ROWS_AT_ONCE = 5_000;

type FigureQuery = { readonly sids: readonly string[]; readonly now: number };

type Row = Connected & { readonly roomSid: string; readonly sid: string };

/** Reads the figures of several sessions, by their sids. A session without participants is not in the map. */
async function readFigures(
  connection: Connection,
  { sids, now }: FigureQuery,
): Promise<ReadonlyMap<string, SessionFigures>> {
  const tallies = new Map<string, SessionTally>();
  for (const chunk of await splitIntoChunks(connection, sids)) {
    let page: readonly Row[] = [];
    do {
      page = await readConnections(connection, chunk, page.at(-1));
      for (const row of page) {
        const tally = tallies.get(row.roomSid) ?? new SessionTally();
        tallies.set(row.roomSid, tally.add(row));
      }
      await setImmediate();
    } while (page.length === ROWS_AT_ONCE);
  }
  const figures = new Map<string, SessionFigures>();
  for (const [sid, tally] of tallies) {
    const known = tally.figures(now);
    if (known !== undefined) figures.set(sid, known);
  }
  return figures;
}

/** Splits the sids into chunks that each have fewer than ROWS_AT_ONCE connections, or one session. */
async function splitIntoChunks(
  { db, dialect }: Connection,
  sids: readonly string[],
): Promise<readonly (readonly string[])[]> {
  if (sids.length === 0) return [];
  const { rows } = await sql<{ roomSid: string; count: number }>`
    select "roomSid", count(*) as count from ${sql.table('participantSessions')}
    where "roomSid" ${dialect.oneOf(sids)} group by "roomSid"`.execute(db);
  const chunks = splitByWeight(rows, ({ count }) => count, ROWS_AT_ONCE - 1);
  return chunks.map((chunk) => chunk.map(({ roomSid }) => roomSid));
}

/**
 * Reads the connections of a chunk, at most ROWS_AT_ONCE; `after` is the last row of the page before. Only a chunk of one
 * session has several pages, in the order of an index.
 */
async function readConnections(
  { db, dialect }: Connection,
  sids: readonly string[],
  after: Row | undefined,
): Promise<readonly Row[]> {
  const [sid] = sids;
  const rooms = sids.length === 1 ? sql`= ${sid}` : dialect.oneOf(sids);
  const rest =
    after === undefined
      ? sql``
      : sql`and (identity, "joinedAt", sid) > (${after.identity}, ${after.joinedAt}, ${after.sid})`;
  const { rows } = await sql<Row>`
    select "roomSid", sid, identity, "joinedAt", "leftAt", "accessRole" from ${sql.table('participantSessions')}
    where "roomSid" ${rooms} and ${hasJoined} ${rest}
    order by identity, "joinedAt", sid limit ${ROWS_AT_ONCE}`.execute(db);
  return rows;
}

/** Figures of a session that had participants. */
type SessionFigures = {
  readonly firstJoinedAt: number;
  readonly totalParticipants: number;
  readonly peakParticipants: number;
  readonly participantMs: number;
};

type Connected = Presence & { readonly accessRole: string | null };

/**
 * Computes the figures of one session from its connections, of which those of one identity are added in their order. A stream
 * into the room opens it and is nobody, as in usage.
 */
export class SessionTally {
  readonly #stays = new Stays<Presence>();
  #firstJoinedAt = Number.POSITIVE_INFINITY;

  add(connection: Connected): this {
    this.#firstJoinedAt = Math.min(this.#firstJoinedAt, connection.joinedAt);
    if (connection.accessRole !== STREAM_ROLE) this.#stays.add(connection);
    return this;
  }

  /** Returns undefined without connections. `now` is the end of connections that still last. */
  figures(now: number): SessionFigures | undefined {
    const { spans, identities } = this.#stays;
    if (this.#firstJoinedAt === Number.POSITIVE_INFINITY) return undefined;
    return {
      firstJoinedAt: this.#firstJoinedAt,
      totalParticipants: identities,
      peakParticipants: countPeak(spans),
      participantMs: spans.reduce(
        (sum, { from, to }) => sum + Math.max(0, (to === Number.POSITIVE_INFINITY ? now : to) - from),
        0,
      ),
    };
  }
}
