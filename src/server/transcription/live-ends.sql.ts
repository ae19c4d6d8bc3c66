import { sql } from 'kysely';
import { sanitizeText } from '../platform/storage/sanitize-text.ts';
import type { Connection, TranscriptionRow } from '../schema/tables.ts';
import { toTranscription } from './rows.sql.ts';
import type { Transcription, TranscriptionStore } from './store.ts';

type LiveEndMethods = Pick<TranscriptionStore, 'stopLive' | 'failLive'>;

export function liveEndMethods(connection: Connection): LiveEndMethods {
  return {
    stopLive: (id, endedAt) => endLive(connection, id, { status: 'stopped', endedAt }),
    failLive: (id, { errorMessage, ...failure }) =>
      endLive(connection, id, { status: 'failed', ...failure, errorMessage: sanitizeText(errorMessage) }),
  };
}

/** A literal, not a parameter: both engines use the partial index only when the query repeats its predicate. */
const isActive = sql<boolean>`status = 'active'`;

function endLive(
  connection: Connection,
  id: string,
  changes: Partial<TranscriptionRow>,
): Promise<Transcription | undefined> {
  return connection.atomically(async (db) => {
    const ended = await db
      .updateTable('transcriptions')
      .set({ ...changes, leaseOwner: null, leaseUntil: null })
      .where('id', '=', id)
      .where(isActive)
      .returningAll()
      .executeTakeFirst();
    await db.deleteFrom('interimSegments').where('transcriptionId', '=', id).execute();
    connection.changes.note(db, 'transcriptions');
    connection.changes.note(db, 'segments');
    return ended && toTranscription(ended);
  });
}
