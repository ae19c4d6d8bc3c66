import { type RawBuilder, sql } from 'kysely';
import type { LockedName, SqlDialect, Statement } from '../platform/storage/engine.ts';
import { columnList, sanitizeText } from '../platform/storage/statements.ts';
import type { Connection } from '../schema/tables.ts';
import {
  isPresent,
  lockAndRead,
  PARTICIPANT_TYPES,
  ROOM_COLUMNS,
  ROOM_TYPES,
  TRACK_TYPES,
} from './event-context.sql.ts';
import type {
  ChangedPresence,
  LockedRooms,
  ParticipantSession,
  PresenceStore,
  PublishedTrack,
  RoomSession,
} from './store.ts';

export function createPresenceStore(connection: Connection): PresenceStore {
  const { db } = connection;
  return {
    lockRoom: async (sid) => (await lockRooms(connection, [sid]))[0],
    lockRooms: (sids) => lockRooms(connection, sids),
    lockFreeRooms: (sids) => lockFreeRooms(connection, sids),
    lockAndRead: (subjects, rooms) => lockAndRead(connection, subjects, rooms),
    saveRoom: (session) => saveRooms(connection, [session]),
    saveRooms: (sessions) => saveRooms(connection, sessions),
    ...createRoomQueries(connection),
    findRoomAt: (name, at) => findRoomAt(connection, name, at),
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
    countPresentIn: (roomSids) => countPresentIn(connection, roomSids),
    listPresentIn: (roomSids) =>
      selectPresent(connection, sql<boolean>`"roomSid" ${connection.dialect.oneOf(roomSids)}`)
        .selectAll()
        .orderBy('joinedAt')
        .orderBy('sid')
        .execute(),
    readLastLeavings: (roomSids) => readLastLeavings(connection, roomSids),
    ...createTrackQueries(connection),
    saveAtCommit: (changed) => saveAtCommit(connection, changed),
    purge: (before, limit) => purgeRooms(connection, before, limit),
  };
}

function createRoomQueries({ db }: Connection) {
  return {
    isAnyRoomOpen: async () => {
      const open = db.selectFrom('roomSessions').select('sid').where('endedAt', 'is', null).limit(1);
      return (await open.executeTakeFirst()) !== undefined;
    },
    saveMetadata: async (sid, metadata) => {
      await db.updateTable('roomSessions').set({ metadata }).where('sid', '=', sid).execute();
    },
    listOpenRooms: () =>
      db
        .selectFrom('roomSessions')
        .select(['sid', 'name', 'createdAt', 'startedAt', 'endedAt', 'sequence'])
        .where('endedAt', 'is', null)
        .orderBy('sid')
        .execute(),
    listOpened: async (since, limit) => {
      const newest = db.selectFrom('roomSessions').select('name').where('createdAt', '>=', since);
      const rows = await newest.orderBy('createdAt', 'desc').limit(limit).execute();
      return rows.map(({ name }) => name);
    },
  } satisfies Partial<PresenceStore>;
}

async function findRoomAt({ db }: Connection, name: string, at: number): Promise<RoomSession | undefined> {
  return await db
    .selectFrom('roomSessions')
    .select(ROOM_COLUMNS)
    .where('name', '=', sanitizeText(name))
    .where('createdAt', '<=', at)
    .orderBy('createdAt', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/**
 * Locks rooms by name, because a room that is not stored yet has no row and two instances may receive its first events at
 * once. A purge locks the names of the rooms that it deletes.
 */
async function lockRooms(connection: Connection, sids: readonly string[]): Promise<readonly RoomSession[]> {
  return (await lock(connection, sids, 'all')).sessions;
}

function lockFreeRooms(connection: Connection, sids: readonly string[]): Promise<LockedRooms> {
  return lock(connection, sids, 'free');
}

async function lock(
  { db, dialect, readTogether }: Connection,
  sids: readonly string[],
  which: 'all' | 'free',
): Promise<LockedRooms> {
  if (sids.length === 0) return { sessions: [], busy: new Set() };
  const ordered = sids.toSorted();
  const select: Statement<RoomSession> = {
    sql: sql`select ${columnList(ROOM_COLUMNS)} from ${sql.table('roomSessions')} where sid ${dialect.oneOf(ordered)} order by sid`,
  };
  const locks = dialect.nameLocks?.[which](ordered);
  if (locks === undefined) return { sessions: (await select.sql.execute(db)).rows, busy: new Set() };
  const statements: readonly Statement<LockedName | RoomSession>[] = [locks, select];
  const [locked = [], found = []] = await readTogether(db, statements);
  const free = new Set((locked as readonly LockedName[]).map(({ name }) => name));
  return {
    sessions: (found as readonly RoomSession[]).filter(({ sid }) => free.has(sid)),
    busy: new Set(sids.filter((sid) => !free.has(sid))),
  };
}

async function saveAtCommit(
  { atomically, dialect, runAtCommit }: Connection,
  { rooms, participants, tracks }: ChangedPresence,
): Promise<void> {
  const statements: readonly Statement<unknown>[] = [
    ...(participants.length === 0 ? [] : [savedParticipants(dialect, participants)]),
    ...(tracks.length === 0 ? [] : [savedTracks(dialect, tracks)]),
    ...(rooms.length === 0 ? [] : [savedRooms(dialect, rooms)]),
  ];
  if (statements.length > 0) await atomically((db) => runAtCommit(db, statements));
}

async function saveRooms({ db, dialect }: Connection, sessions: readonly RoomSession[]): Promise<void> {
  if (sessions.length > 0) await savedRooms(dialect, sessions).sql.execute(db);
}

function savedRooms(dialect: SqlDialect, sessions: readonly RoomSession[]): Statement<unknown> {
  const rows = dialect.rows(
    sessions.map((session) => ({ ...session, name: sanitizeText(session.name) })),
    ROOM_TYPES,
  );
  const columns = columnList(Object.keys(ROOM_TYPES));
  return {
    name: 'save-rooms',
    // With `where true` SQLite does not take the following `on` for a condition of a join.
    sql: sql`
      insert into ${sql.table('roomSessions')} (${columns}, "settleAt") select ${columns}, 0 from ${rows} as listed where true
      on conflict (sid) do update set name = excluded.name, "createdAt" = excluded."createdAt",
        "startedAt" = excluded."startedAt", "endedAt" = excluded."endedAt", sequence = excluded.sequence,
        metadata = coalesce(excluded.metadata, ${sql.ref('roomSessions.metadata')}),
        "settleAt" = case when ${sql.ref('roomSessions.settleAt')} < 0 then ${PURGED}
          when excluded."endedAt" is null then coalesce(${sql.ref('roomSessions.settleAt')}, 0) else 0 end`,
  };
}

async function saveParticipants(
  { db, dialect }: Connection,
  sessions: readonly ParticipantSession[],
): Promise<void> {
  if (sessions.length > 0) await savedParticipants(dialect, sessions).sql.execute(db);
}

function savedParticipants(dialect: SqlDialect, sessions: readonly ParticipantSession[]): Statement<unknown> {
  const rows = dialect.rows(
    sessions.map((session) => ({
      ...session,
      name: sanitizeText(session.name),
      identity: sanitizeText(session.identity),
      metadata: session.metadata && sanitizeText(session.metadata),
      accessRole: session.accessRole && sanitizeText(session.accessRole),
    })),
    PARTICIPANT_TYPES,
  );
  const columns = columnList(Object.keys(PARTICIPANT_TYPES));
  return {
    name: 'save-participants',
    sql: sql`
      insert into ${sql.table('participantSessions')} (${columns}) select ${columns} from ${rows} as listed where true
      on conflict (sid) do update set "roomSid" = excluded."roomSid", identity = excluded.identity,
        name = excluded.name, "countsAs" = excluded."countsAs", "joinedAt" = excluded."joinedAt", "leftAt" = excluded."leftAt",
        metadata = excluded.metadata, "accessRole" = excluded."accessRole",
        "untoldUntil" = excluded."untoldUntil",
        "keyId" = coalesce(excluded."keyId", ${sql.ref('participantSessions.keyId')})`,
  };
}

async function countPresentIn(
  { db, dialect }: Connection,
  roomSids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ roomSid: string; count: number }>`
    select "roomSid", count(*) as count from ${sql.table('participantSessions')}
    where "roomSid" ${dialect.oneOf(roomSids)} and ${isPresent}
    group by "roomSid"`.execute(db);
  return new Map(rows.map(({ roomSid, count }) => [roomSid, count]));
}

async function readLastLeavings(
  { db, dialect }: Connection,
  roomSids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (roomSids.length === 0) return new Map();
  const { rows } = await sql<{ roomSid: string; lastAt: number }>`
    select "roomSid", max("leftAt") as "lastAt" from ${sql.table('participantSessions')}
    where "roomSid" ${dialect.oneOf(roomSids)} and "leftAt" is not null group by "roomSid"`.execute(db);
  return new Map(rows.map(({ roomSid, lastAt }) => [roomSid, lastAt]));
}

function present(connection: Connection, roomSid: string) {
  return selectPresent(connection, sql<boolean>`"roomSid" = ${roomSid}`);
}

function selectPresent({ db }: Connection, rooms: RawBuilder<boolean>) {
  return db
    .selectFrom('participantSessions')
    .where(rooms)
    .where('countsAs', '=', 'participant')
    .where('leftAt', 'is', null)
    .where('joinedAt', 'is not', null);
}

/** `settleAt` of a session whose details are being deleted: an event that comes now must not count what is left of them. */
const PURGED = sql.lit(-1);

async function purgeRooms(connection: Connection, before: number, limit: number): Promise<number> {
  const sids = await beginPurge(connection, before, limit);
  for (const table of ['publishedTracks', 'participantSessions'] as const)
    while ((await deleteDetails(connection, table, sids)) === ROWS_AT_ONCE);
  return deleteRooms(connection, sids, before);
}

/** Chooses rooms that ended before `before`. Those whose usage is not complete are kept until the next purge. */
function beginPurge(connection: Connection, before: number, limit: number): Promise<readonly string[]> {
  const { atomically, dialect } = connection;
  const isCounted = sql<boolean>`("settleAt" is null or "settleAt" = ${PURGED})`;
  return atomically(async (db) => {
    const ended = await db
      .selectFrom('roomSessions')
      .select('sid')
      .where('endedAt', '<', before)
      .where(isCounted)
      .orderBy('endedAt')
      .limit(limit)
      .execute();
    const listed = ended.map(({ sid }) => sid);
    const { sessions } = await lock({ ...connection, db }, listed, 'free');
    const { rows } = await sql<{ readonly sid: string }>`
      update ${sql.table('roomSessions')} set "settleAt" = ${PURGED}
      where sid ${dialect.oneOf(sessions.map(({ sid }) => sid))} and "endedAt" < ${before} and ${isCounted}
      returning sid`.execute(db);
    return rows.map(({ sid }) => sid);
  });
}

/** Deletes tracks or participants of these rooms, at most ROWS_AT_ONCE; returns their number. */
async function deleteDetails(
  { db, dialect }: Connection,
  table: 'publishedTracks' | 'participantSessions',
  roomSids: readonly string[],
): Promise<number> {
  const deleted = await sql`
    delete from ${sql.table(table)} where sid in (
      select sid from ${sql.table(table)} where "roomSid" ${dialect.oneOf(roomSids)} limit ${ROWS_AT_ONCE}
    )`.execute(db);
  return Number(deleted.numAffectedRows ?? 0);
}

/** Deletes rooms. A room that received an event in the meantime, or is locked at the moment, is kept until the next purge. */
function deleteRooms(connection: Connection, sids: readonly string[], before: number): Promise<number> {
  const { atomically, dialect } = connection;
  return atomically(async (db) => {
    const { sessions } = await lock({ ...connection, db }, sids, 'free');
    const deleted = await sql`
      delete from ${sql.table('roomSessions')} where sid ${dialect.oneOf(sessions.map(({ sid }) => sid))}
      and "endedAt" < ${before} and not exists (
        select 1 from ${sql.table('participantSessions')} as one where one."roomSid" = ${sql.ref('roomSessions.sid')}
      )`.execute(db);
    return Number(deleted.numAffectedRows ?? 0);
  });
}

/** Limits the time for which one deletion makes other writers wait. */
const ROWS_AT_ONCE = 1000;

function createTrackQueries(connection: Connection) {
  const { db, dialect } = connection;
  return {
    findTracks: (sids) =>
      db
        .selectFrom('publishedTracks')
        .selectAll()
        .where(sql<boolean>`sid ${dialect.oneOf(sids)}`)
        .execute(),
    listPublishedTracks: (roomSids) =>
      db
        .selectFrom('publishedTracks')
        .selectAll()
        .where(sql<boolean>`"roomSid" ${dialect.oneOf(roomSids)}`)
        .where('unpublishedAt', 'is', null)
        .orderBy('publishedAt')
        .orderBy('sid')
        .execute(),
    saveTracks: (tracks) => saveTracks(connection, tracks),
    purgeTracks: (before, limit) => purgeTracks(connection, before, limit),
  } satisfies Partial<PresenceStore>;
}

async function saveTracks({ db, dialect }: Connection, tracks: readonly PublishedTrack[]): Promise<void> {
  if (tracks.length > 0) await savedTracks(dialect, tracks).sql.execute(db);
}

function savedTracks(dialect: SqlDialect, tracks: readonly PublishedTrack[]): Statement<unknown> {
  const rows = dialect.rows(tracks, TRACK_TYPES);
  const columns = columnList(Object.keys(TRACK_TYPES));
  return {
    name: 'save-tracks',
    // With `where true` SQLite does not take the following `on` for a condition of a join.
    sql: sql`
      insert into ${sql.table('publishedTracks')} (${columns}) select ${columns} from ${rows} as listed where true
      on conflict (sid) do update set track = excluded.track, "unpublishedAt" = excluded."unpublishedAt",
        "untoldUntil" = excluded."untoldUntil"`,
  };
}

async function purgeTracks({ db }: Connection, before: number, limit: number): Promise<number> {
  const tracks = sql.table('publishedTracks');
  const deleted = await sql`
    delete from ${tracks} where sid in (
      select sid from ${tracks} as one where "publishedAt" < ${before} and not exists (
        select 1 from ${sql.table('roomSessions')} as room where room.sid = one."roomSid" and room."endedAt" is null
      ) order by "publishedAt" limit ${limit}
    )`.execute(db);
  return Number(deleted.numAffectedRows ?? 0);
}
