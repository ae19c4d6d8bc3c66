import { type RawBuilder, sql } from 'kysely';
import { readMembers } from '../../contract/unknown-value.ts';
import { indexedTerms } from '../platform/storage/search/search-terms.ts';
import { vectorText } from '../platform/storage/search/term-query.ts';
import { isBehind, sanitizeText } from '../platform/storage/statements.ts';
import type { Connection, SegmentRow } from '../schema/tables.ts';
import {
  DOUBTFUL_BELOW,
  type InterimUpdate,
  JUDGED_SEGMENTS,
  type SegmentPage,
  type SpeechQuality,
  type StoredQuery,
  type StoredSegment,
  type StoredSegments,
  type StoredWord,
  type TranscriptionStore,
} from './store.ts';

/** Limits the number of parameters of one statement. */
const INSERTED_AT_ONCE = 100;

const SEGMENT_COLUMNS = [
  'id',
  'trackId',
  'identity',
  'name',
  'text',
  'language',
  'startedAt',
  'endedAt',
  'confidence',
  'overlapMs',
] as const;

const WORDED_COLUMNS = [...SEGMENT_COLUMNS, 'words'] as const;

export function segmentMethods(connection: Connection) {
  const { db } = connection;
  return {
    addSegments: (id, owner, segments) => addSegments(connection, { id, owner }, segments),
    putInterims: (id, owner, update) => putInterims(connection, { id, owner }, update),
    listInterims: (id, updatedAfter) =>
      db
        .selectFrom('interimSegments')
        .select(SEGMENT_COLUMNS)
        .where('transcriptionId', '=', id)
        .where('updatedAt', '>', updatedAfter)
        .orderBy('startedAt')
        .orderBy('id')
        .execute(),
    clearSegments: (id, owner) =>
      whileHeld(connection, { id, owner }, async (held) => {
        await held.db.deleteFrom('segments').where('transcriptionId', '=', id).execute();
      }),
    listSegments: (id, page) => listSegments(connection, id, page),
    listStored: (id, query) => listStored(connection, id, query),
    hasStoredAfter: async (id, position) => (await lastPosition(connection, id)) > position,
    listQualities: async (id) => {
      const { rows } = await sql<SpeechQuality>`
        select identity, count(*) as segments,
          sum(case when confidence < ${DOUBTFUL_BELOW} then 1 else 0 end) as doubtful
        from (
          select identity, confidence from segments where "transcriptionId" = ${id}
          order by "searchKey" desc limit ${JUDGED_SEGMENTS}
        ) as latest
        group by identity order by identity`.execute(db);
      return rows;
    },
    countSegments: async (id) => {
      const count = db
        .selectFrom('segments')
        .select((row) => row.fn.countAll<number>().as('count'))
        .where('transcriptionId', '=', id);
      return (await count.executeTakeFirstOrThrow()).count;
    },
    hasTracks: async (id) => {
      const found = db.selectFrom('segments').select('id').where('transcriptionId', '=', id);
      return (await found.where('trackId', 'is not', null).limit(1).executeTakeFirst()) !== undefined;
    },
  } satisfies Partial<TranscriptionStore>;
}

type Holder = { readonly id: string; readonly owner: string };

/** Locks the row, so that a stop, a takeover or a deletion waits until the segments are stored. */
function whileHeld(
  connection: Connection,
  { id, owner }: Holder,
  work: (held: Pick<Connection, 'db'> & { readonly room: string }) => Promise<void>,
): Promise<boolean> {
  return connection.atomically(async (db) => {
    const held = await sql<{ room: string }>`
      select room from transcriptions
      where id = ${id} and "leaseOwner" = ${owner} and status in ('active', 'processing')
      ${connection.dialect.lockRows}`.execute(db);
    const [found] = held.rows;
    if (found === undefined) return false;
    await work({ db, room: found.room });
    return true;
  });
}

function addSegments(
  connection: Connection,
  holder: Holder,
  segments: readonly StoredSegment[],
): Promise<boolean> {
  const rows = segments.map((segment) => toRow(holder.id, segment));
  const isPostgres = connection.dialect.engine === 'PostgreSQL';
  return whileHeld(connection, holder, async ({ db, room }) => {
    const addTerms = isPostgres ? (row: SegmentRow) => withTerms(row, room) : (row: SegmentRow) => row;
    for (let start = 0; start < rows.length; start += INSERTED_AT_ONCE) {
      await db
        .insertInto('segments')
        .values(rows.slice(start, start + INSERTED_AT_ONCE).map(addTerms))
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    }
    connection.changes.note(db, 'segments');
    const ids = rows.map((row) => row.id);
    await db
      .deleteFrom('interimSegments')
      .where('transcriptionId', '=', holder.id)
      .where('id', 'in', ids)
      .execute();
  });
}

function putInterims(
  connection: Connection,
  holder: Holder,
  { segments, updatedAt }: InterimUpdate,
): Promise<boolean> {
  return whileHeld(connection, holder, async ({ db }) => {
    for (const segment of segments) {
      const row = { ...toRow(holder.id, segment), trackId: segment.trackId ?? '', updatedAt };
      await db
        .insertInto('interimSegments')
        .values(row)
        .onConflict((conflict) => conflict.columns(['transcriptionId', 'trackId']).doUpdateSet(row))
        .execute();
    }
  });
}

/** Identities, names and recognised text may contain characters that the database refuses. */
function toRow(transcriptionId: string, segment: StoredSegment): SegmentRow {
  return {
    ...segment,
    words: segment.words === undefined ? null : toJson(segment.words),
    transcriptionId,
    identity: segment.identity && sanitizeText(segment.identity),
    name: segment.name && sanitizeText(segment.name),
    text: sanitizeText(segment.text),
  };
}

/** Adds what PostgreSQL indexes. SQLite's triggers make the terms themselves. */
function withTerms(row: SegmentRow, room: string): SegmentRow & { readonly searchTerms: RawBuilder<string> } {
  return { ...row, searchTerms: sql<string>`${vectorText(indexedTerms({ ...row, room }))}::tsvector` };
}

function toJson(words: readonly StoredWord[]): string {
  return JSON.stringify(words.map((word) => ({ ...word, text: sanitizeText(word.text) })));
}

async function listSegments(
  { db }: Connection,
  id: string,
  { after, limit }: SegmentPage,
): Promise<readonly StoredSegment[]> {
  const rows = await db
    .selectFrom('segments')
    .select(WORDED_COLUMNS)
    .where('transcriptionId', '=', id)
    .where(isBehind(['startedAt', 'id'], '>', after && [after.startedAt, after.id]))
    .orderBy('startedAt')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toStored);
}

function toStored({ words, ...segment }: WordedRow): StoredSegment {
  return words === null ? segment : { ...segment, words: wordsFrom(words) };
}

type WordedRow = Omit<SegmentRow, 'transcriptionId'>;

function wordsFrom(json: string): readonly StoredWord[] {
  const words: unknown = JSON.parse(json);
  return Array.isArray(words) ? words.map(readMembers).flatMap(toWord) : [];
}

function toWord({ text, startedAt, endedAt, confidence }: Readonly<Record<string, unknown>>): StoredWord[] {
  if (typeof text !== 'string' || typeof startedAt !== 'number' || typeof endedAt !== 'number') return [];
  return [{ text, startedAt, endedAt, confidence: typeof confidence === 'number' ? confidence : null }];
}

/** Reads the position first. A segment that is stored in the meantime may be read twice, and is never skipped. */
async function listStored(
  connection: Connection,
  id: string,
  { after, endsAfter, limit }: StoredQuery,
): Promise<StoredSegments> {
  const last = await lastPosition(connection, id);
  if (last <= after) return { segments: [], position: after };
  let select = connection.db
    .selectFrom('segments')
    .select(WORDED_COLUMNS)
    // It ascends in the order in which segments were stored.
    .select(sql<number>`"searchKey"`.as('position'))
    .where('transcriptionId', '=', id)
    .where(sql<boolean>`"searchKey" > ${after}`);
  if (endsAfter !== undefined) select = select.where('endedAt', '>', endsAfter);
  const rows = await select.orderBy(sql`"searchKey"`).limit(limit).execute();
  const end = rows.length < limit ? last : (rows.at(-1)?.position ?? last);
  return { segments: rows.map(({ position: _position, ...row }) => toStored(row)), position: end };
}

async function lastPosition({ db }: Connection, id: string): Promise<number> {
  const { rows } = await sql<{ last: number | null }>`
    select max("searchKey") as last from segments where "transcriptionId" = ${id}`.execute(db);
  return rows[0]?.last ?? 0;
}
