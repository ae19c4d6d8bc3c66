import { type Kysely, sql } from 'kysely';
import type { Engine } from '../../../../src/server/platform/storage/engine.ts';
import { indexedTerms } from '../../../../src/server/platform/storage/search/search-terms.ts';
import { vectorText } from '../../../../src/server/platform/storage/search/term-query.ts';

type EngineName = Engine<unknown>['name'];

/*
 * Full-text search over segments. Both engines maintain the index themselves, in the transaction that writes or deletes the
 * segment. `searchKey` ascends in the order in which segments were stored, which is the order of the results.
 */

/** Migration 016. */
export async function createSearch(db: Kysely<unknown>, engine: EngineName): Promise<void> {
  await (engine === 'SQLite' ? createSqliteSearch(db) : createPostgresSearch(db));
  await db.schema
    .createIndex('segmentsOfIdentity')
    .on('segments')
    .columns(['identity', 'transcriptionId'])
    .execute();
}

/**
 * The index refers to rows by number. Only the number of an `integer primary key` survives a vacuum, so the table is created
 * again with one. The triggers pass the old text to the index, which needs it to delete the words; secure-delete makes it do
 * so at once, not when it happens to rewrite the page.
 */
async function createSqliteSearch(db: Kysely<unknown>): Promise<void> {
  const columns = sql.raw(
    '"id", "transcriptionId", "trackId", "identity", "name", "text", "language", "startedAt", "endedAt", "confidence", "overlapMs"',
  );
  const statements = [
    sql`create table "segmentsWithKey" (
      "searchKey" integer primary key autoincrement,
      "id" text not null unique,
      "transcriptionId" text not null,
      "trackId" text,
      "identity" text,
      "name" text,
      "text" text not null,
      "language" text not null,
      "startedAt" integer not null,
      "endedAt" integer not null,
      "confidence" double precision,
      "overlapMs" integer
    )`,
    sql`insert into "segmentsWithKey" (${columns}) select ${columns} from "segments" order by "startedAt", "id"`,
    sql`drop table "segments"`,
    sql`alter table "segmentsWithKey" rename to "segments"`,
    sql`create index "segmentsOfTranscription" on "segments" ("transcriptionId", "startedAt", "id")`,
    sql`create virtual table "segmentWords" using fts5(
      "text", content='segments', content_rowid='searchKey', tokenize='porter unicode61 remove_diacritics 2'
    )`,
    sql`insert into "segmentWords" ("segmentWords", "rank") values ('secure-delete', 1)`,
    sql`insert into "segmentWords" ("segmentWords") values ('rebuild')`,
    sql`create trigger "segmentAdded" after insert on "segments" begin
      insert into "segmentWords" ("rowid", "text") values (new."searchKey", new."text");
    end`,
    sql`create trigger "segmentDeleted" after delete on "segments" begin
      insert into "segmentWords" ("segmentWords", "rowid", "text") values ('delete', old."searchKey", old."text");
    end`,
    sql`create trigger "segmentChanged" after update of "text" on "segments" begin
      insert into "segmentWords" ("segmentWords", "rowid", "text") values ('delete', old."searchKey", old."text");
      insert into "segmentWords" ("rowid", "text") values (new."searchKey", new."text");
    end`,
  ];
  for (const statement of statements) await statement.execute(db);
}

/**
 * Migration 026. The index has its own copy of the terms, because it can delete words only when it gets exactly the terms
 * that it indexed before, and a later version may stem differently. The triggers call `indexedTerms`, which the connection
 * defines.
 */
export async function stemByLanguage(db: Kysely<unknown>, engine: EngineName): Promise<void> {
  if (engine !== 'SQLite') return;
  const add = sql`insert into "segmentWords" ("rowid", "terms")
    values (new."searchKey", "indexedTerms"(new."text", new."language", '', 0))`;
  const remove = sql`delete from "segmentWords" where "rowid" = old."searchKey"`;
  const statements = [
    sql`drop trigger "segmentAdded"`,
    sql`drop trigger "segmentDeleted"`,
    sql`drop trigger "segmentChanged"`,
    sql`drop table "segmentWords"`,
    sql`create virtual table "segmentWords" using fts5(
      "terms", tokenize='unicode61 remove_diacritics 2 tokenchars '':'''
    )`,
    sql`insert into "segmentWords" ("segmentWords", "rank") values ('secure-delete', 1)`,
    sql`insert into "segmentWords" ("rowid", "terms")
      select "searchKey", "indexedTerms"("text", "language", '', 0) from "segments" order by "searchKey"`,
    sql`create trigger "segmentAdded" after insert on "segments" begin ${add}; end`,
    sql`create trigger "segmentDeleted" after delete on "segments" begin ${remove}; end`,
    sql`create trigger "segmentChanged" after update of "text", "language" on "segments" begin
      ${remove};
      ${add};
    end`,
  ];
  for (const statement of statements) await statement.execute(db);
}

/**
 * Migration 027. Both engines index the terms that `indexedTerms` makes: words without their accents, and the characters
 * of scripts that put no spaces between words. SQLite's tokenizer takes nothing off them.
 */
export async function indexTerms(db: Kysely<unknown>, engine: EngineName): Promise<void> {
  await (engine === 'SQLite' ? indexSqliteTerms(db) : indexPostgresTerms(db));
}

/** The triggers are those of migration 026: they belong to another table, and name this one. */
async function indexSqliteTerms(db: Kysely<unknown>): Promise<void> {
  const statements = [
    sql`drop table "segmentWords"`,
    sql`create virtual table "segmentWords" using fts5(
      "terms", tokenize='unicode61 remove_diacritics 0 categories ''L* N* M* Co'' tokenchars '':'''
    )`,
    sql`insert into "segmentWords" ("segmentWords", "rank") values ('secure-delete', 1)`,
    sql`insert into "segmentWords" ("rowid", "terms")
      select "searchKey", "indexedTerms"("text", "language", '', 0) from "segments" order by "searchKey"`,
  ];
  for (const statement of statements) await statement.execute(db);
}

/**
 * Whoever writes a segment brings its terms. A process of an older version, which may run until it is replaced, brings
 * none: its segments are found by their words as they are.
 */
async function indexPostgresTerms(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "segments" drop column "searchTerms"`.execute(db);
  await sql`drop function "searchQuery"`.execute(db);
  await sql`drop function "searchConfiguration"`.execute(db);
  await sql`alter table "segments" add column "searchTerms" tsvector`.execute(db);
  await indexStoredSegments(db);
  await sql`create index "segmentWords" on "segments" using gin ("searchTerms")`.execute(db);
  await sql`
    create function "indexPlainWords"() returns trigger language plpgsql as $$
    begin
      new."searchTerms" := to_tsvector('pg_catalog.simple'::regconfig, left(new."text", ${sql.lit(SEARCHED_CHARACTERS)}));
      return new;
    end $$`.execute(db);
  await sql`
    create trigger "segmentAdded" before insert on "segments" for each row
    when (new."searchTerms" is null) execute function "indexPlainWords"()`.execute(db);
}

const INDEXED_AT_ONCE = 1_000;

async function indexStoredSegments(db: Kysely<unknown>): Promise<void> {
  let last = '0';
  for (;;) {
    const { rows } = await sql<{ readonly key: string; readonly text: string; readonly language: string }>`
      select "searchKey"::text as key, "text", "language" from "segments"
      where "searchKey" > ${last} order by "searchKey" limit ${INDEXED_AT_ONCE}`.execute(db);
    const end = rows.at(-1)?.key;
    if (end === undefined) return;
    const keys = rows.map(({ key }) => key);
    const vectors = rows.map(({ text, language }) =>
      vectorText(indexedTerms({ text, language, room: '', startedAt: 0 })),
    );
    await sql`
      update "segments" set "searchTerms" = listed.terms::tsvector
      from unnest(${keys}::bigint[], ${vectors}::text[]) as listed (key, terms)
      where "searchKey" = listed.key`.execute(db);
    last = end;
  }
}

/** For readers that wait for the next stored segments. */
export async function indexSegmentsAsStored(db: Kysely<unknown>): Promise<void> {
  await sql`create index "segmentsAsStored" on "segments" ("transcriptionId", "searchKey")`.execute(db);
}

/** A tsvector has a limited size; no segment comes near it. */
const SEARCHED_CHARACTERS = 65_536;

/**
 * Each row has its words as they are (`simple`) and as its language's configuration stems them. A query finds either. The
 * query of the index is that of all languages; the query of the row's own language is checked afterwards.
 */
async function createPostgresSearch(db: Kysely<unknown>): Promise<void> {
  const { rows: known } = await sql<{ name: string }>`
    select cfgname as name from pg_catalog.pg_ts_config
    where cfgnamespace = 'pg_catalog'::regnamespace`.execute(db);
  const names = new Set(known.map(({ name }) => name));
  const languages = Object.entries(CONFIGURATIONS).filter(([, name]) => names.has(name));
  const cases = languages.map(([tag, name]) => `when '${tag}' then 'pg_catalog.${name}'::regconfig`);
  const queries = languages.map(([, name]) => `plainto_tsquery('pg_catalog.${name}'::regconfig, query)`);
  const statements = [
    sql`create function "searchConfiguration"(language text) returns regconfig language sql immutable parallel safe as
      $$ select case split_part(lower(language), '-', 1) ${sql.raw(cases.join(' '))} else 'pg_catalog.simple'::regconfig end $$`,
    sql`create function "searchQuery"(query text) returns tsquery language sql immutable parallel safe as
      $$ select ${sql.raw(["plainto_tsquery('pg_catalog.simple'::regconfig, query)", ...queries].join(' || '))} $$`,
    sql`alter table "segments"
      add column "searchKey" bigint generated always as identity,
      add column "searchTerms" tsvector generated always as (
        to_tsvector('pg_catalog.simple'::regconfig, left("text", ${sql.lit(SEARCHED_CHARACTERS)})) ||
        to_tsvector("searchConfiguration"("language"), left("text", ${sql.lit(SEARCHED_CHARACTERS)}))
      ) stored`,
    sql`create unique index "segmentsBySearchKey" on "segments" ("searchKey")`,
    sql`create index "segmentWords" on "segments" using gin ("searchTerms")`,
  ];
  for (const statement of statements) await statement.execute(db);
}

/** PostgreSQL's configurations by language. Older versions lack some. */
const CONFIGURATIONS: Readonly<Record<string, string>> = {
  ar: 'arabic',
  ca: 'catalan',
  da: 'danish',
  de: 'german',
  el: 'greek',
  en: 'english',
  es: 'spanish',
  eu: 'basque',
  fi: 'finnish',
  fr: 'french',
  ga: 'irish',
  hi: 'hindi',
  hu: 'hungarian',
  hy: 'armenian',
  id: 'indonesian',
  it: 'italian',
  lt: 'lithuanian',
  nb: 'norwegian',
  ne: 'nepali',
  nn: 'norwegian',
  no: 'norwegian',
  nl: 'dutch',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sr: 'serbian',
  sv: 'swedish',
  ta: 'tamil',
  tr: 'turkish',
  yi: 'yiddish',
};
