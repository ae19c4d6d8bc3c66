import { type RawBuilder, sql } from 'kysely';
import { queryText } from '../../platform/storage/postgres/text-search.ts';
import { sanitizeText } from '../../platform/storage/sanitize-text.ts';
import { splitAtWords, type TermQuery, termQuery } from '../../platform/storage/search/search-terms.ts';
import { matchText } from '../../platform/storage/sqlite/match-text.ts';
import type { Connection, TranscriptionRow } from '../../schema/tables.ts';
import { toTranscription } from '../rows.sql.ts';
import type { StoredSegment } from '../store.ts';
import { countRemains, forget, forgetTurns } from './forget.sql.ts';
import type { WordHit, WordHits, WordQuery, WordStore } from './store.ts';

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
  const statement = find(terms, { ...query, limit: query.limit + 1, filter: filterOf(query) });
  const found = (await statement.execute(db)).rows;
  const rows = found.slice(0, query.limit);
  const last = rows.at(-1);
  const hasMore = found.length > query.limit && last !== undefined;
  return { hits: await hitsOf(connection, rows, text), nextBefore: hasMore ? Number(last.searchKey) : null };
}

async function hitsOf(
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

function filterOf({ room, egressId, language, since, until }: WordQuery): RawBuilder<unknown> {
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
