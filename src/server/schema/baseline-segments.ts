import { type RawBuilder, sql } from 'kysely';
import type { ColumnTypes, Engine } from '../platform/storage/engine.ts';
import type { Tables } from './tables.ts';

/*
 * Segments with their full-text search. Both engines maintain the index themselves, in the transaction that writes or
 * deletes the segment. `searchKey` ascends in the order in which segments were stored, which is the order of the results.
 * The service makes the terms (`indexedTerms`): words without their accents, stems after the language's tag, and pairs of
 * characters of scripts that put no spaces between words.
 */

export function segmentTables(types: ColumnTypes, engine: Engine<Tables>['name']): Statements {
  const tables = engine === 'SQLite' ? sqliteSegments(types) : postgresSegments(types);
  return [
    ...tables,
    sql`create index "segmentsOfTranscription" on "segments" ("transcriptionId", "startedAt", "id")`,
    sql`create index "segmentsOfIdentity" on "segments" ("identity", "transcriptionId")`,
    // For readers that wait for the next stored segments.
    sql`create index "segmentsAsStored" on "segments" ("transcriptionId", "searchKey")`,
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
    values (new."searchKey", "indexedTerms"(new."text", new."language"))`;
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
    sql`create trigger "segmentAdded" after insert on "segments" begin ${add}; end`,
    sql`create trigger "segmentDeleted" after delete on "segments" begin ${remove}; end`,
    sql`create trigger "segmentChanged" after update of "text", "language" on "segments" begin
      ${remove};
      ${add};
    end`,
  ];
}

/** A tsvector has a limited size; no segment comes near it. */
const SEARCHED_CHARACTERS = 65_536;

/** Whoever writes a segment brings its terms. One that was stored without terms is found by its words as they are. */
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
    sql`create index "segmentWords" on "segments" using gin ("searchTerms")`,
    sql`create function "indexPlainWords"() returns trigger language plpgsql as $$
    begin
      new."searchTerms" := to_tsvector('pg_catalog.simple'::regconfig, left(new."text", ${sql.lit(SEARCHED_CHARACTERS)}));
      return new;
    end $$`,
    sql`create trigger "segmentAdded" before insert on "segments" for each row
      when (new."searchTerms" is null) execute function "indexPlainWords"()`,
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
