import { type RawBuilder, sql } from 'kysely';
import type { ColumnTypes, Engine } from '../platform/storage/engine.ts';
import { BLOCK_KEYS } from '../platform/storage/search/segment-marks.ts';
import type { Tables } from './tables.ts';

/*
 * Segments with their full-text search. Both engines maintain the index themselves, in the transaction that writes or
 * deletes the segment. `searchKey` ascends in the order in which segments were stored, which is the order of the results.
 * The service makes the terms (`indexedTerms`): words without their accents, stems after the language's tag, pairs of
 * characters of scripts that put no spaces between words, and marks of the room, the language and the time. The trigger adds
 * the mark of the block of keys, with which a step of a search reads its part of the index.
 *
 * `segmentLanguages` has every language of which there ever was a segment, so that a query has the stems of these only.
 */

export function segmentTables(types: ColumnTypes, engine: Engine<Tables>['name']): Statements {
  const tables = engine === 'SQLite' ? sqliteSegments(types) : postgresSegments(types);
  return [
    sql`create table "segmentLanguages" ("language" ${types.text} not null primary key)`,
    ...tables,
    sql`create index "segmentsOfTranscription" on "segments" ("transcriptionId", "startedAt", "id")`,
    sql`create index "segmentsOfIdentity" on "segments" ("identity", "transcriptionId")`,
    // For readers that wait for the next stored segments, and skip those that ended before an instant.
    sql`create index "segmentsAsStored" on "segments" ("transcriptionId", "searchKey", "endedAt")`,
    // Tells without reading all segments whether one of a transcription has a track.
    sql`create index "segmentsOfTracks" on "segments" ("transcriptionId") where "trackId" is not null`,
  ];
}

export type Statements = readonly RawBuilder<unknown>[];

/** SQLite uses the name for its own 8-byte float. */
const FLOAT = sql`double precision`;

/**
 * The index refers to rows by number. Only the number of an `integer primary key` survives a vacuum. The index has its own
 * copy of the terms, because it can delete words only when it gets exactly the terms that it indexed before, and a later
 * version may stem differently. Its tokenizer takes nothing off them; secure-delete deletes words at once, not when a page
 * happens to be rewritten. The triggers call `indexedTerms`, which the connection defines.
 */
function sqliteSegments({ text, integer }: ColumnTypes): Statements {
  const add = sql`insert into "segmentWords" ("rowid", "terms")
    values (new."searchKey", "indexedTerms"(new."text", new."language",
      (select "room" from "transcriptions" where "id" = new."transcriptionId"), new."startedAt")
      || ' b:' || (new."searchKey" / ${sql.lit(BLOCK_KEYS)}))`;
  const addLanguage = sql`insert or ignore into "segmentLanguages" values (new."language")`;
  const remove = sql`delete from "segmentWords" where "rowid" = old."searchKey"`;
  return [
    sql`create table "segments" (
      "searchKey" integer primary key autoincrement,
      "id" ${text} not null unique,
      ${segmentColumns({ text, integer })},
      "words" ${text}
    )`,
    sql`create virtual table "segmentWords" using fts5(
      "terms", tokenize='unicode61 remove_diacritics 0 categories ''L* N* M* Co'' tokenchars '':'''
    )`,
    sql`insert into "segmentWords" ("segmentWords", "rank") values ('secure-delete', 1)`,
    sql`create trigger "segmentAdded" after insert on "segments" begin
      ${add};
      ${addLanguage};
    end`,
    sql`create trigger "segmentDeleted" after delete on "segments" begin ${remove}; end`,
    sql`create trigger "segmentChanged" after update of "text", "language" on "segments" begin
      ${remove};
      ${add};
      ${addLanguage};
    end`,
  ];
}

/** A tsvector has a limited size; no segment comes near it. */
const SEARCHED_CHARACTERS = 65_536;

/**
 * Whoever writes a segment brings its terms. One that was stored without terms is found by its words as they are. The trigger
 * adds the mark of the block, with which a search reads a part of the index: without it the index returns all segments of a
 * word at once. A list of pending entries would be read by each search, therefore there is none.
 */
function postgresSegments({ text, integer }: ColumnTypes): Statements {
  return [
    sql`create table "segments" (
      "id" ${text} not null primary key,
      ${segmentColumns({ text, integer })},
      "searchKey" bigint generated always as identity,
      "words" ${text},
      "searchTerms" tsvector
    )`,
    sql`create unique index "segmentsBySearchKey" on "segments" ("searchKey")`,
    sql`create index "segmentWords" on "segments" using gin ("searchTerms") with (fastupdate = off)`,
    sql`create function "indexSegment"() returns trigger language plpgsql as $$
    begin
      new."searchTerms" := coalesce(
        new."searchTerms",
        to_tsvector('pg_catalog.simple'::regconfig, left(new."text", ${sql.lit(SEARCHED_CHARACTERS)}))
      ) || array_to_tsvector(array['b:' || new."searchKey" / ${sql.lit(BLOCK_KEYS)}]);
      if not exists (select from "segmentLanguages" where "language" = new."language") then
        insert into "segmentLanguages" values (new."language") on conflict do nothing;
      end if;
      return new;
    end $$`,
    sql`create trigger "segmentAdded" before insert on "segments" for each row execute function "indexSegment"()`,
  ];
}

function segmentColumns({ text, integer }: ColumnTypes): RawBuilder<unknown> {
  return sql`"transcriptionId" ${text} not null,
      "trackId" ${text},
      "identity" ${text},
      "name" ${text},
      "text" ${text} not null,
      "language" ${text} not null,
      "startedAt" ${integer} not null,
      "endedAt" ${integer} not null,
      "confidence" ${FLOAT},
      "overlapMs" ${integer}`;
}

/** The turns of speakers during a recording, and each participant's audio. */
export function turnTables({ text, integer }: ColumnTypes): Statements {
  return [
    sql`create table "turns" (
      "recordingId" ${text} not null,
      "trackId" ${text} not null,
      "identity" ${text} not null,
      "name" ${text},
      "startedAt" ${integer} not null,
      "endedAt" ${integer} not null,
      constraint "turnsKey" primary key ("recordingId", "startedAt", "trackId")
    )`,
    sql`create index "turnsOfIdentity" on "turns" ("identity", "recordingId")`,
    sql`create table "turnListeners" (
      "recordingId" ${text} not null primary key,
      "owner" ${text} not null,
      "leaseUntil" ${integer} not null
    )`,
    sql`create table "turnSounds" (
      "recordingId" ${text} not null,
      "trackId" ${text} not null,
      "startedAt" ${integer} not null,
      "part" ${integer} not null,
      "keyId" ${text} not null,
      "sealed" ${text} not null,
      constraint "turnSoundsKey" primary key ("recordingId", "startedAt", "trackId", "part")
    )`,
    sql`create index "turnSoundsByAge" on "turnSounds" ("startedAt")`,
  ];
}

export function transcriptionTables({ text, integer }: ColumnTypes): Statements {
  return [
    sql`create table "transcriptions" (
      "id" ${text} not null primary key,
      "kind" ${text} not null,
      "room" ${text} not null,
      "recordingId" ${text},
      "egressId" ${text},
      "status" ${text} not null,
      "language" ${text} not null,
      "speakers" ${text} not null,
      "options" ${text} not null,
      "leaseOwner" ${text},
      "leaseUntil" ${integer},
      "dueAt" ${integer},
      "attempts" ${integer} not null,
      "progress" ${FLOAT} not null,
      "durationMs" ${integer},
      "errorCode" ${text},
      "errorMessage" ${text},
      "createdAt" ${integer} not null,
      "originAt" ${integer} not null,
      "startedAt" ${integer},
      "endedAt" ${integer},
      "roomSid" ${text}
    )`,
    sql`create index "transcriptionsEnded" on "transcriptions" ("endedAt", "id")`,
    sql`create index "transcriptionsNewest" on "transcriptions" ("kind", "createdAt", "id")`,
    sql`create index "transcriptionsNewestOfRecording" on "transcriptions" ("egressId", "createdAt", "id")`,
    sql`create index "transcriptionsNewestOfRoom" on "transcriptions" ("room", "kind", "createdAt", "id")`,
    sql`create index "transcriptionsNewestOfStatus" on "transcriptions" ("kind", "status", "createdAt", "id")`,
    sql`create index "transcriptionsOfSession" on "transcriptions" ("roomSid", "createdAt")`,
    sql`create unique index "transcriptionsOneActivePerRoom" on "transcriptions" ("room")
      where status = 'active'`,
    sql`create unique index "transcriptionsOnePerRecording" on "transcriptions" ("recordingId", "language")
      where kind = 'post' and status <> 'failed'`,
    sql`create index "transcriptionsOpen" on "transcriptions" ("status", "dueAt")
      where status in ('queued', 'processing')`,
  ];
}

/** The words that are said right now, and the workers that listen. */
export function liveTables({ text, integer }: ColumnTypes): Statements {
  return [
    sql`create table "interimSegments" (
      "transcriptionId" ${text} not null,
      "trackId" ${text} not null,
      "id" ${text} not null,
      "identity" ${text},
      "name" ${text},
      "text" ${text} not null,
      "language" ${text} not null,
      "startedAt" ${integer} not null,
      "endedAt" ${integer} not null,
      "confidence" ${FLOAT},
      "updatedAt" ${integer} not null,
      "overlapMs" ${integer},
      "words" ${text},
      constraint "interimSegmentsPrimaryKey" primary key ("transcriptionId", "trackId")
    )`,
    sql`create table "speechWorkers" (
      "id" ${text} not null primary key,
      "kind" ${text} not null,
      "languages" ${text} not null,
      "aliveUntil" ${integer} not null,
      "failedModels" ${text} not null
    )`,
  ];
}
