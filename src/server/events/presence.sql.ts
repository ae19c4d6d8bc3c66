import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../platform/storage/engine.ts';
import { sanitizeText } from '../platform/storage/sanitize-text.ts';
import { createTrackQueries, deleteTracks, ROWS_AT_ONCE } from './published-tracks.sql.ts';
import type { LockedRooms, ParticipantSession, PresenceStore, RoomSession } from './store.ts';

export function createPresenceStore(connection: Connection): PresenceStore {
  const { db } = connection;
  return {
    lockRoom: async (sid) => (await lockRooms(connection, [sid]))[0],
    lockRooms: (sids) => lockRooms(connection, sids),
    lockFreeRooms: (sids) => lockFreeRooms(connection, sids),
    saveRoom: (session) => saveRooms(connection, [session]),
    saveRooms: (sessions) => saveRooms(connection, sessions),
    isAnyRoomOpen: async () => {
      const open = db.selectFrom('roomSessions').select('sid').where('endedAt', 'is', null).limit(1);
      return (await open.executeTakeFirst()) !== undefined;
    },
    listOpenRooms: () =>
      db.selectFrom('roomSessions').selectAll().where('endedAt', 'is', null).orderBy('sid').execute(),
    findRoomAt: (name, at) =>
      db
        .selectFrom('roomSessions')
        .selectAll()
        .where('name', '=', sanitizeText(name))
        .where('createdAt', '<=', at)
        .orderBy('createdAt', 'desc')
        .limit(1)
        .executeTakeFirst(),
    findParticipant: (sid) =>
      db.selectFrom('participantSessions').selectAll().where('sid', '=', sid).executeTakeFirst(),
    findParticipants: (sids) =>
      db
        .selectFrom('participantSessions')
        .selectAll()
        .where(sql<boolean>`sid ${connection.dialect.oneOf(sids)}`)
        .execute(),
    saveParticipant: (session) => saveParticipants(connection, [session]),
    saveParticipants: (sessions) => saveParticipants(connection, sessions),
    listPresent: (roomSid) =>
      present(connection, roomSid).selectAll().orderBy('joinedAt').orderBy('sid').execute(),
    countPresent: async (roomSid) => {
      const count = present(connection, roomSid).select((row) => row.fn.countAll<number>().as('count'));
      return (await count.executeTakeFirstOrThrow()).count;
    },
    countPresentOf: (roomSids) => countPresentOf(connection, roomSids),
    listPresentOf: (roomSids) =>
      presentOf(connection, sql<boolean>`"roomSid" ${connection.dialect.oneOf(roomSids)}`)
        .selectAll()
        .orderBy('joinedAt')
        .orderBy('sid')
        .execute(),
    ...createTrackQueries(connection),
    purge: (before, limit) => purgeRooms(connection, before, limit),
  };
}

/**
 * Locks rooms by name, because a room that is not stored yet has no row and two instances may receive its first events at
 * once. Locks the rows too, against a purge.
 */
async function lockRooms(
  { db, dialect }: Connection,
  sids: readonly string[],
): Promise<readonly RoomSession[]> {
  if (sids.length === 0) return [];
  const ordered = [...sids].sort();
  await dialect.lockNames(db, ordered);
  return await selectLocked({ db, dialect }, ordered);
}

async function lockFreeRooms({ db, dialect }: Connection, sids: readonly string[]): Promise<LockedRooms> {
  if (sids.length === 0) return { sessions: [], busy: new Set() };
  const free = new Set(await dialect.lockFreeNames(db, [...sids].sort()));
  const busy = new Set(sids.filter((sid) => !free.has(sid)));
  return { sessions: await selectLocked({ db, dialect }, [...free]), busy };
}

async function selectLocked(
  { db, dialect }: Pick<Connection, 'db' | 'dialect'>,
  sids: readonly string[],
): Promise<readonly RoomSession[]> {
  const found = await sql<RoomSession>`
    select * from ${sql.table('roomSessions')} where sid ${dialect.oneOf(sids)} order by sid ${dialect.lockRows}
  `.execute(db);
  return found.rows;
}

async function saveRooms({ db, dialect }: Connection, sessions: readonly RoomSession[]): Promise<void> {
  if (sessions.length === 0) return;
  const rows = dialect.rows(
    sessions.map((session) => ({ ...session, name: sanitizeText(session.name) })),
    {
      sid: 'text',
      name: 'text',
      createdAt: 'integer',
      startedAt: 'integer',
      endedAt: 'integer',
      sequence: 'integer',
    },
  );
  const columns = sql`sid, name, "createdAt", "startedAt", "endedAt", sequence`;
  // With `where true` SQLite does not take the following `on` for that of a join.
  await sql`
    insert into ${sql.table('roomSessions')} (${columns}) select ${columns} from ${rows} as listed where true
    on conflict (sid) do update set name = excluded.name, "createdAt" = excluded."createdAt",
      "startedAt" = excluded."startedAt", "endedAt" = excluded."endedAt", sequence = excluded.sequence
  `.execute(db);
}

async function saveParticipants(
  { db, dialect }: Connection,
  sessions: readonly ParticipantSession[],
): Promise<void> {
  if (sessions.length === 0) return;
  const rows = dialect.rows(
    sessions.map((session) => ({
      ...session,
      name: sanitizeText(session.name),
      identity: sanitizeText(session.identity),
      metadata: session.metadata && sanitizeText(session.metadata),
      accessRole: session.accessRole && sanitizeText(session.accessRole),
    })),
    {
      sid: 'text',
      roomSid: 'text',
      identity: 'text',
      name: 'text',
      role: 'text',
      joinedAt: 'integer',
      leftAt: 'integer',
      metadata: 'text',
      accessRole: 'text',
    },
  );
  const columns = sql`sid, "roomSid", identity, name, role, "joinedAt", "leftAt", metadata, "accessRole"`;
  await sql`
    insert into ${sql.table('participantSessions')} (${columns}) select ${columns} from ${rows} as listed where true
    on conflict (sid) do update set "roomSid" = excluded."roomSid", identity = excluded.identity,
      name = excluded.name, role = excluded.role, "joinedAt" = excluded."joinedAt", "leftAt" = excluded."leftAt",
      metadata = excluded.metadata, "accessRole" = excluded."accessRole"
  `.execute(db);
}

async function countPresentOf(
  { db, dialect }: Connection,
  roomSids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ roomSid: string; count: number }>`
    select "roomSid", count(*) as count from ${sql.table('participantSessions')}
    where "roomSid" ${dialect.oneOf(roomSids)} and role = 'participant' and "leftAt" is null and "joinedAt" is not null
    group by "roomSid"`.execute(db);
  return new Map(rows.map(({ roomSid, count }) => [roomSid, count]));
}

function present(connection: Connection, roomSid: string) {
  return presentOf(connection, sql<boolean>`"roomSid" = ${roomSid}`);
}

function presentOf({ db }: Connection, rooms: RawBuilder<boolean>) {
  return db
    .selectFrom('participantSessions')
    .where(rooms)
    .where('role', '=', 'participant')
    .where('leftAt', 'is', null)
    .where('joinedAt', 'is not', null);
}

async function purgeRooms(connection: Connection, before: number, limit: number): Promise<number> {
  const { db } = connection;
  const ended = await db
    .selectFrom('roomSessions')
    .select('sid')
    .where('endedAt', '<', before)
    .orderBy('endedAt')
    .limit(limit)
    .execute();
  const sids = ended.map((room) => room.sid);
  while ((await deleteTracks(connection, sids)) === ROWS_AT_ONCE);
  while ((await deleteParticipants(connection, sids)) === ROWS_AT_ONCE);
  return deleteRooms(connection, sids, before);
}

async function deleteParticipants({ db, dialect }: Connection, roomSids: readonly string[]): Promise<number> {
  const deleted = await sql`
    delete from ${sql.table('participantSessions')} where sid in (
      select sid from ${sql.table('participantSessions')} where "roomSid" ${dialect.oneOf(roomSids)}
      limit ${ROWS_AT_ONCE}
    )`.execute(db);
  return Number(deleted.numAffectedRows ?? 0);
}

/** Deletes rooms. A room that received an event in the meantime is kept until the next purge. */
async function deleteRooms(
  { db, dialect }: Connection,
  sids: readonly string[],
  before: number,
): Promise<number> {
  const deleted = await sql`
    delete from ${sql.table('roomSessions')} where sid ${dialect.oneOf(sids)} and "endedAt" < ${before}
    and not exists (
      select 1 from ${sql.table('participantSessions')} as one where one."roomSid" = ${sql.ref('roomSessions.sid')}
    )`.execute(db);
  return Number(deleted.numAffectedRows ?? 0);
}
