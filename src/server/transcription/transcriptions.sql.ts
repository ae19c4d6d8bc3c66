import { type Kysely, sql } from 'kysely';
import { ServiceError } from '../../contract/errors.ts';
import { isBehind, sanitizeText, withinRooms } from '../platform/storage/statements.ts';
import type { Connection, Tables, TranscriptionRow } from '../schema/tables.ts';
import { claimMethods, liveEndMethods, toRow, toTranscription } from './claims.sql.ts';
import { segmentMethods } from './segments.sql.ts';
import type {
  FailedModel,
  NewLiveTranscription,
  NewPostTranscription,
  PostOutcome,
  PostProgress,
  Transcription,
  TranscriptionQuery,
  TranscriptionStore,
  WorkerKind,
} from './store.ts';

type Database = Kysely<Tables>;

/** Literals, not parameters: both engines use a partial index only when the query repeats its predicate literally. */
const isActive = sql<boolean>`status = 'active'`;

const isWanted = sql<boolean>`kind = 'post' and status <> 'failed'`;

/** Maximum attempts. A row may change between the insert and the select; then both are repeated. */
const INSERT_ROUNDS = 5;

export function createTranscriptionStore(connection: Connection): TranscriptionStore {
  const { db } = connection;
  return {
    ...claimMethods(connection),
    ...segmentMethods(connection),
    ...speechWorkerMethods(connection),
    ...liveEndMethods(connection),
    startLive: (transcription) => startLive(connection, transcription),
    findActiveLive: (room) => one(ofRoom(db, room).where(isActive)),
    findLatestLive: (room) => findLatestLive(db, room),
    listActiveLive: async () => {
      const rows = await db
        .selectFrom('transcriptions')
        .selectAll()
        .where(isActive)
        .orderBy('createdAt')
        .execute();
      return rows.map(toTranscription);
    },
    enqueuePost: (transcription) => enqueuePost(connection, transcription),
    advancePost: (id, owner, progress) => advancePost(db, { id, owner }, progress),
    recordPostOutcome: (id, owner, outcome) => recordPostOutcome(connection, { id, owner }, outcome),
    find: (id) => one(db.selectFrom('transcriptions').selectAll().where('id', '=', sanitizeText(id))),
    listNewest: (query) => listNewest(connection, query),
    listOfSession: (roomSid, limit) => listOfSession(db, roomSid, limit),
    updateSpeakers: (id, change) => updateSpeakers(connection, id, change),
    listEnded: async (before, limit) => {
      const ended = db.selectFrom('transcriptions').select('id').where('endedAt', '<', before);
      const rows = await ended.orderBy('endedAt').orderBy('id').limit(limit).execute();
      return rows.map(({ id }) => id);
    },
    deleteSegments: (id, limit) => deleteSegments(connection, id, limit),
    delete: (id) => deleteTranscription(connection, id),
  };
}

async function one(select: {
  executeTakeFirst(): Promise<TranscriptionRow | undefined>;
}): Promise<Transcription | undefined> {
  const row = await select.executeTakeFirst();
  return row && toTranscription(row);
}

const NOTHING_YET = {
  roomSid: null,
  recordingId: null,
  egressId: null,
  leaseOwner: null,
  leaseUntil: null,
  dueAt: null,
  attempts: 0,
  progress: 0,
  durationMs: null,
  errorCode: null,
  errorMessage: null,
  startedAt: null,
  endedAt: null,
  options: { partialResults: false, captions: true, punctuation: true, profanityFilter: false },
} as const;

type Inserted = { readonly transcription: Transcription; readonly isNew: boolean };

function startLive(connection: Connection, transcription: NewLiveTranscription): Promise<Inserted> {
  const { db } = connection;
  const { room, createdAt } = transcription;
  const row = toRow({
    ...NOTHING_YET,
    ...transcription,
    room: sanitizeText(room),
    kind: 'live',
    status: 'active',
    originAt: createdAt,
  });
  return insertOrFind(connection, {
    insert: () =>
      db
        .insertInto('transcriptions')
        .values(row)
        .onConflict((conflict) => conflict.column('room').where(isActive).doNothing())
        .returningAll()
        .executeTakeFirst(),
    find: () => one(ofRoom(db, room).where(isActive)),
  });
}

function enqueuePost(connection: Connection, transcription: NewPostTranscription): Promise<Inserted> {
  const { db } = connection;
  const { room, recordingId, language, createdAt } = transcription;
  const row = toRow({
    ...NOTHING_YET,
    ...transcription,
    room: sanitizeText(room),
    kind: 'post',
    status: 'queued',
    dueAt: createdAt,
  });
  return insertOrFind(connection, {
    insert: () =>
      db
        .insertInto('transcriptions')
        .values(row)
        .onConflict((conflict) => conflict.columns(['recordingId', 'language']).where(isWanted).doNothing())
        .returningAll()
        .executeTakeFirst(),
    find: () =>
      one(
        db
          .selectFrom('transcriptions')
          .selectAll()
          .where('recordingId', '=', recordingId)
          .where('language', '=', language)
          .where(isWanted),
      ),
  });
}

type Insertion = {
  readonly insert: () => Promise<TranscriptionRow | undefined>;
  readonly find: () => Promise<Transcription | undefined>;
};

async function insertOrFind(connection: Connection, { insert, find }: Insertion): Promise<Inserted> {
  for (let round = 0; round < INSERT_ROUNDS; round++) {
    const inserted = await insert();
    if (inserted !== undefined) {
      connection.changes.note(connection.db, 'transcriptions');
      return { transcription: toTranscription(inserted), isNew: true };
    }
    const found = await find();
    if (found !== undefined) return { transcription: found, isNew: false };
  }
  throw new ServiceError('storage-unavailable', 'The transcription keeps changing; try again.', {
    retryable: true,
  });
}

function ofRoom(db: Database, room: string) {
  return db
    .selectFrom('transcriptions')
    .selectAll()
    .where('room', '=', sanitizeText(room))
    .where('kind', '=', 'live');
}

async function findLatestLive(db: Database, room: string): Promise<Transcription | undefined> {
  const newest = ofRoom(db, room).orderBy('createdAt', 'desc').orderBy('id', 'desc').limit(1);
  return (await one(ofRoom(db, room).where(isActive))) ?? (await one(newest));
}

type Holder = { readonly id: string; readonly owner: string };

function updateHeld(db: Database, { id, owner }: Holder, change: Partial<TranscriptionRow>) {
  return db
    .updateTable('transcriptions')
    .set(change)
    .where('id', '=', id)
    .where('leaseOwner', '=', owner)
    .where('status', '=', 'processing')
    .executeTakeFirst();
}

async function advancePost(db: Database, holder: Holder, advance: PostProgress): Promise<boolean> {
  const { progress, leaseUntil, durationMs } = advance;
  const known = durationMs === undefined ? {} : { durationMs };
  const { numUpdatedRows } = await updateHeld(db, holder, { progress, leaseUntil, ...known });
  return numUpdatedRows === 1n;
}

async function recordPostOutcome(
  connection: Connection,
  holder: Holder,
  outcome: PostOutcome,
): Promise<boolean> {
  const { db } = connection;
  const free = { leaseOwner: null, leaseUntil: null };
  const { numUpdatedRows } = await updateHeld(db, holder, { ...toChanges(outcome), ...free });
  if (outcome.status === 'queued') connection.changes.note(db, 'transcriptions');
  return numUpdatedRows === 1n;
}

function toChanges(outcome: PostOutcome): Partial<TranscriptionRow> {
  if (outcome.status === 'completed') return { ...outcome, progress: 1, errorCode: null, errorMessage: null };
  return { ...outcome, errorMessage: sanitizeText(outcome.errorMessage) };
}

async function listNewest(
  connection: Connection,
  query: TranscriptionQuery,
): Promise<readonly Transcription[]> {
  const { kind, room, rooms, egressId, status, after, limit } = query;
  let select = connection.db.selectFrom('transcriptions').selectAll().where('kind', '=', kind);
  if (rooms !== undefined) {
    const listed = { table: 'transcriptions', key: 'id', room: 'room' };
    select = select.where((await withinRooms(connection, listed, rooms)).condition);
  }
  if (room !== undefined) select = select.where('room', '=', sanitizeText(room));
  if (egressId !== undefined) select = select.where('egressId', '=', sanitizeText(egressId));
  if (status !== undefined) select = select.where('status', '=', status);
  select = select.where(isBehind(['createdAt', 'id'], '<', after && [after.createdAt, after.id]));
  const rows = await select.orderBy('createdAt', 'desc').orderBy('id', 'desc').limit(limit).execute();
  return rows.map(toTranscription);
}

async function listOfSession(
  db: Database,
  roomSid: string,
  limit: number,
): Promise<readonly Transcription[]> {
  const rows = await db
    .selectFrom('transcriptions')
    .selectAll()
    .where('roomSid', '=', roomSid)
    .orderBy('createdAt')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toTranscription);
}

/** Locks the row before it reads and writes, so that none of two concurrent changes is lost. */
function updateSpeakers(
  { atomically, dialect }: Connection,
  id: string,
  change: Readonly<Record<string, string | null>>,
): Promise<Transcription | undefined> {
  return atomically(async (db) => {
    const found = await sql<TranscriptionRow>`
      select * from transcriptions where id = ${id} ${dialect.lockRows}`.execute(db);
    const [row] = found.rows;
    if (row === undefined) return undefined;
    const merged = Object.entries({ ...toTranscription(row).speakers, ...change });
    const speakers = JSON.stringify(Object.fromEntries(merged.filter(([, name]) => name !== null)));
    await db.updateTable('transcriptions').set({ speakers }).where('id', '=', id).execute();
    return toTranscription({ ...row, speakers });
  });
}

/** Code that stores or deletes segments must lock their transcription first. */
function deleteSegments({ atomically, dialect }: Connection, id: string, limit: number): Promise<number> {
  return atomically(async (db) => {
    const ended = await sql`
      select id from transcriptions where id = ${sanitizeText(id)} and status <> 'active'
      ${dialect.lockRows}`.execute(db);
    if (ended.rows.length === 0) return 0;
    const found = await db
      .selectFrom('segments')
      .select('id')
      .where('transcriptionId', '=', id)
      .limit(limit)
      .execute();
    await sql`delete from segments where id ${dialect.oneOf(found.map((segment) => segment.id))}`.execute(db);
    return found.length;
  });
}

/** Deletes the row first: a worker that is storing segments holds its lock, and later finds the row deleted. */
function deleteTranscription(connection: Connection, id: string): Promise<boolean> {
  return connection.atomically(async (db) => {
    const { numDeletedRows } = await db
      .deleteFrom('transcriptions')
      .where('id', '=', sanitizeText(id))
      .executeTakeFirst();
    await db.deleteFrom('segments').where('transcriptionId', '=', id).execute();
    await db.deleteFrom('interimSegments').where('transcriptionId', '=', id).execute();
    connection.changes.note(db, 'transcriptions');
    return numDeletedRows === 1n;
  });
}

/** The rows of workers that died are deleted after this time. */
const DEAD_WORKER_RETENTION_MS = 3_600_000;

function speechWorkerMethods({ db }: Connection) {
  return {
    beat: async ({ kind, workerId, languages, failedModels, aliveUntil }) => {
      const lists = { languages: JSON.stringify(languages), failedModels: JSON.stringify(failedModels) };
      const row = { kind, aliveUntil, ...lists };
      await db
        .insertInto('speechWorkers')
        .values({ id: workerId, ...row })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
        .execute();
      await db
        .deleteFrom('speechWorkers')
        .where('aliveUntil', '<', aliveUntil - DEAD_WORKER_RETENTION_MS)
        .execute();
    },
    retire: async (workerId) => {
      await db.deleteFrom('speechWorkers').where('id', '=', workerId).execute();
    },
    listAlive: async (now) => {
      const rows = await db
        .selectFrom('speechWorkers')
        .select(['kind', 'languages', 'failedModels'])
        .where('aliveUntil', '>', now)
        .execute();
      return rows.map(({ kind, languages, failedModels }) => ({
        kind: kind as WorkerKind,
        languages: JSON.parse(languages) as string[],
        failedModels: JSON.parse(failedModels) as FailedModel[],
      }));
    },
  } satisfies Partial<TranscriptionStore>;
}
