import { type RawBuilder, sql } from 'kysely';
import { isOfRooms } from '../../../contract/keys.ts';
import { addConditions, splitAtWords, termQuery } from '../../platform/storage/search/search-terms.ts';
import {
  blockQuery,
  languageMark,
  prefixMark,
  roomMark,
  timeQuery,
} from '../../platform/storage/search/segment-marks.ts';
import { matchText, queryText, type TermQuery } from '../../platform/storage/search/term-query.ts';
import { sanitizeText } from '../../platform/storage/statements.ts';
import type { Connection, TranscriptionRow } from '../../schema/tables.ts';
import { toTranscription } from '../claims.sql.ts';
import type { TurnRow } from '../turns/store.ts';
import type {
  FoundSegment,
  KeyRange,
  Speaker,
  SpeechRemains,
  WordHit,
  WordQuery,
  WordSearch,
  WordStore,
} from './store.ts';

export function createWordStore(connection: Connection): WordStore {
  return {
    prepareSearch: (query) => prepareSearch(connection, query),
    findWithin: (search, range) => findWithin(connection, search, range),
    describeHits: (search, found) => describeHits(connection, search, found),
    forget: (speaker, limit) => forget(connection, speaker, limit),
    forgetTurns: (speaker, limit) => forgetTurns(connection, speaker, limit),
    countRemains: (speaker) => countRemains(connection, speaker),
  };
}

async function prepareSearch(connection: Connection, query: WordQuery): Promise<WordSearch | undefined> {
  const { language, room, rooms, egressId, since, until } = query;
  const languages = await listLanguages(connection, language);
  const words = languages.length === 0 ? undefined : termQuery(sanitizeText(query.text), languages);
  if (words === undefined) return undefined;
  const conditions: TermQuery[] = [];
  if (room !== undefined) conditions.push({ phrase: [roomMark(sanitizeText(room))] });
  if (rooms !== undefined) {
    conditions.push({ any: rooms.map((prefix) => ({ phrase: [prefixMark(prefix)] })) });
  }
  if (language !== undefined) conditions.push({ phrase: [languageMark(language)] });
  if (since !== undefined || until !== undefined) conditions.push(timeQuery(since, until));
  const terms = addConditions(words, conditions);
  if (egressId === undefined) {
    const end = (await findLastKey(connection)) + 1;
    return { query, terms, transcriptionIds: undefined, first: 1, end };
  }
  const spans = await listSpans(connection, sanitizeText(egressId));
  if (spans.length === 0) return undefined;
  const transcriptionIds = spans.map(({ id }) => id);
  const first = Math.min(...spans.map((span) => span.first));
  return { query, terms, transcriptionIds, first, end: Math.max(...spans.map((span) => span.last)) + 1 };
}

/** Returns the stored languages that the search is about, as BCP 47 tags. */
async function listLanguages({ db }: Connection, asked: string | undefined): Promise<readonly string[]> {
  const tag = asked?.toLowerCase();
  const rows = await db.selectFrom('segmentLanguages').select('language').execute();
  const stored = rows.map(({ language }) => language);
  if (tag === undefined) return stored;
  return stored
    .map((language) => language.toLowerCase())
    .filter((found) => found === tag || found.startsWith(`${tag}-`));
}

async function findLastKey({ db }: Connection): Promise<number> {
  const { rows } = await sql<{ last: number | null }>`
    select max("searchKey") as last from segments`.execute(db);
  return rows[0]?.last ?? 0;
}

type Span = { readonly id: string; readonly first: number; readonly last: number };

/** Returns the keys between which the segments of each transcription of the recording are. */
async function listSpans({ db }: Connection, egressId: string): Promise<readonly Span[]> {
  const { rows } = await sql<Span>`
    select id,
      (select min("searchKey") from segments where "transcriptionId" = transcriptions.id) as first,
      (select max("searchKey") from segments where "transcriptionId" = transcriptions.id) as last
    from transcriptions where "egressId" = ${egressId}`.execute(db);
  return rows.filter(({ last }) => last !== null);
}

async function findWithin(
  { db, dialect }: Connection,
  search: WordSearch,
  range: KeyRange,
): Promise<readonly FoundSegment[]> {
  const find = dialect.engine === 'SQLite' ? findOnSqlite : findOnPostgres;
  return (await find(search.terms, { ...range, filter: toFilter(dialect, search) }).execute(db)).rows;
}

const COLUMNS = sql`segments."id", segments."transcriptionId", segments."trackId", segments."identity",
  segments."name", segments."text", segments."language", segments."startedAt", segments."endedAt",
  segments."confidence", segments."overlapMs", segments."searchKey"`;

/** The conditions that the index knows only roughly. The room is compared when the hits are described. */
function toFilter(
  dialect: Connection['dialect'],
  { query: { language, since, until }, transcriptionIds }: WordSearch,
): RawBuilder<unknown> {
  const tag = language?.toLowerCase();
  const conditions = [
    transcriptionIds === undefined
      ? undefined
      : sql`segments."transcriptionId" ${dialect.oneOf(transcriptionIds)}`,
    tag === undefined
      ? undefined
      : sql`(lower(segments."language") = ${tag} or lower(segments."language") like ${`${tag}-%`})`,
    since === undefined ? undefined : sql`segments."startedAt" >= ${since}`,
    until === undefined ? undefined : sql`segments."startedAt" < ${until}`,
  ];
  const given = conditions.filter((condition) => condition !== undefined);
  return given.length === 0 ? sql`` : sql`and ${sql.join(given, sql` and `)}`;
}

type Find = KeyRange & { readonly filter: RawBuilder<unknown> };

/**
 * Reads the index from the newest row of the range on, and not more rows than the page needs, because a cross join keeps the
 * order of the tables. The marks of the blocks end the reading of words that never occur together. The index seeks only to
 * whole numbers, and a number of JavaScript arrives as another kind.
 */
function findOnSqlite(terms: TermQuery, { filter, first, end, limit }: Find): RawBuilder<FoundSegment> {
  return sql<FoundSegment>`
    select ${COLUMNS}
    from "segmentWords" cross join segments on segments."searchKey" = "segmentWords"."rowid"
    where "segmentWords" match ${matchText(addConditions(terms, [blockQuery(first, end)]))}
      and "segmentWords"."rowid" >= cast(${first} as integer)
      and "segmentWords"."rowid" < cast(${end} as integer) ${filter}
    order by "segmentWords"."rowid" desc limit ${limit}`;
}

/**
 * Reads the blocks of the range from the index of words. The sums keep PostgreSQL from reading the rows of the range one by
 * one instead, which it believes to be cheap because it does not know how rare the words are.
 */
function findOnPostgres(terms: TermQuery, { filter, first, end, limit }: Find): RawBuilder<FoundSegment> {
  const query = queryText({ all: [blockQuery(first, end), terms] });
  return sql<FoundSegment>`
    select ${COLUMNS} from segments
    where "searchTerms" @@ ${query}::tsquery
      and "searchKey" + 0 >= ${first} and "searchKey" + 0 < ${end} ${filter}
    order by "searchKey" + 0 desc limit ${limit}`;
}

async function describeHits(
  { db, dialect }: Connection,
  { query }: WordSearch,
  found: readonly FoundSegment[],
): Promise<readonly WordHit[]> {
  if (found.length === 0) return [];
  const ids = [...new Set(found.map(({ transcriptionId }) => transcriptionId))];
  const room = query.room === undefined ? undefined : sanitizeText(query.room);
  const { rows } = await sql<TranscriptionRow & { readonly hasTracks: number | boolean }>`
    select transcriptions.*, exists (
      select 1 from segments where "transcriptionId" = transcriptions.id and "trackId" is not null
    ) as "hasTracks"
    from transcriptions where id ${dialect.oneOf(ids)}`.execute(db);
  const byId = new Map(rows.map(({ hasTracks, ...row }) => [row.id, { row, hasTracks: Boolean(hasTracks) }]));
  const text = sanitizeText(query.text);
  return found.flatMap(({ transcriptionId, searchKey: _, ...segment }): WordHit[] => {
    const transcribed = byId.get(transcriptionId);
    if (transcribed === undefined || (room !== undefined && transcribed.row.room !== room)) return [];
    if (!isOfRooms(transcribed.row.room, query.rooms)) return [];
    const pieces = splitAtWords(segment.text, text, segment.language);
    return [
      { segment, transcription: toTranscription(transcribed.row), hasTracks: transcribed.hasTracks, pieces },
    ];
  });
}

type PersonRow = { readonly id: string; readonly transcriptionId: string };

/** Locks the transcriptions first, in the order of their ids, like all code that stores or deletes segments. */
function forget(
  { atomically, dialect, changes }: Connection,
  speaker: Speaker,
  limit: number,
): Promise<readonly string[]> {
  const identity = sanitizeText(speaker.identity);
  const ofRoom = inRoom(speaker);
  return atomically(async (db) => {
    const { rows: found } = await sql<PersonRow>`
      select id, "transcriptionId" from segments
      where identity = ${identity} and ${ofRoom} limit ${limit}`.execute(db);
    const transcriptionIds = [...new Set(found.map(({ transcriptionId }) => transcriptionId))];
    await sql`
      select id from transcriptions where id ${dialect.oneOf(transcriptionIds)}
      order by id ${dialect.lockRows}`.execute(db);
    const ids = found.map(({ id }) => id);
    const { rows: deleted } = await sql<Pick<PersonRow, 'transcriptionId'>>`
      delete from segments where id ${dialect.oneOf(ids)} returning "transcriptionId"`.execute(db);
    await sql`delete from "interimSegments" where identity = ${identity} and ${ofRoom}`.execute(db);
    changes.note(db, 'transcriptions');
    return deleted.map(({ transcriptionId }) => transcriptionId);
  });
}

type FoundTurn = Pick<TurnRow, 'recordingId' | 'trackId' | 'startedAt'>;

/** Deletes turns with their kept audio. */
function forgetTurns({ atomically }: Connection, speaker: Speaker, limit: number): Promise<number> {
  const { room } = speaker;
  const ofRoom =
    room === undefined
      ? sql`1 = 1`
      : sql`"recordingId" in (select id from recordings where room = ${sanitizeText(room)})`;
  return atomically(async (db) => {
    const { rows } = await sql<FoundTurn>`
      select "recordingId", "trackId", "startedAt" from turns
      where identity = ${sanitizeText(speaker.identity)} and ${ofRoom} limit ${limit}`.execute(db);
    for (const { recordingId, trackId, startedAt } of rows) {
      for (const table of ['turnSounds', 'turns'] as const) {
        await db
          .deleteFrom(table)
          .where('recordingId', '=', recordingId)
          .where('startedAt', '=', startedAt)
          .where('trackId', '=', trackId)
          .execute();
      }
    }
    return rows.length;
  });
}

async function countRemains({ db }: Connection, speaker: Speaker): Promise<SpeechRemains> {
  const room = speaker.room === undefined ? undefined : sanitizeText(speaker.room);
  const running = await sql<{ count: number }>`
    select count(*) as count from transcriptions
    where status in ('active', 'queued', 'processing')
      ${room === undefined ? sql`` : sql`and room = ${room}`}`.execute(db);
  const recordings = await sql<{ count: number }>`
    select count(distinct recordings.id) as count from turns
      join recordings on recordings.id = turns."recordingId"
    where turns.identity = ${sanitizeText(speaker.identity)}
      ${room === undefined ? sql`` : sql`and recordings.room = ${room}`}`.execute(db);
  return { running: running.rows[0]?.count ?? 0, recordings: recordings.rows[0]?.count ?? 0 };
}

function inRoom({ room }: Speaker): RawBuilder<boolean> {
  if (room === undefined) return sql<boolean>`1 = 1`;
  return sql<boolean>`"transcriptionId" in (select id from transcriptions where room = ${sanitizeText(room)})`;
}
