import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../../../../src/server/platform/storage/engine.ts';
import type { Migration } from '../../../../src/server/platform/storage/migrate.ts';
import { indexDeliveriesByEnd } from './delivery-indexes.ts';
import { addDeliveryOrder } from './delivery-order.ts';
import { createEventTables, createFanOuts, createPublishedTracks } from './event-tables.ts';
import { createSearch, indexSegmentsAsStored, indexTerms, stemByLanguage } from './search-tables.ts';
import { addSessionColumns } from './session-columns.ts';
import {
  addFailedModels,
  addWords,
  createInterimSegments,
  createTranscriptionTables,
  createVocabularies,
} from './transcription-tables.ts';
import { createTurnSounds, createTurnTables, indexTurns } from './turn-tables.ts';

/** The steps from which the tables grew before the first release: long enough a list to test the migrator with. */
export const UNRELEASED_MIGRATIONS: readonly Migration<unknown>[] = [
  { name: '001-recordings', up: createRecordings },
  { name: '002-events-and-webhooks', up: createEventTables },
  { name: '003-transcriptions', up: createTranscriptionTables },
  { name: '004-recording-media-start', up: addMediaStart },
  { name: '005-interim-segments', up: createInterimSegments },
  { name: '006-participant-details', up: addParticipantDetails },
  { name: '007-failed-speech-models', up: addFailedModels },
  { name: '008-published-tracks', up: createPublishedTracks },
  { name: '009-fan-outs', up: createFanOuts },
  { name: '010-blocks', up: createBlocks },
  { name: '011-idempotent-requests', up: createIdempotentRequests },
  { name: '012-sessions', up: addSessionColumns },
  { name: '013-api-keys', up: createApiKeys },
  { name: '014-audit', up: createAudit },
  { name: '015-turns', up: createTurnTables },
  { name: '016-search', up: (db, _types, engine) => createSearch(db, engine) },
  { name: '017-turns-of-identity', up: indexTurns },
  { name: '018-event-traces', up: addTraceparent },
  { name: '019-ended', up: indexEnded },
  { name: '020-failed-reads', up: addAuditExpiry },
  { name: '021-turn-sounds', up: createTurnSounds },
  { name: '022-comparisons', up: createComparisons },
  { name: '023-segments-as-stored', up: indexSegmentsAsStored },
  { name: '024-vocabularies', up: createVocabularies },
  { name: '025-words', up: addWords },
  { name: '026-stems-by-language', up: (db, _types, engine) => stemByLanguage(db, engine) },
  { name: '027-terms', up: (db, _types, engine) => indexTerms(db, engine) },
  { name: '028-ordered-deliveries', up: addDeliveryOrder },
  { name: '029-delivery-indexes', up: indexDeliveriesByEnd },
  { name: '030-key-limits', up: addCreators },
];

/** The key that made a row, to whose limit it counts. */
async function addCreators(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  for (const table of ['webhooks', 'blocks', 'vocabularies'] as const) {
    await db.schema
      .alterTable(table)
      .addColumn('createdBy', text, (column) => column.defaultTo('root').notNull())
      .execute();
  }
  await db.schema.createIndex('webhooksOfKey').on('webhooks').column('createdBy').execute();
  await db.schema.createIndex('vocabulariesOfKey').on('vocabularies').column('createdBy').execute();
  await db.schema.createIndex('blocksOfKey').on('blocks').columns(['createdBy', 'blockedUntil']).execute();
}

/** Metadata and role, for participant_left events that the media server did not send. */
async function addParticipantDetails(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  await db.schema.alterTable('participantSessions').addColumn('metadata', text).execute();
  await db.schema.alterTable('participantSessions').addColumn('accessRole', text).execute();
}

async function createRecordings(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('recordings')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('room', text, (column) => column.notNull())
    .addColumn('egressId', text)
    .addColumn('status', text, (column) => column.notNull())
    .addColumn('filepath', text, (column) => column.notNull())
    .addColumn('bucket', text)
    .addColumn('claimOwner', text)
    .addColumn('claimUntil', integer)
    .addColumn('createdAt', integer, (column) => column.notNull())
    .addColumn('startedAt', integer)
    .addColumn('stoppedAt', integer)
    .addColumn('endedAt', integer)
    .addColumn('sizeBytes', integer)
    .addColumn('durationMs', integer)
    .addColumn('error', text)
    .execute();
  // This index is the lock: one active recording per room. The claim repeats its predicate literally.
  await db.schema
    .createIndex('recordingsOneActivePerRoom')
    .unique()
    .on('recordings')
    .column('room')
    .where(sql<boolean>`status in ('starting', 'recording')`)
    .execute();
  await db.schema.createIndex('recordingsEgressId').unique().on('recordings').column('egressId').execute();
  await db.schema.createIndex('recordingsNewest').on('recordings').columns(['createdAt', 'id']).execute();
  await db.schema
    .createIndex('recordingsNewestOfRoom')
    .on('recordings')
    .columns(['room', 'createdAt', 'id'])
    .execute();
  await db.schema
    .createIndex('recordingsNewestOfStatus')
    .on('recordings')
    .columns(['status', 'createdAt', 'id'])
    .execute();
}

async function addMediaStart(db: Kysely<unknown>, { integer }: ColumnTypes): Promise<void> {
  await db.schema.alterTable('recordings').addColumn('mediaStartedAt', integer).execute();
}

/** The trace of an event, which its deliveries continue. */
async function addTraceparent(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  await db.schema.alterTable('events').addColumn('traceparent', text).execute();
}

/** Blocks: identities that may not be in a room. */
async function createBlocks(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('blocks')
    .addColumn('room', text, (column) => column.notNull())
    .addColumn('identity', text, (column) => column.notNull())
    .addColumn('createdAt', integer, (column) => column.notNull())
    .addColumn('blockedUntil', integer)
    .addPrimaryKeyConstraint('blocksKey', ['room', 'identity'])
    .execute();
  await db.schema.createIndex('blocksEnding').on('blocks').column('blockedUntil').execute();
}

/** Requests with an Idempotency-Key, and their responses. */
async function createIdempotentRequests(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('idempotentRequests')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('fingerprint', text, (column) => column.notNull())
    .addColumn('owner', text, (column) => column.notNull())
    .addColumn('leaseUntil', integer, (column) => column.notNull())
    .addColumn('response', text)
    .addColumn('expiresAt', integer, (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('idempotentRequestsExpiring')
    .on('idempotentRequests')
    .column('expiresAt')
    .execute();
}

/** API keys beside the root key. */
async function createApiKeys(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('apiKeys')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('scopes', text, (column) => column.notNull())
    .addColumn('secret', text)
    .addColumn('createdAt', integer, (column) => column.notNull())
    .addColumn('expiresAt', integer)
    .addColumn('revokedAt', integer)
    .execute();
  await db.schema.createIndex('apiKeysOldest').on('apiKeys').columns(['createdAt', 'id']).execute();
}

/** Requests that changed something, or tried to. */
async function createAudit(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('auditEntries')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('occurredAt', integer, (column) => column.notNull())
    .addColumn('keyId', text, (column) => column.notNull())
    .addColumn('method', text, (column) => column.notNull())
    .addColumn('path', text, (column) => column.notNull())
    .addColumn('ids', text, (column) => column.notNull())
    .addColumn('room', text)
    .addColumn('address', text)
    .addColumn('requestId', text, (column) => column.notNull())
    .addColumn('status', integer, (column) => column.notNull())
    .addColumn('problem', text)
    .execute();
  const index = (name: string) => db.schema.createIndex(name).on('auditEntries');
  await index('auditNewest').columns(['occurredAt', 'id']).execute();
  await index('auditOfKey').columns(['keyId', 'occurredAt', 'id']).execute();
  await index('auditOfRoom').columns(['room', 'occurredAt', 'id']).execute();
  await index('auditOfRequest').column('requestId').execute();
}

/** Failed requests that change nothing are kept for a while, so that their ids can be looked up. */
async function addAuditExpiry(db: Kysely<unknown>, { integer }: ColumnTypes): Promise<void> {
  await db.schema.alterTable('auditEntries').addColumn('expiresAt', integer).execute();
  await db.schema
    .createIndex('auditExpiring')
    .on('auditEntries')
    .column('expiresAt')
    .where('expiresAt', 'is not', null)
    .execute();
}

/** Indexes for the retention of recordings and transcriptions. */
async function indexEnded(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex('recordingsEnded').on('recordings').columns(['endedAt', 'id']).execute();
  await db.schema
    .createIndex('transcriptionsEnded')
    .on('transcriptions')
    .columns(['endedAt', 'id'])
    .execute();
}

/** One row: the instance that compares everything with the media server, and the number of such comparisons. */
async function createComparisons(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('comparisons')
    .addColumn('name', text, (column) => column.primaryKey().notNull())
    .addColumn('owner', text)
    .addColumn('leaseUntil', integer, (column) => column.notNull())
    .addColumn('number', integer, (column) => column.notNull())
    .addColumn('completed', integer, (column) => column.notNull())
    .execute();
}
