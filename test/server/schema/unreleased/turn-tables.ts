import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../../../../src/server/platform/storage/engine.ts';

/** Tables of the turns of speech in a recording, of the worker that listens, and of overlaps within a segment. */
export async function createTurnTables(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('turns')
    .addColumn('recordingId', text, (column) => column.notNull())
    .addColumn('trackId', text, (column) => column.notNull())
    .addColumn('identity', text, (column) => column.notNull())
    .addColumn('name', text)
    .addColumn('startedAt', integer, (column) => column.notNull())
    .addColumn('endedAt', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('turnsKey', ['recordingId', 'startedAt', 'trackId'])
    .execute();
  await db.schema
    .createTable('turnListeners')
    .addColumn('recordingId', text, (column) => column.primaryKey().notNull())
    .addColumn('owner', text, (column) => column.notNull())
    .addColumn('leaseUntil', integer, (column) => column.notNull())
    .execute();
  await db.schema.alterTable('segments').addColumn('overlapMs', integer).execute();
  await db.schema.alterTable('interimSegments').addColumn('overlapMs', integer).execute();
}

/** Migration 021: each participant's audio, for recordings that request it. */
export async function createTurnSounds(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .alterTable('recordings')
    .addColumn('recordTracks', integer, (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema
    .createTable('turnSounds')
    .addColumn('recordingId', text, (column) => column.notNull())
    .addColumn('trackId', text, (column) => column.notNull())
    .addColumn('startedAt', integer, (column) => column.notNull())
    .addColumn('part', integer, (column) => column.notNull())
    .addColumn('keyId', text, (column) => column.notNull())
    .addColumn('sealed', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('turnSoundsKey', ['recordingId', 'startedAt', 'trackId', 'part'])
    .execute();
  await db.schema.createIndex('turnSoundsByAge').on('turnSounds').column('startedAt').execute();
}

/** Migration 017: index of the recordings in which a participant spoke. */
export async function indexTurns(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex('turnsOfIdentity').on('turns').columns(['identity', 'recordingId']).execute();
}
