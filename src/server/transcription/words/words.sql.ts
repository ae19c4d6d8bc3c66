import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../../platform/storage/engine.ts';
import { sanitizeText } from '../../platform/storage/sanitize-text.ts';
import type { TranscriptionRow } from '../../platform/storage/schema/tables.ts';
import { splitAtWords, termQuery } from '../../platform/storage/search-terms.ts';
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

/** Marks around matches. A text that has these characters itself is returned in one piece. */
const MARK_START = '\u{E000}';
const MARK_END = '\u{E001}';

type FoundRow = StoredSegment & {
  readonly transcriptionId: string;
  readonly searchKey: number | string;
  /** Null when the database does not compute it. */
  readonly highlighted: string | null;
  /** Highlighted by the unstemmed words, which the language's configuration may leave out as stop words. */
  readonly highlightedWords: string | null;
};

async function search(connection: Connection, query: WordQuery): Promise<WordHits> {
  const { db, dialect } = connection;
  const text = sanitizeText(query.text);
  const find = dialect.engine === 'SQLite' ? findOnSqlite : findOnPostgres;
  // One row more, to know whether there is a next page.
  const statement = find(text, { ...query, limit: query.limit + 1, filter: filterOf(query) });
  const found = statement === undefined ? [] : (await statement.execute(db)).rows;
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
    const { transcriptionId, searchKey: _, highlighted, highlightedWords, ...segment } = row;
    const transcription = byId.get(transcriptionId);
    // The transcription may have been deleted since its segments were found.
    if (transcription === undefined) return [];
    const pieces =
      highlighted === null
        ? splitAtWords(segment.text, query, segment.language)
        : piecesOf(segment.text, [highlighted, highlightedWords ?? '']);
    return [{ segment, transcription, hasTracks: tracks.has(transcriptionId), pieces }];
  });
}

/** Splits the first text that has marks. */
function piecesOf(text: string, highlighted: readonly string[]): readonly string[] {
  for (const marked of highlighted) {
    const pieces = marked.split(/[\u{E000}\u{E001}]/u);
    if (pieces.length > 1 && pieces.join('') === text) return pieces;
  }
  return [text];
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
function findOnSqlite(text: string, { filter, before, limit }: Find): RawBuilder<FoundRow> | undefined {
  const query = termQuery(text);
  if (query === undefined) return undefined;
  return sql<FoundRow>`
    select ${COLUMNS}, null as "highlighted", null as "highlightedWords"
    from "segmentWords"
      cross join segments on segments."searchKey" = "segmentWords"."rowid"
      cross join transcriptions on transcriptions."id" = segments."transcriptionId"
    where "segmentWords" match ${query}
      ${before === undefined ? sql`` : sql`and "segmentWords"."rowid" < ${before}`} ${filter}
    order by "segmentWords"."rowid" desc limit ${limit}`;
}

/** Computes the highlights for the page only, because they cost more than the search. */
function findOnPostgres(text: string, { filter, before, limit }: Find): RawBuilder<FoundRow> {
  const marks = `StartSel=${MARK_START}, StopSel=${MARK_END}, HighlightAll=true`;
  const configuration = sql`"searchConfiguration"("language")`;
  const simple = sql`'pg_catalog.simple'::regconfig`;
  return sql<FoundRow>`
    select found.*,
      ts_headline(${configuration}, "text", plainto_tsquery(${configuration}, ${text}), ${marks}) as "highlighted",
      ts_headline(${simple}, "text", plainto_tsquery(${simple}, ${text}), ${marks}) as "highlightedWords"
    from (
      select ${COLUMNS} from segments
        join transcriptions on transcriptions."id" = segments."transcriptionId"
      where segments."searchTerms" @@ "searchQuery"(${text})
        and segments."searchTerms" @@ (
          plainto_tsquery(${simple}, ${text}) ||
          plainto_tsquery("searchConfiguration"(segments."language"), ${text})
        )
        ${before === undefined ? sql`` : sql`and segments."searchKey" < ${before}`} ${filter}
      order by segments."searchKey" desc limit ${limit}
    ) as found order by "searchKey" desc`;
}
