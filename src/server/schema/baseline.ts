import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { ColumnTypes, Engine } from '../platform/storage/engine.ts';
import {
  liveTables,
  type Statements,
  segmentTables,
  transcriptionTables,
  turnTables,
} from './baseline-speech.ts';
import type { Tables } from './tables.ts';

/*
 * The tables of the first release. README.md describes the purpose of each index. Queries repeat the predicates of
 * partial indexes literally, because the engines use a partial index only then.
 */

export async function createTables(
  db: Kysely<Tables>,
  types: ColumnTypes,
  engine: Engine<Tables>['name'],
): Promise<void> {
  const statements = [
    ...recordingTables(types),
    ...turnTables(types),
    ...eventTables(types),
    ...sessionTables(types),
    ...webhookTables(types),
    ...deliveryTables(types),
    viewOfParcels(engine),
    ...roomTables(types),
    ...planTables(types),
    ...accessTables(types),
    ...transcriptionTables(types),
    ...liveTables(types),
    ...segmentTables(types, engine),
  ];
  for (const statement of statements) await statement.execute(db);
}

/** Leased rows are sorted after due ones, so that a claim does not scan rows that other instances hold. */
const CLAIMABLE_AT = sql`case when "leaseUntil" > "dueAt" then "leaseUntil" else "dueAt" end`;

function recordingTables({ text, integer }: ColumnTypes): Statements {
  return [
    sql`create table "recordings" (
      "id" ${text} not null primary key,
      "room" ${text} not null,
      "egressId" ${text},
      "status" ${text} not null,
      "filepath" ${text} not null,
      "bucket" ${text},
      "claimOwner" ${text},
      "claimUntil" ${integer},
      "createdAt" ${integer} not null,
      "startedAt" ${integer},
      "stoppedAt" ${integer},
      "endedAt" ${integer},
      "sizeBytes" ${integer},
      "durationMs" ${integer},
      "error" ${text},
      "mediaStartedAt" ${integer},
      "roomSid" ${text},
      "recordTracks" ${integer} default 0 not null,
      "kind" ${text} default 'recording' not null,
      "outputs" ${text}
    )`,
    sql`create unique index "recordingsEgressId" on "recordings" ("egressId")`,
    sql`create index "recordingsEnded" on "recordings" ("endedAt", "id")`,
    sql`create index "recordingsNewest" on "recordings" ("createdAt", "id")`,
    sql`create index "recordingsNewestOfRoom" on "recordings" ("room", "createdAt", "id")`,
    sql`create index "recordingsNewestOfStatus" on "recordings" ("status", "createdAt", "id")`,
    sql`create index "recordingsOfSession" on "recordings" ("roomSid", "createdAt")`,
    // This index is the lock: one active recording and one active broadcast per room. The claim repeats its predicate literally.
    sql`create unique index "recordingsOneActivePerRoom" on "recordings" ("room", "kind")
      where status in ('starting', 'recording')`,
  ];
}

function eventTables({ text, integer }: ColumnTypes): Statements {
  return [
    sql`create table "counters" ("name" ${text} not null primary key, "value" ${integer} not null)`,
    sql`insert into "counters" ("name", "value") values
      ('blocks', 0), ('events', 0), ('plans', 0), ('purgedAt', 0), ('rooms', 0)`,
    sql`create table "events" (
      "position" ${integer} not null primary key,
      "id" ${text} not null unique,
      "sourceId" ${text} not null unique,
      "type" ${text} not null,
      "room" ${text},
      "roomSid" ${text},
      "sequence" ${integer},
      "payload" ${text} not null,
      "occurredAt" ${integer} not null,
      "createdAt" ${integer} not null,
      "traceparent" ${text}
    )`,
    sql`create index "eventsOfRoom" on "events" ("room", "position", "type")`,
    sql`create index "eventsOfType" on "events" ("type", "position")`,
    sql`create index "eventsOldest" on "events" ("createdAt", "position")`,
    sql`create table "fanOuts" (
      "eventId" ${text} not null primary key,
      "createdAt" ${integer} not null,
      "afterCreatedAt" ${integer},
      "afterId" ${text}
    )`,
  ];
}

/** The rooms, people and tracks that events report, and comparisons with the media server. */
function sessionTables({ text, integer }: ColumnTypes): Statements {
  return [
    sql`create table "roomSessions" (
      "sid" ${text} not null primary key,
      "name" ${text} not null,
      "createdAt" ${integer} not null,
      "startedAt" ${integer},
      "endedAt" ${integer},
      "sequence" ${integer} not null,
      "metadata" ${text},
      "settleAt" ${integer}
    )`,
    sql`create index "roomSessionsToSettle" on "roomSessions" ("settleAt") where "settleAt" is not null`,
    sql`create index "roomSessionsEnded" on "roomSessions" ("endedAt")`,
    sql`create index "roomSessionsNewest" on "roomSessions" ("createdAt", "sid")`,
    sql`create index "roomSessionsOpen" on "roomSessions" ("name") where "endedAt" is null`,
    sql`create index "roomSessionsOfName" on "roomSessions" ("name", "createdAt")`,
    sql`create table "participantSessions" (
      "sid" ${text} not null primary key,
      "roomSid" ${text} not null,
      "identity" ${text} not null,
      "name" ${text} not null,
      "countsAs" ${text} not null,
      "joinedAt" ${integer},
      "leftAt" ${integer},
      "metadata" ${text},
      "accessRole" ${text},
      "untoldUntil" ${integer},
      "keyId" ${text}
    )`,
    sql`create index "participantSessionsOfIdentity" on "participantSessions" ("roomSid", "identity", "joinedAt")`,
    sql`create index "participantSessionsOfRoom" on "participantSessions" ("roomSid", "leftAt")`,
    sql`create table "publishedTracks" (
      "sid" ${text} not null primary key,
      "participantSid" ${text} not null,
      "roomSid" ${text} not null,
      "track" ${text} not null,
      "publishedAt" ${integer} not null,
      "unpublishedAt" ${integer},
      "untoldUntil" ${integer}
    )`,
    sql`create index "publishedTracksOfParticipant" on "publishedTracks" ("participantSid", "publishedAt")`,
    sql`create index "publishedTracksOfRoom" on "publishedTracks" ("roomSid", "unpublishedAt")`,
    sql`create index "publishedTracksOldest" on "publishedTracks" ("publishedAt")`,
    sql`create table "usage" (
      "sourceId" ${text} not null, "kind" ${text} not null, "day" ${integer} not null,
      "role" ${text} not null, "keyId" ${text} not null, "room" ${text} not null,
      "prefix" ${text} not null, "roomSid" ${text} not null, "ms" ${integer} not null,
      "peak" ${integer} not null, "bytes" ${integer} not null, "isFinal" ${integer} not null,
      constraint "usageKey" primary key ("sourceId", "kind", "day", "role", "keyId")
    )`,
    sql`create index "usageOfDay" on "usage" ("day")`,
    sql`create index "usageOfRoom" on "usage" ("room", "day")`,
    sql`create index "usageOfSession" on "usage" ("roomSid")`,
    sql`create table "comparisons" (
      "name" ${text} not null primary key,
      "owner" ${text},
      "leaseUntil" ${integer} not null,
      "number" ${integer} not null,
      "completed" ${integer} not null
    )`,
  ];
}

function webhookTables({ text, integer }: ColumnTypes): Statements {
  return [
    sql`create table "webhooks" (
      "id" ${text} not null primary key,
      "url" ${text} not null,
      "events" ${text} not null,
      "secret" ${text} not null,
      "previousSecret" ${text},
      "previousSecretUntil" ${integer},
      "createdAt" ${integer} not null,
      "updatedAt" ${integer} not null,
      "ordering" ${text} default 'none' not null,
      "createdBy" ${text} default 'root' not null,
      "rooms" ${text},
      "pausedAt" ${integer}
    )`,
    sql`create index "webhooksOfKey" on "webhooks" ("createdBy")`,
    sql`create index "webhooksOfRooms" on "webhooks" ("rooms", "createdAt", "id") where "rooms" is not null`,
    sql`create table "deletedWebhooks" ("id" ${text} not null primary key, "deletedAt" ${integer} not null)`,
  ];
}

function deliveryTables({ text, integer }: ColumnTypes): Statements {
  return [
    sql`create table "deliveries" (
      "id" ${text} not null primary key,
      "webhookId" ${text} not null,
      "eventId" ${text} not null,
      "eventName" ${text} not null,
      "state" ${text} not null,
      "dueAt" ${integer} not null,
      "createdAt" ${integer} not null,
      "endedAt" ${integer},
      "attempts" ${integer} not null,
      "roundAttempts" ${integer} not null,
      "leaseOwner" ${text},
      "leaseUntil" ${integer},
      "claimableAt" ${integer} generated always as (${CLAIMABLE_AT}) stored,
      "orderingKey" ${text},
      "sequence" ${integer},
      "waiting" ${integer},
      "log" ${text}
    )`,
    // The deliveries of a transaction that its instance is sending, until they have rows: a list as JSON text.
    sql`create table "parcels" (
      "id" ${text} not null primary key,
      "owner" ${text} not null,
      "leaseUntil" ${integer} not null,
      "deliveries" ${text} not null
    )`,
    sql`create index "parcelsByLease" on "parcels" ("leaseUntil")`,
    // A delivery that waits for an earlier one of its room is not in this index, so that a claim never walks over it.
    sql`create index "deliveriesClaimable" on "deliveries" ("webhookId", "claimableAt")
      where state = 'pending' and waiting is null`,
    // A delivery enters the large index of the log once, when it ends. One index for all states would take three writes for
    // each delivery, on pages of its webhook that no other delivery of the event shares.
    sql`create index "deliveriesNewestEnded" on "deliveries" ("webhookId", "state", "createdAt", "id")
      where state <> 'pending'`,
    sql`create index "deliveriesNewestPending" on "deliveries" ("webhookId", "createdAt", "id")
      where state = 'pending'`,
    sql`create index "deliveriesOfOrder" on "deliveries" ("webhookId", "orderingKey", "sequence")
      where state = 'pending' and "orderingKey" is not null`,
  ];
}

/**
 * The deliveries that only a parcel has, with the columns of deliveries. What a parcel lists has none if its event was stored
 * before, by another transaction.
 */
function viewOfParcels(engine: Engine<Tables>['name']): RawBuilder<unknown> {
  const items =
    engine === 'SQLite'
      ? sql`json_each(parcels.deliveries) as item`
      : sql`lateral json_array_elements(parcels.deliveries::json) as item (value)`;
  const bytewise = engine === 'SQLite' ? sql`` : sql`collate "C"`;
  const text = (place: number) => sql`(item.value ->> ${sql.lit(place)}) ${bytewise}`;
  return sql`create view "parcelledDeliveries" as
    select ${text(0)} as id, ${text(1)} as "webhookId", ${text(2)} as "eventId", ${text(3)} as "eventName",
      cast(item.value ->> 4 as bigint) as "dueAt", cast(item.value ->> 4 as bigint) as "createdAt",
      owner as "leaseOwner", "leaseUntil", cast(null as text) as "orderingKey", cast(null as bigint) as sequence,
      cast(null as bigint) as waiting, 'pending' as state, 0 as attempts, 0 as "roundAttempts",
      cast(null as bigint) as "endedAt", cast(null as text) as log
    from parcels cross join ${items}
    where not exists (select 1 from deliveries where deliveries.id = ${text(0)})
      and exists (select 1 from events where events.id = ${text(2)})`;
}

/** Identities that may not be in a room, and terms that are likely to be said there. */
function roomTables({ text, integer }: ColumnTypes): Statements {
  return [
    sql`create table "blocks" (
      "room" ${text} not null,
      "identity" ${text} not null,
      "createdAt" ${integer} not null,
      "blockedUntil" ${integer},
      "changeNumber" ${integer} not null,
      "createdBy" ${text} default 'root' not null,
      constraint "blocksKey" primary key ("room", "identity")
    )`,
    // For instances that read what has changed since they read last.
    sql`create index "blocksChanged" on "blocks" ("changeNumber")`,
    sql`create index "blocksEnding" on "blocks" ("blockedUntil")`,
    sql`create index "blocksOfKey" on "blocks" ("createdBy", "blockedUntil")`,
    sql`create table "rooms" (
      "room" ${text} not null primary key,
      "maxParticipants" ${integer}, "emptyTimeout" ${integer},
      "departureTimeout" ${integer}, "metadata" ${text},
      "closedTo" ${text}, "closedAt" ${integer},
      "closedUntil" ${integer}, "closedSid" ${text},
      "keptUntil" ${integer}, "changeNumber" ${integer} not null,
      "plan" ${text}
    )`,
    sql`create index "roomsChanged" on "rooms" ("changeNumber")`,
    sql`create index "roomsClosed" on "rooms" ("room") where "closedTo" is not null`,
    sql`create index "roomsEnding" on "rooms" ("keptUntil")`,
    sql`create table "vocabularies" (
      "room" ${text} not null primary key,
      "terms" ${text} not null,
      "createdBy" ${text} default 'root' not null
    )`,
    sql`create index "vocabulariesOfKey" on "vocabularies" ("createdBy")`,
  ];
}

/** Plans of rooms, and what is due in open rooms that have one. */
function planTables({ text, integer }: ColumnTypes): Statements {
  return [
    sql`create table "plans" (
      "subject" ${text} not null primary key,
      "id" ${text} not null,
      "settings" ${text} not null,
      "createdAt" ${integer} not null, "updatedAt" ${integer} not null,
      "deletedAt" ${integer}, "changeNumber" ${integer} not null,
      "createdBy" ${text} not null
    )`,
    sql`create index "plansOfKey" on "plans" ("createdBy") where "deletedAt" is null`,
    sql`create unique index "plansById" on "plans" ("id") where "deletedAt" is null`,
    sql`create index "plansChanged" on "plans" ("changeNumber")`,
    sql`create index "plansDeleted" on "plans" ("deletedAt") where "deletedAt" is not null`,
    sql`create table "plannedRooms" (
      "sid" ${text} not null primary key,
      "room" ${text} not null,
      "createdAt" ${integer} not null, "startedAt" ${integer}, "aloneSince" ${integer},
      "closesAt" ${integer}, "warnedAt" ${integer},
      "closeReason" ${text}, "dueAt" ${integer}, "triggeredAt" ${integer}
    )`,
    sql`create index "plannedRoomsDue" on "plannedRooms" ("dueAt") where "dueAt" is not null`,
    sql`create table "entryDecisions" (
      "waitingId" ${text} not null primary key,
      "room" ${text} not null, "identity" ${text} not null,
      "outcome" ${text} not null, "person" ${text},
      "decidedAt" ${integer} not null, "keptUntil" ${integer} not null
    )`,
    sql`create index "entryDecisionsOfPerson" on "entryDecisions" ("identity", "room")`,
    sql`create index "entryDecisionsEnding" on "entryDecisions" ("keptUntil")`,
    sql`create table "plannedStarts" (
      "sid" ${text} not null,
      "starts" ${text} not null,
      "room" ${text} not null,
      "dueAt" ${integer},
      constraint "plannedStartsKey" primary key ("sid", "starts")
    )`,
    sql`create index "plannedStartsDue" on "plannedStarts" ("dueAt") where "dueAt" is not null`,
  ];
}

/** API keys beside the root key, requests with an Idempotency-Key, the audit log, running instances, and named leases. */
function accessTables({ text, integer }: ColumnTypes): Statements {
  return [
    sql`create table "apiKeys" (
      "id" ${text} not null primary key,
      "name" ${text} not null,
      "scopes" ${text} not null,
      "rooms" ${text}, "limits" ${text}, "secret" ${text},
      "createdAt" ${integer} not null, "expiresAt" ${integer}, "revokedAt" ${integer},
      "lastUsedAt" ${integer}
    )`,
    sql`create index "apiKeysOldest" on "apiKeys" ("createdAt", "id")`,
    sql`create table "idempotentRequests" (
      "id" ${text} not null primary key,
      "fingerprint" ${text} not null,
      "owner" ${text} not null,
      "leaseUntil" ${integer} not null,
      "response" ${text},
      "expiresAt" ${integer} not null
    )`,
    sql`create index "idempotentRequestsExpiring" on "idempotentRequests" ("expiresAt")`,
    sql`create table "auditEntries" (
      "id" ${text} not null primary key,
      "occurredAt" ${integer} not null,
      "keyId" ${text} not null,
      "method" ${text} not null,
      "path" ${text} not null,
      "ids" ${text} not null,
      "room" ${text},
      "address" ${text},
      "requestId" ${text} not null,
      "status" ${integer} not null,
      "problem" ${text},
      "expiresAt" ${integer}
    )`,
    sql`create index "auditExpiring" on "auditEntries" ("expiresAt") where "expiresAt" is not null`,
    sql`create index "auditNewest" on "auditEntries" ("occurredAt", "id")`,
    sql`create index "auditOfKey" on "auditEntries" ("keyId", "occurredAt", "id")`,
    sql`create index "auditOfRequest" on "auditEntries" ("requestId")`,
    sql`create index "auditOfRoom" on "auditEntries" ("room", "occurredAt", "id")`,
    sql`create table "instances" (
      "id" ${text} not null primary key, "version" ${text} not null,
      "keyIds" ${text} not null, "aliveUntil" ${integer} not null)`,
    sql`create table "leases" (
      "name" ${text} not null primary key,
      "owner" ${text} not null,
      "leaseUntil" ${integer} not null
    )`,
  ];
}
