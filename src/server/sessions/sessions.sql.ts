import { setImmediate } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { PROBE_ROOM_PREFIX } from '../../contract/names.ts';
import type { RoomSession } from '../events/store.ts';
import { sanitizeText } from '../platform/storage/statements.ts';
import type { Connection } from '../schema/tables.ts';
import type {
  ConnectionQuery,
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
        .selectAll()
        .where('sid', '=', sanitizeText(sid))
        .where(isTold);
      return (await withFigures(connection, await found.execute(), now))[0];
    },
    listConnections: (query) => listConnections(connection, query),
  };
}

async function listSessions(connection: Connection, query: SessionQuery): Promise<readonly SessionRow[]> {
  const { room, status, since, until, after, limit, now } = query;
  let select = connection.db.selectFrom('roomSessions').selectAll().where(isNoProbe()).where(isTold);
  if (room !== undefined) select = select.where('name', '=', sanitizeText(room));
  if (status !== undefined) select = select.where('endedAt', status === 'open' ? 'is' : 'is not', null);
  if (since !== undefined) select = select.where('createdAt', '>=', since);
  if (until !== undefined) select = select.where('createdAt', '<', until);
  if (after !== undefined) {
    select = select.where((row) =>
      row(row.refTuple('createdAt', 'sid'), '<', row.tuple(after.createdAt, after.id)),
    );
  }
  const sessions = await select.orderBy('createdAt', 'desc').orderBy('sid', 'desc').limit(limit).execute();
  return await withFigures(connection, sessions, now);
}

/** A session without an event is that of a room that was opened although it is closed, and is not told. */
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
      ...{ sid, name, createdAt, endedAt, metadata },
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
  let select = db
    .selectFrom('participantSessions')
    .select(['sid', 'identity', 'name', 'accessRole', 'joinedAt', 'leftAt'])
    .where('roomSid', '=', sanitizeText(roomSid))
    .where('role', '=', 'participant')
    .where('joinedAt', 'is not', null)
    .$narrowType<{ joinedAt: number }>();
  if (after !== undefined) {
    select = select.where((row) =>
      row(row.refTuple('joinedAt', 'sid'), '>', row.tuple(after.createdAt, after.id)),
    );
  }
  return select.orderBy('joinedAt').orderBy('sid').limit(limit).execute();
}

/** Connections that are read in one step: on SQLite nothing else runs during a step. */
const ROWS_AT_ONCE = 5_000;

type FigureQuery = { readonly sids: readonly string[]; readonly now: number };

type Row = Presence & { readonly roomSid: string };

/** Reads the figures of several sessions, by their sids. A session without participants is not in the map. */
async function readFigures(
  connection: Connection,
  { sids, now }: FigureQuery,
): Promise<ReadonlyMap<string, SessionFigures>> {
  const figures = new Map<string, SessionFigures>();
  for (const chunk of await splitIntoChunks(connection, sids)) {
    const connections = new Map<string, Presence[]>();
    for (const row of await readConnections(connection, chunk)) {
      const ofRoom = connections.get(row.roomSid);
      if (ofRoom === undefined) connections.set(row.roomSid, [row]);
      else ofRoom.push(row);
    }
    for (const [sid, ofRoom] of connections) {
      const known = computeFigures(ofRoom, now);
      if (known !== undefined) figures.set(sid, known);
    }
    await setImmediate();
  }
  return figures;
}

/** Splits the sids into chunks that each have ROWS_AT_ONCE connections, or one session. */
async function splitIntoChunks(
  { db, dialect }: Connection,
  sids: readonly string[],
): Promise<readonly (readonly string[])[]> {
  if (sids.length === 0) return [];
  const { rows } = await sql<{ roomSid: string; count: number }>`
    select "roomSid", count(*) as count from ${sql.table('participantSessions')}
    where "roomSid" ${dialect.oneOf(sids)} group by "roomSid"`.execute(db);
  const chunks: string[][] = [];
  let taken = Number.POSITIVE_INFINITY;
  for (const { roomSid, count } of rows) {
    taken += count;
    if (taken > ROWS_AT_ONCE) {
      chunks.push([]);
      taken = count;
    }
    chunks.at(-1)?.push(roomSid);
  }
  return chunks;
}

async function readConnections(
  { db, dialect }: Connection,
  sids: readonly string[],
): Promise<readonly Row[]> {
  const { rows } = await sql<Row>`
    select "roomSid", identity, "joinedAt", "leftAt" from ${sql.table('participantSessions')}
    where "roomSid" ${dialect.oneOf(sids)} and role = 'participant' and "joinedAt" is not null
    order by "joinedAt"`.execute(db);
  return rows;
}

/** Figures of a session that had participants. */
type SessionFigures = {
  readonly firstJoinedAt: number;
  readonly totalParticipants: number;
  readonly peakParticipants: number;
  readonly participantMs: number;
};

/** One connection of an identity. */
type Presence = {
  readonly identity: string;
  readonly joinedAt: number;
  readonly leftAt: number | null;
};

type Span = { readonly from: number; to: number };

/**
 * Computes the figures of one session from its connections, in the order in which they began. The connections of one
 * identity are merged when they overlap or touch, because LiveKit removes the older of two only after the newer one has
 * joined. Then each join adds one and each leave subtracts one, in the order of time, leaves first. `now` is the end of
 * connections that still last.
 */
export function computeFigures(connections: readonly Presence[], now: number): SessionFigures | undefined {
  const [first] = connections;
  if (first === undefined) return undefined;
  const spans: Span[] = [];
  const lastSpans = new Map<string, Span>();
  for (const { identity, joinedAt: from, leftAt } of connections) {
    // Participants who are present are included, even if the media server's clock is ahead of ours.
    const to = Math.max(from, leftAt ?? Number.POSITIVE_INFINITY);
    const last = lastSpans.get(identity);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else {
      const span = { from, to };
      lastSpans.set(identity, span);
      spans.push(span);
    }
  }
  return {
    firstJoinedAt: first.joinedAt,
    totalParticipants: lastSpans.size,
    peakParticipants: countPeak(spans),
    participantMs: spans.reduce(
      (sum, { from, to }) => sum + Math.max(0, (to === Number.POSITIVE_INFINITY ? now : to) - from),
      0,
    ),
  };
}

/**
 * The spans are ordered by their beginnings. A participant who left in the instant of joining was present for a moment
 * nevertheless.
 */
function countPeak(spans: readonly Span[]): number {
  const ends = spans.map(({ from, to }) => Math.max(to, from + 1)).sort((one, other) => one - other);
  let peak = 0;
  let gone = 0;
  for (const [index, { from }] of spans.entries()) {
    while ((ends[gone] ?? Number.POSITIVE_INFINITY) <= from) gone += 1;
    peak = Math.max(peak, index + 1 - gone);
  }
  return peak;
}
