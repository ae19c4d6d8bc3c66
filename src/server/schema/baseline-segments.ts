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
export const FLOAT = sql`double precision`;

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
