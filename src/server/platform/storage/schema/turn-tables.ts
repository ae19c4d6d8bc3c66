import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../engine.ts';
import type { Tables } from './tables.ts';

/** Tables of the turns of speech in a recording, of the worker that listens, and of overlaps within a segment. */
export async function createTurnTables(db: Kysely<Tables>, { text, integer }: ColumnTypes): Promise<void> {
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

/** Migration 017: in which recordings a participant was heard. */
export async function indexTurns(db: Kysely<Tables>): Promise<void> {
  await db.schema.createIndex('turnsOfIdentity').on('turns').columns(['identity', 'recordingId']).execute();
}
