import { type RawBuilder, sql } from 'kysely';
import { queryText } from '../../platform/storage/postgres/text-search.ts';
import { sanitizeText } from '../../platform/storage/sanitize-text.ts';
import { splitAtWords, type TermQuery, termQuery } from '../../platform/storage/search/search-terms.ts';
import { matchText } from '../../platform/storage/sqlite/match-text.ts';
import type { Connection, TranscriptionRow } from '../../schema/tables.ts';
import { toTranscription } from '../claims.sql.ts';
import type { StoredSegment } from '../store.ts';
import type { TurnRow } from '../turns/store.ts';
import type { Speaker, SpeechRemains, WordHit, WordHits, WordQuery, WordStore } from './store.ts';

export function createWordStore(connection: Connection): WordStore {
  return {
    search: (query) => search(connection, query),
    forget: (speaker, limit) => forget(connection, speaker, limit),
    forgetTurns: (speaker, limit) => forgetTurns(connection, speaker, limit),
    countRemains: (speaker) => countRemains(connection, speaker),
  };
}

type FoundRow = StoredSegment & {
  readonly transcriptionId: string;
  readonly searchKey: number | string;
};

async function search(connection: Connection, query: WordQuery): Promise<WordHits> {
  const { db, dialect } = connection;
  const text = sanitizeText(query.text);
  const terms = termQuery(text);
  if (terms === undefined) return { hits: [], nextBefore: null };
  const find = dialect.engine === 'SQLite' ? findOnSqlite : findOnPostgres;
  // One row more, to know whether there is a next page.
  const statement = find(terms, { ...query, limit: query.limit + 1, filter: toFilter(query) });
  const found = (await statement.execute(db)).rows;
  const rows = found.slice(0, query.limit);
  const last = rows.at(-1);
  const hasMore = found.length > query.limit && last !== undefined;
  return {
    hits: await findHits(connection, rows, text),
    nextBefore: hasMore ? Number(last.searchKey) : null,
  };
}

async function findHits(
  { db, dialect }: Connection,
  rows: readonly FoundRow[],
  query: string,
): Promise<readonly WordHit[]> {
  if (rows.length === 0) return [];
  const ids = [...new Set(rows.map(({ transcriptionId }) => transcriptionId))];
  const transcriptions = await sql<TranscriptionRow>`
    select * from transcriptions where id ${dialect.oneOf(ids)}`.execute(db);
  const tracked = await sql<{ id: string }>`
    select distinct "transcriptionId" as id from segments
    where "transcriptionId" ${dialect.oneOf(ids)} and "trackId" is not null`.execute(db);
  const tracks = new Set(tracked.rows.map(({ id }) => id));
  const byId = new Map(transcriptions.rows.map((row) => [row.id, toTranscription(row)]));
  return rows.flatMap((row): WordHit[] => {
    const { transcriptionId, searchKey: _, ...segment } = row;
    const transcription = byId.get(transcriptionId);
    // The transcription may have been deleted since its segments were found.
    if (transcription === undefined) return [];
    const pieces = splitAtWords(segment.text, query, segment.language);
    return [{ segment, transcription, hasTracks: tracks.has(transcriptionId), pieces }];
  });
}

type Find = Pick<WordQuery, 'limit' | 'before'> & { readonly filter: RawBuilder<unknown> };

const COLUMNS = sql`segments."id", segments."transcriptionId", segments."trackId", segments."identity",
  segments."name", segments."text", segments."language", segments."startedAt", segments."endedAt",
  segments."confidence", segments."overlapMs", segments."searchKey"`;

function toFilter({ room, egressId, language, since, until }: WordQuery): RawBuilder<unknown> {
  const tag = language?.toLowerCase();
  const conditions = [
    room === undefined ? undefined : sql`transcriptions."room" = ${sanitizeText(room)}`,
    egressId === undefined ? undefined : sql`transcriptions."egressId" = ${sanitizeText(egressId)}`,
    tag === undefined
      ? undefined
      : sql`(lower(segments."language") = ${tag} or lower(segments."language") like ${`${tag}-%`})`,
    since === undefined ? undefined : sql`segments."startedAt" >= ${since}`,
    until === undefined ? undefined : sql`segments."startedAt" < ${until}`,
  ];
  const given = conditions.filter((condition) => condition !== undefined);
  return given.length === 0 ? sql`` : sql`and ${sql.join(given, sql` and `)}`;
}

/**
 * Reads the index from the newest row on, and not more rows than the page needs, because cross joins keep the order of the
 * tables.
 */
function findOnSqlite(terms: TermQuery, { filter, before, limit }: Find): RawBuilder<FoundRow> {
  return sql<FoundRow>`
    select ${COLUMNS}
    from "segmentWords"
      cross join segments on segments."searchKey" = "segmentWords"."rowid"
      cross join transcriptions on transcriptions."id" = segments."transcriptionId"
    where "segmentWords" match ${matchText(terms)}
      ${before === undefined ? sql`` : sql`and "segmentWords"."rowid" < ${before}`} ${filter}
    order by "segmentWords"."rowid" desc limit ${limit}`;
}

function findOnPostgres(terms: TermQuery, { filter, before, limit }: Find): RawBuilder<FoundRow> {
  return sql<FoundRow>`
    select ${COLUMNS} from segments
      join transcriptions on transcriptions."id" = segments."transcriptionId"
    where segments."searchTerms" @@ ${queryText(terms)}::tsquery
      ${before === undefined ? sql`` : sql`and segments."searchKey" < ${before}`} ${filter}
    order by segments."searchKey" desc limit ${limit}`;
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
  // PostgreSQL counts in bigint, which arrives as text.
  const [first, second] = [running.rows[0], recordings.rows[0]];
  return { running: Number(first?.count ?? 0), recordings: Number(second?.count ?? 0) };
}

function inRoom({ room }: Speaker): RawBuilder<boolean> {
  if (room === undefined) return sql<boolean>`1 = 1`;
  return sql<boolean>`"transcriptionId" in (select id from transcriptions where room = ${sanitizeText(room)})`;
}
