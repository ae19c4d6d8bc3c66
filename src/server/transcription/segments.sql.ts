import { sql } from 'kysely';
import type { Connection } from '../platform/storage/engine.ts';
import { sanitizeText } from '../platform/storage/sanitize-text.ts';
import type { SegmentRow } from '../platform/storage/schema/tables.ts';
import type { StoredSegment, TranscriptionStore } from './store.ts';

/** Limits the number of parameters of one statement. */
const INSERTED_AT_ONCE = 100;

type SegmentMethods = Pick<
  TranscriptionStore,
  'addSegments' | 'clearSegments' | 'listSegments' | 'countSegments'
>;

export function segmentMethods(connection: Connection): SegmentMethods {
  const { db } = connection;
  return {
    addSegments: (id, owner, segments) => addSegments(connection, { id, owner }, segments),
    clearSegments: (id, owner) =>
      whileHeld(connection, { id, owner }, async (held) => {
        await held.db.deleteFrom('segments').where('transcriptionId', '=', id).execute();
      }),
    listSegments: (id, endsAfter) => listSegments(connection, id, endsAfter),
    countSegments: async (id) => {
      const count = db
        .selectFrom('segments')
        .select((row) => row.fn.countAll<number>().as('count'))
        .where('transcriptionId', '=', id);
      return Number((await count.executeTakeFirstOrThrow()).count);
    },
  };
}

type Holder = { readonly id: string; readonly owner: string };

/** Locks the row, so that a stop, a takeover or a deletion waits until the segments are stored. */
function whileHeld(
  connection: Connection,
  { id, owner }: Holder,
  work: (held: Pick<Connection, 'db'>) => Promise<void>,
): Promise<boolean> {
  return connection.atomically(async (db) => {
    const held = await sql`
      select id from transcriptions
      where id = ${id} and "leaseOwner" = ${owner} and status in ('active', 'processing')
      ${connection.dialect.lockRows}`.execute(db);
    if (held.rows.length === 0) return false;
    await work({ db });
    return true;
  });
}

function addSegments(
  connection: Connection,
  holder: Holder,
  segments: readonly StoredSegment[],
): Promise<boolean> {
  const rows = segments.map((segment) => toRow(holder.id, segment));
  return whileHeld(connection, holder, async ({ db }) => {
    for (let start = 0; start < rows.length; start += INSERTED_AT_ONCE) {
      await db
        .insertInto('segments')
        .values(rows.slice(start, start + INSERTED_AT_ONCE))
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    }
  });
}

/** Identities, names and recognised text may contain characters that the database refuses. */
function toRow(transcriptionId: string, segment: StoredSegment): SegmentRow {
  return {
    ...segment,
    transcriptionId,
    identity: segment.identity && sanitizeText(segment.identity),
    name: segment.name && sanitizeText(segment.name),
    text: sanitizeText(segment.text),
  };
}

async function listSegments(
  { db }: Connection,
  id: string,
  endsAfter: number | undefined,
): Promise<readonly StoredSegment[]> {
  let select = db
    .selectFrom('segments')
    .select(['id', 'trackId', 'identity', 'name', 'text', 'language', 'startedAt', 'endedAt', 'confidence'])
    .where('transcriptionId', '=', id);
  if (endsAfter !== undefined) select = select.where('endedAt', '>', endsAfter);
  return await select.orderBy('startedAt').orderBy('id').execute();
}
