import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import { ServiceError } from '../../contract/errors.ts';
import { isBehind, withinRooms } from '../platform/storage/statements.ts';
import type { Connection, Tables } from '../schema/tables.ts';
import { hasClaimRunOut } from './lifecycle.ts';
import type {
  BroadcastRoom,
  EndedQuery,
  NewRecording,
  Recording,
  RecordingClaim,
  RecordingKind,
  RecordingQuery,
  RecordingStore,
} from './store.ts';

type Database = Kysely<Tables>;

/** Literals, not parameters: both engines use a partial index only when the query repeats its predicate literally. */
const isActive = sql<boolean>`status in ('starting', 'recording')`;
const isEnded = sql<boolean>`status not in ('starting', 'recording')`;

/** Maximum attempts. A room whose recording ends or is taken over between two reads is read again. */
const CLAIM_ROUNDS = 5;

export function createRecordingStore(connection: Connection): RecordingStore {
  const { db } = connection;
  return {
    claim: (recording, now) => claimRoom(db, recording, now),
    update: async (recording, change) => {
      const updated = await db
        .updateTable('recordings')
        .set(change)
        .where(isAsRead(recording))
        .returningAll()
        .executeTakeFirst();
      if (updated !== undefined) connection.changes.note(db, 'recordings');
      return updated;
    },
    release: async (recording) => {
      const result = await db
        .deleteFrom('recordings')
        .where('status', '=', 'starting')
        .where(isAsRead(recording))
        .executeTakeFirst();
      return result.numDeletedRows === 1n;
    },
    find: (id) => db.selectFrom('recordings').selectAll().where('id', '=', id).executeTakeFirst(),
    findActive: (room, kind) => findActive(db, room, kind),
    listActive: (rooms) => {
      const active = db.selectFrom('recordings').selectAll().where(isActive);
      return active.where(sql<boolean>`room ${connection.dialect.oneOf(rooms)}`).execute();
    },
    findNewest: async (room, kind) => (await listRecordings(connection, { room, kind, limit: 1 }))[0],
    findByEgressId: (egressId) =>
      db.selectFrom('recordings').selectAll().where('egressId', '=', egressId).executeTakeFirst(),
    list: (query) => listRecordings(connection, query),
    listOfSession: (roomSid, limit) => listOfSession(db, roomSid, limit),
    listBroadcasting: (rooms) => listBroadcasting(connection, rooms),
    isAnyActiveSince: async (since) => {
      const recordings = db.selectFrom('recordings').select('id');
      const recent = recordings.where('createdAt', '>', since).limit(1);
      const found = await recordings
        .where((row) => row.or([isActive, row.exists(recent)]))
        .limit(1)
        .executeTakeFirst();
      return found !== undefined;
    },
    listEnded: (query) => listEnded(db, query),
    delete: (id) => deleteRecording(connection, id),
  };
}

/** Each step is one atomic statement, so that no transaction is needed on either engine. */
async function claimRoom(db: Database, recording: NewRecording, now: number): Promise<RecordingClaim> {
  for (let round = 0; round < CLAIM_ROUNDS; round++) {
    const inserted = await insertUnlessActive(db, recording, now);
    if (inserted !== undefined) return { claimed: true, recording: inserted };
    const active = await findActive(db, recording.room, recording.kind ?? 'recording');
    if (active === undefined) continue;
    const mayTakeOver = active.id === recording.id && hasClaimRunOut(active, now);
    if (!mayTakeOver) return { claimed: false, recording: active };
    const taken = await takeOver(db, { from: active, recording, now });
    if (taken !== undefined) return { claimed: true, recording: taken };
  }
  throw new ServiceError('storage-unavailable', 'The recording of this room keeps changing; try again.', {
    retryable: true,
  });
}

function insertUnlessActive(
  db: Database,
  recording: NewRecording,
  now: number,
): Promise<Recording | undefined> {
  const { owner, ...rest } = recording;
  return db
    .insertInto('recordings')
    .values({ ...NO_FACTS, ...rest, status: 'starting', claimOwner: owner, createdAt: now })
    .onConflict((conflict) => conflict.columns(['room', 'kind']).where(isActive).doNothing())
    .returningAll()
    .executeTakeFirst();
}

type TakeOver = { readonly from: Recording; readonly recording: NewRecording; readonly now: number };

/** Takes over the row only while it is unchanged: of several concurrent callers one succeeds, and the others read again. */
function takeOver(db: Database, { from, recording, now }: TakeOver): Promise<Recording | undefined> {
  const { roomSid, filepath, bucket, owner, claimUntil, recordTracks = 0 } = recording;
  return db
    .updateTable('recordings')
    .set({
      roomSid: roomSid ?? null,
      filepath,
      bucket,
      recordTracks,
      claimOwner: owner,
      claimUntil,
      createdAt: now,
    })
    .where('id', '=', from.id)
    .where('status', '=', 'starting')
    .where('claimOwner', '=', from.claimOwner)
    .where('claimUntil', '=', from.claimUntil)
    .where('createdAt', '=', from.createdAt)
    .returningAll()
    .executeTakeFirst();
}

const NO_FACTS = {
  kind: 'recording',
  roomSid: null,
  egressId: null,
  startedAt: null,
  mediaStartedAt: null,
  stoppedAt: null,
  endedAt: null,
  sizeBytes: null,
  durationMs: null,
  error: null,
  recordTracks: 0,
  outputs: null,
} as const;

/** Columns that differ when another instance has changed the row since it was read. */
const VERSION = [
  'status',
  'claimOwner',
  'claimUntil',
  'createdAt',
  'stoppedAt',
  'endedAt',
  'outputs',
] as const;

function isAsRead(recording: Recording) {
  return (row: ExpressionBuilder<Tables, 'recordings'>) =>
    row.and([
      row('id', '=', recording.id),
      ...VERSION.map((column) => {
        const value = recording[column];
        return row(column, value === null ? 'is' : '=', value);
      }),
    ]);
}

function listEnded(db: Database, { before, limit, after }: EndedQuery): Promise<readonly Recording[]> {
  return db
    .selectFrom('recordings')
    .selectAll()
    .where('endedAt', '<', before)
    .where(isBehind(['endedAt', 'id'], '>', after && [after.endedAt, after.id]))
    .orderBy('endedAt')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Deletes the turns with the recording, and the lease first: a worker that holds it may be adding turns. */
async function deleteRecording(connection: Connection, id: string): Promise<boolean> {
  await deleteSounds(connection, id);
  return await connection.atomically(async (db) => {
    const result = await db.deleteFrom('recordings').where('id', '=', id).where(isEnded).executeTakeFirst();
    if (result.numDeletedRows !== 1n) return false;
    await db.deleteFrom('turnListeners').where('recordingId', '=', id).execute();
    await db.deleteFrom('turns').where('recordingId', '=', id).execute();
    await db.deleteFrom('turnSounds').where('recordingId', '=', id).execute();
    return true;
  });
}

/** Turns of one statement. A turn has several seconds of some 40 kB each. */
const TURNS_AT_ONCE = 50;

/** Deletes the audio of an ended recording in parts, so that others can write in between: an hour of speech is 150 MB. */
async function deleteSounds({ atomically }: Connection, recordingId: string): Promise<void> {
  for (;;) {
    const deleted = await atomically(async (db) => {
      const ended = db.selectFrom('recordings').select('id').where('id', '=', recordingId).where(isEnded);
      const oldest = await db
        .selectFrom('turnSounds')
        .select('startedAt')
        .distinct()
        .where('recordingId', 'in', ended)
        .orderBy('startedAt')
        .limit(TURNS_AT_ONCE)
        .execute();
      const last = oldest.at(-1);
      if (last === undefined) return 0;
      await db
        .deleteFrom('turnSounds')
        .where('recordingId', '=', recordingId)
        .where('startedAt', '<=', last.startedAt)
        .execute();
      return oldest.length;
    });
    if (deleted < TURNS_AT_ONCE) return;
  }
}

function findActive(db: Database, room: string, kind: RecordingKind): Promise<Recording | undefined> {
  const active = db.selectFrom('recordings').selectAll().where('room', '=', room).where(isActive);
  return active.where('kind', '=', kind).executeTakeFirst();
}

/** Reads the partial index of active rows. */
async function listBroadcasting(
  { db, dialect }: Connection,
  rooms: readonly string[] | undefined,
): Promise<readonly BroadcastRoom[]> {
  const wanted = rooms === undefined ? sql`` : sql`and room ${dialect.oneOf(rooms)}`;
  const { rows } = await sql<BroadcastRoom>`
    select room, (
      select other.id from recordings as other
      where other.room = broadcast.room and other.kind = 'recording' and other.status in ('starting', 'recording')
    ) as "recordingId"
    from recordings as broadcast
    where kind = 'broadcast' and status in ('starting', 'recording') ${wanted}`.execute(db);
  return rows;
}

function listOfSession(db: Database, roomSid: string, limit: number): Promise<readonly Recording[]> {
  return db
    .selectFrom('recordings')
    .selectAll()
    .where('roomSid', '=', roomSid)
    .where('kind', '=', 'recording')
    .orderBy('createdAt')
    .orderBy('id')
    .limit(limit)
    .execute();
}

async function listRecordings(connection: Connection, query: RecordingQuery): Promise<readonly Recording[]> {
  const { room, rooms, kind, status, after, limit } = query;
  let select = connection.db.selectFrom('recordings').selectAll();
  if (rooms !== undefined) {
    const listed = { table: 'recordings', key: 'id', room: 'room' };
    select = select.where((await withinRooms(connection, listed, rooms)).condition);
  }
  if (room !== undefined) select = select.where('room', '=', room);
  if (kind !== undefined) select = select.where('kind', '=', kind);
  if (status !== undefined) select = select.where('status', '=', status);
  select = select.where(isBehind(['createdAt', 'id'], '<', after && [after.createdAt, after.id]));
  return select.orderBy('createdAt', 'desc').orderBy('id', 'desc').limit(limit).execute();
}
