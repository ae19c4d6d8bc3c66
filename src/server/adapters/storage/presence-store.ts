import { sql } from 'kysely';
import type { ParticipantSession, PresenceStore, RoomSession } from '../../ports/event-store.ts';
import type { Connection } from './engine.ts';
import { storableText } from './storable-text.ts';

/** Bounds how long one deletion keeps others waiting. */
const PARTICIPANTS_AT_ONCE = 1000;

export function createPresenceStore(connection: Connection): PresenceStore {
  const { db } = connection;
  return {
    lockRoom: (sid) => lockRoom(connection, sid),
    saveRoom: (session) => saveRoom(connection, session),
    listOpenRooms: () =>
      db.selectFrom('roomSessions').selectAll().where('endedAt', 'is', null).orderBy('sid').execute(),
    findRoomAt: (name, at) =>
      db
        .selectFrom('roomSessions')
        .selectAll()
        .where('name', '=', storableText(name))
        .where('createdAt', '<=', at)
        .orderBy('createdAt', 'desc')
        .limit(1)
        .executeTakeFirst(),
    findParticipant: (sid) =>
      db.selectFrom('participantSessions').selectAll().where('sid', '=', sid).executeTakeFirst(),
    saveParticipant: (session) => saveParticipant(connection, session),
    listPresent: (roomSid) =>
      present(connection, roomSid).selectAll().orderBy('joinedAt').orderBy('sid').execute(),
    countPresent: async (roomSid) => {
      const count = present(connection, roomSid).select((row) => row.fn.countAll<number>().as('count'));
      return (await count.executeTakeFirstOrThrow()).count;
    },
    purge: (before, limit) => purgeRooms(connection, before, limit),
  };
}

/** A room that has no row yet is locked by its name: two instances may see its first events at once. */
async function lockRoom({ db, forms }: Connection, sid: string): Promise<RoomSession | undefined> {
  const known = await selectLocked();
  if (known !== undefined) return known;
  await forms.lockName(db, sid);
  return selectLocked();

  async function selectLocked() {
    const found = await sql<RoomSession>`
      select * from ${sql.table('roomSessions')} where sid = ${sid} ${forms.lockRows}`.execute(db);
    return found.rows[0];
  }
}

async function saveRoom({ db }: Connection, session: RoomSession): Promise<void> {
  const { sid, ...others } = session;
  const rest = { ...others, name: storableText(session.name) };
  await db
    .insertInto('roomSessions')
    .values({ sid, ...rest })
    .onConflict((conflict) => conflict.column('sid').doUpdateSet(rest))
    .execute();
}

async function saveParticipant({ db }: Connection, session: ParticipantSession): Promise<void> {
  const { sid, ...others } = session;
  const rest = { ...others, name: storableText(session.name), identity: storableText(session.identity) };
  await db
    .insertInto('participantSessions')
    .values({ sid, ...rest })
    .onConflict((conflict) => conflict.column('sid').doUpdateSet(rest))
    .execute();
}

function present({ db }: Connection, roomSid: string) {
  return db
    .selectFrom('participantSessions')
    .where('roomSid', '=', roomSid)
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
  while ((await deleteParticipants(connection, sids)) === PARTICIPANTS_AT_ONCE);
  return deleteRooms(connection, sids, before);
}

async function deleteParticipants({ db, forms }: Connection, roomSids: readonly string[]): Promise<number> {
  const deleted = await sql`
    delete from ${sql.table('participantSessions')} where sid in (
      select sid from ${sql.table('participantSessions')} where "roomSid" ${forms.oneOf(roomSids)}
      limit ${PARTICIPANTS_AT_ONCE}
    )`.execute(db);
  return Number(deleted.numAffectedRows ?? 0);
}

/** A room to which something came in the meantime stays for the next time. */
async function deleteRooms(
  { db, forms }: Connection,
  sids: readonly string[],
  before: number,
): Promise<number> {
  const deleted = await sql`
    delete from ${sql.table('roomSessions')} where sid ${forms.oneOf(sids)} and "endedAt" < ${before}
    and not exists (
      select 1 from ${sql.table('participantSessions')} as one where one."roomSid" = ${sql.ref('roomSessions.sid')}
    )`.execute(db);
  return Number(deleted.numAffectedRows ?? 0);
}
