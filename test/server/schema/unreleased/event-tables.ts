import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../../../../src/server/platform/storage/engine.ts';

/** Migration 002; src/server/schema/README.md describes the purpose of each index. */
export async function createEventTables(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await createEvents(db, types);
  await createPresence(db, types);
  await createWebhooks(db, types);
  await createDeliveries(db, types);
  await createAttempts(db, types);
  await createLeases(db, types);
}

async function createEvents(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('counters')
    .addColumn('name', text, (column) => column.primaryKey().notNull())
    .addColumn('value', integer, (column) => column.notNull())
    .execute();
  await sql`insert into counters (name, value) values ('events', 0)`.execute(db);
  await db.schema
    .createTable('events')
    .addColumn('position', integer, (column) => column.primaryKey().notNull())
    .addColumn('id', text, (column) => column.notNull().unique())
    .addColumn('sourceId', text, (column) => column.notNull().unique())
    .addColumn('type', text, (column) => column.notNull())
    .addColumn('room', text)
    .addColumn('roomSid', text)
    .addColumn('sequence', integer)
    .addColumn('payload', text, (column) => column.notNull())
    .addColumn('occurredAt', integer, (column) => column.notNull())
    .addColumn('createdAt', integer, (column) => column.notNull())
    .execute();
  await db.schema.createIndex('eventsOfRoom').on('events').columns(['room', 'position']).execute();
  await db.schema.createIndex('eventsOfType').on('events').columns(['type', 'position']).execute();
  await db.schema.createIndex('eventsOldest').on('events').columns(['createdAt', 'position']).execute();
}

async function createPresence(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('roomSessions')
    .addColumn('sid', text, (column) => column.primaryKey().notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('createdAt', integer, (column) => column.notNull())
    .addColumn('startedAt', integer)
    .addColumn('endedAt', integer)
    .addColumn('sequence', integer, (column) => column.notNull())
    .execute();
  await db.schema.createIndex('roomSessionsEnded').on('roomSessions').column('endedAt').execute();
  await db.schema
    .createIndex('roomSessionsOfName')
    .on('roomSessions')
    .columns(['name', 'createdAt'])
    .execute();
  await db.schema
    .createTable('participantSessions')
    .addColumn('sid', text, (column) => column.primaryKey().notNull())
    .addColumn('roomSid', text, (column) => column.notNull())
    .addColumn('identity', text, (column) => column.notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('role', text, (column) => column.notNull())
    .addColumn('joinedAt', integer)
    .addColumn('leftAt', integer)
    .execute();
  await db.schema
    .createIndex('participantSessionsOfRoom')
    .on('participantSessions')
    .columns(['roomSid', 'leftAt'])
    .execute();
}

async function createWebhooks(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('webhooks')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('url', text, (column) => column.notNull())
    .addColumn('events', text, (column) => column.notNull())
    .addColumn('secret', text, (column) => column.notNull())
    .addColumn('previousSecret', text)
    .addColumn('previousSecretUntil', integer)
    .addColumn('createdAt', integer, (column) => column.notNull())
    .addColumn('updatedAt', integer, (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('deletedWebhooks')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('deletedAt', integer, (column) => column.notNull())
    .execute();
}

async function createDeliveries(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('deliveries')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('webhookId', text, (column) => column.notNull())
    .addColumn('eventId', text, (column) => column.notNull())
    .addColumn('eventName', text, (column) => column.notNull())
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('dueAt', integer, (column) => column.notNull())
    .addColumn('createdAt', integer, (column) => column.notNull())
    .addColumn('endedAt', integer)
    .addColumn('attempts', integer, (column) => column.notNull())
    .addColumn('roundAttempts', integer, (column) => column.notNull())
    .addColumn('leaseOwner', text)
    .addColumn('leaseUntil', integer)
    // Leased rows are sorted after due ones, so that a claim does not scan rows that other instances hold.
    .addColumn('claimableAt', integer, (column) =>
      column
        .generatedAlwaysAs(sql`case when "leaseUntil" > "dueAt" then "leaseUntil" else "dueAt" end`)
        .stored(),
    )
    .execute();
  await db.schema
    .createIndex('deliveriesClaimable')
    .on('deliveries')
    .columns(['webhookId', 'claimableAt'])
    .where(sql<boolean>`state = 'pending'`)
    .execute();
  await db.schema
    .createIndex('deliveriesPendingOfEvent')
    .on('deliveries')
    .column('eventId')
    .where(sql<boolean>`state = 'pending'`)
    .execute();
  await db.schema
    .createIndex('deliveriesLeased')
    .on('deliveries')
    .column('leaseOwner')
    .where(sql<boolean>`"leaseOwner" is not null`)
    .execute();
  await db.schema
    .createIndex('deliveriesNewestOfState')
    .on('deliveries')
    .columns(['webhookId', 'state', 'createdAt', 'id'])
    .execute();
}

async function createAttempts(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('attempts')
    .addColumn('deliveryId', text, (column) => column.notNull())
    .addColumn('number', integer, (column) => column.notNull())
    .addColumn('startedAt', integer, (column) => column.notNull())
    .addColumn('durationMs', integer, (column) => column.notNull())
    .addColumn('statusCode', integer)
    .addColumn('error', text)
    .addColumn('responseBody', text)
    .addPrimaryKeyConstraint('attemptsKey', ['deliveryId', 'number'])
    .execute();
}

async function createLeases(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('leases')
    .addColumn('name', text, (column) => column.primaryKey().notNull())
    .addColumn('owner', text, (column) => column.notNull())
    .addColumn('leaseUntil', integer, (column) => column.notNull())
    .execute();
}

/** Migration 008: the published tracks, to find those whose events the media server could not deliver. */
export async function createPublishedTracks(
  db: Kysely<unknown>,
  { text, integer }: ColumnTypes,
): Promise<void> {
  await db.schema
    .createTable('publishedTracks')
    .addColumn('sid', text, (column) => column.primaryKey().notNull())
    .addColumn('participantSid', text, (column) => column.notNull())
    .addColumn('roomSid', text, (column) => column.notNull())
    .addColumn('track', text, (column) => column.notNull())
    .addColumn('publishedAt', integer, (column) => column.notNull())
    .addColumn('unpublishedAt', integer)
    .execute();
  await db.schema
    .createIndex('publishedTracksOfRoom')
    .on('publishedTracks')
    .columns(['roomSid', 'unpublishedAt'])
    .execute();
}

/** Migration 009. */
export async function createFanOuts(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('fanOuts')
    .addColumn('eventId', text, (column) => column.primaryKey().notNull())
    .addColumn('createdAt', integer, (column) => column.notNull())
    .addColumn('afterCreatedAt', integer)
    .addColumn('afterId', text)
    .execute();
}
