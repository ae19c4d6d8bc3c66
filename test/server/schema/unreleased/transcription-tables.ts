import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../../../../src/server/platform/storage/engine.ts';

/** SQLite uses the name for its own 8-byte float. */
const float = sql`double precision`;

/** Migration 003; src/server/schema/README.md describes the purpose of each index. */
export async function createTranscriptionTables(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await createTranscriptions(db, types);
  await createTranscriptionIndexes(db);
  await createSegments(db, types);
  await createSpeechWorkers(db, types);
}

async function createTranscriptions(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('transcriptions')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('kind', text, (column) => column.notNull())
    .addColumn('room', text, (column) => column.notNull())
    .addColumn('recordingId', text)
    .addColumn('egressId', text)
    .addColumn('status', text, (column) => column.notNull())
    .addColumn('language', text, (column) => column.notNull())
    .addColumn('speakers', text, (column) => column.notNull())
    .addColumn('options', text, (column) => column.notNull())
    .addColumn('leaseOwner', text)
    .addColumn('leaseUntil', integer)
    .addColumn('dueAt', integer)
    .addColumn('attempts', integer, (column) => column.notNull())
    .addColumn('progress', float, (column) => column.notNull())
    .addColumn('durationMs', integer)
    .addColumn('errorCode', text)
    .addColumn('errorMessage', text)
    .addColumn('createdAt', integer, (column) => column.notNull())
    .addColumn('originAt', integer, (column) => column.notNull())
    .addColumn('startedAt', integer)
    .addColumn('endedAt', integer)
    .execute();
}

/** The queries repeat the predicates literally, because the engines use a partial index only then. */
async function createTranscriptionIndexes(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('transcriptionsOneActivePerRoom')
    .unique()
    .on('transcriptions')
    .column('room')
    .where(sql<boolean>`status = 'active'`)
    .execute();
  await db.schema
    .createIndex('transcriptionsOnePerRecording')
    .unique()
    .on('transcriptions')
    .columns(['recordingId', 'language'])
    .where(sql<boolean>`kind = 'post' and status <> 'failed'`)
    .execute();
  await db.schema
    .createIndex('transcriptionsOpen')
    .on('transcriptions')
    .columns(['status', 'dueAt'])
    .where(sql<boolean>`status in ('queued', 'processing')`)
    .execute();
  const newest = {
    transcriptionsNewest: ['kind', 'createdAt', 'id'],
    transcriptionsNewestOfRoom: ['room', 'kind', 'createdAt', 'id'],
    transcriptionsNewestOfRecording: ['egressId', 'createdAt', 'id'],
    transcriptionsNewestOfStatus: ['kind', 'status', 'createdAt', 'id'],
  } as const;
  for (const [name, columns] of Object.entries(newest)) {
    await db.schema
      .createIndex(name)
      .on('transcriptions')
      .columns([...columns])
      .execute();
  }
}

async function createSegments(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('segments')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('transcriptionId', text, (column) => column.notNull())
    .addColumn('trackId', text)
    .addColumn('identity', text)
    .addColumn('name', text)
    .addColumn('text', text, (column) => column.notNull())
    .addColumn('language', text, (column) => column.notNull())
    .addColumn('startedAt', integer, (column) => column.notNull())
    .addColumn('endedAt', integer, (column) => column.notNull())
    .addColumn('confidence', float)
    .execute();
  await db.schema
    .createIndex('segmentsOfTranscription')
    .on('segments')
    .columns(['transcriptionId', 'startedAt', 'id'])
    .execute();
}

async function createSpeechWorkers(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('speechWorkers')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('kind', text, (column) => column.notNull())
    .addColumn('languages', text, (column) => column.notNull())
    .addColumn('aliveUntil', integer, (column) => column.notNull())
    .execute();
}

/** Migration 005: the current interim result of each track, while it is spoken. */
export async function createInterimSegments(
  db: Kysely<unknown>,
  { text, integer }: ColumnTypes,
): Promise<void> {
  await db.schema
    .createTable('interimSegments')
    .addColumn('transcriptionId', text, (column) => column.notNull())
    .addColumn('trackId', text, (column) => column.notNull())
    .addColumn('id', text, (column) => column.notNull())
    .addColumn('identity', text)
    .addColumn('name', text)
    .addColumn('text', text, (column) => column.notNull())
    .addColumn('language', text, (column) => column.notNull())
    .addColumn('startedAt', integer, (column) => column.notNull())
    .addColumn('endedAt', integer, (column) => column.notNull())
    .addColumn('confidence', float)
    .addColumn('updatedAt', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('interimSegmentsPrimaryKey', ['transcriptionId', 'trackId'])
    .execute();
}

/** Migration 007: the models that a worker could not load, and the reasons. */
export async function addFailedModels(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  await db.schema.alterTable('speechWorkers').addColumn('failedModels', text).execute();
}

/** Migration 024: names and terms that are likely to be said in a room. */
export async function createVocabularies(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('vocabularies')
    .addColumn('room', text, (column) => column.primaryKey().notNull())
    .addColumn('terms', text, (column) => column.notNull())
    .execute();
}

/** Times of the words of a segment, when the model returns them. An interim result has the same columns. */
export async function addWords(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  for (const table of ['segments', 'interimSegments'] as const) {
    await db.schema.alterTable(table).addColumn('words', text).execute();
  }
}
