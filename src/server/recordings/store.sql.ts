import { type Kysely, sql } from 'kysely';
import { ServiceError } from '../../contract/errors.ts';
import type { Tables } from '../platform/storage/schema/tables.ts';
import type {
  NewRecording,
  Recording,
  RecordingClaim,
  RecordingEnd,
  RecordingFacts,
  RecordingQuery,
  RecordingStore,
} from './store.ts';

type Database = Kysely<Tables>;

/** Literals, not parameters: both engines match a partial index only by its predicate as it was written. */
const isActive = sql<boolean>`status in ('starting', 'recording')`;
const isEnded = sql<boolean>`status not in ('starting', 'recording')`;

/** A room whose recording ends or is taken over between two looks at it is looked at again. */
const CLAIM_ROUNDS = 5;

export function createRecordingStore(db: Database): RecordingStore {
  return {
    claim: (recording, now) => claimRoom(db, recording, now),
    activate: async (id, owner, egress) => {
      const result = await db
        .updateTable('recordings')
        .set({ ...egress, status: 'recording', claimOwner: null, claimUntil: null })
        .where('id', '=', id)
        .where('status', '=', 'starting')
        .where('claimOwner', '=', owner)
        .executeTakeFirst();
      return result.numUpdatedRows === 1n;
    },
    release: async (id, owner) => {
      const result = await db
        .deleteFrom('recordings')
        .where('id', '=', id)
        .where('status', '=', 'starting')
        .where('claimOwner', '=', owner)
        .executeTakeFirst();
      return result.numDeletedRows === 1n;
    },
    end: (id, end) => endRecording(db, id, end),
    complete: (id, facts) => completeRecording(db, id, facts),
    find: (id) => db.selectFrom('recordings').selectAll().where('id', '=', id).executeTakeFirst(),
    findActive: (room) => findActive(db, room),
    findByEgressId: (egressId) =>
      db.selectFrom('recordings').selectAll().where('egressId', '=', egressId).executeTakeFirst(),
    list: (query) => listRecordings(db, query),
    delete: async (id) => {
      const result = await db.deleteFrom('recordings').where('id', '=', id).where(isEnded).executeTakeFirst();
      return result.numDeletedRows === 1n;
    },
  };
}

/** Each step is one statement that is atomic by itself, so that no transaction is needed on either engine. */
async function claimRoom(db: Database, recording: NewRecording, now: number): Promise<RecordingClaim> {
  for (let round = 0; round < CLAIM_ROUNDS; round++) {
    const inserted = await insertUnlessActive(db, recording, now);
    if (inserted !== undefined) return { claimed: true, recording: inserted, takenOverFrom: undefined };
    const active = await findActive(db, recording.room);
    if (active === undefined) continue;
    if (!hasRunOut(active, now)) return { claimed: false, recording: active };
    const taken = await takeOver(db, { from: active, recording, now });
    if (taken !== undefined) return { claimed: true, recording: taken, takenOverFrom: active };
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
    .values({ ...NOTHING_KNOWN_YET, ...rest, status: 'starting', claimOwner: owner, createdAt: now })
    .onConflict((conflict) => conflict.column('room').where(isActive).doNothing())
    .returningAll()
    .executeTakeFirst();
}

function hasRunOut(recording: Recording, now: number): boolean {
  return recording.status === 'starting' && recording.claimUntil !== null && recording.claimUntil <= now;
}

type TakeOver = { readonly from: Recording; readonly recording: NewRecording; readonly now: number };

/** Only while the row is as it was seen: of those who try at once, one does it, and the others look again. */
function takeOver(db: Database, { from, recording, now }: TakeOver): Promise<Recording | undefined> {
  const { filepath, bucket, owner, claimUntil } = recording;
  return db
    .updateTable('recordings')
    .set({ filepath, bucket, claimOwner: owner, claimUntil, createdAt: now })
    .where('id', '=', from.id)
    .where('status', '=', 'starting')
    .where('claimOwner', '=', from.claimOwner)
    .where('claimUntil', '=', from.claimUntil)
    .where('createdAt', '=', from.createdAt)
    .returningAll()
    .executeTakeFirst();
}

const NOTHING_KNOWN_YET = {
  egressId: null,
  startedAt: null,
  stoppedAt: null,
  endedAt: null,
  sizeBytes: null,
  durationMs: null,
  error: null,
} as const;

async function endRecording(db: Database, id: string, end: RecordingEnd): Promise<boolean> {
  const { owner, error, ...ended } = end;
  let update = db
    .updateTable('recordings')
    .set({ ...ended, error: error ?? null, claimOwner: null, claimUntil: null })
    .where('id', '=', id)
    .where(isActive);
  if (owner !== undefined) update = update.where('claimOwner', '=', owner);
  const result = await update.executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

async function completeRecording(db: Database, id: string, facts: RecordingFacts): Promise<void> {
  const known = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
  if (Object.keys(known).length === 0) return;
  await db.updateTable('recordings').set(known).where('id', '=', id).where(isEnded).execute();
}

function findActive(db: Database, room: string): Promise<Recording | undefined> {
  return db.selectFrom('recordings').selectAll().where('room', '=', room).where(isActive).executeTakeFirst();
}

function listRecordings(db: Database, query: RecordingQuery): Promise<readonly Recording[]> {
  const { room, status, after, limit } = query;
  let select = db.selectFrom('recordings').selectAll();
  if (room !== undefined) select = select.where('room', '=', room);
  if (status !== undefined) select = select.where('status', '=', status);
  if (after !== undefined) {
    select = select.where((row) =>
      row(row.refTuple('createdAt', 'id'), '<', row.tuple(after.createdAt, after.id)),
    );
  }
  return select.orderBy('createdAt', 'desc').orderBy('id', 'desc').limit(limit).execute();
}
