import { type RawBuilder, sql } from 'kysely';
import { sanitizeText } from '../../platform/storage/sanitize-text.ts';
import type { Connection } from '../../schema/tables.ts';
import type { TurnRow } from '../turns/store.ts';
import type { Speaker, SpeechRemains } from './store.ts';

type FoundRow = { readonly id: string; readonly transcriptionId: string };

/** Locks the transcriptions first, in the order of their ids, like all code that stores or deletes segments. */
export function forget(
  { atomically, dialect, changes }: Connection,
  speaker: Speaker,
  limit: number,
): Promise<readonly string[]> {
  const identity = sanitizeText(speaker.identity);
  const ofRoom = inRoom(speaker);
  return atomically(async (db) => {
    const { rows: found } = await sql<FoundRow>`
      select id, "transcriptionId" from segments
      where identity = ${identity} and ${ofRoom} limit ${limit}`.execute(db);
    const transcriptionIds = [...new Set(found.map(({ transcriptionId }) => transcriptionId))];
    await sql`
      select id from transcriptions where id ${dialect.oneOf(transcriptionIds)}
      order by id ${dialect.lockRows}`.execute(db);
    const ids = found.map(({ id }) => id);
    const { rows: deleted } = await sql<Pick<FoundRow, 'transcriptionId'>>`
      delete from segments where id ${dialect.oneOf(ids)} returning "transcriptionId"`.execute(db);
    await sql`delete from "interimSegments" where identity = ${identity} and ${ofRoom}`.execute(db);
    changes.note(db, 'transcriptions');
    return deleted.map(({ transcriptionId }) => transcriptionId);
  });
}

type FoundTurn = Pick<TurnRow, 'recordingId' | 'trackId' | 'startedAt'>;

/** Deletes turns with their kept audio. */
export function forgetTurns({ atomically }: Connection, speaker: Speaker, limit: number): Promise<number> {
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

export async function countRemains({ db }: Connection, speaker: Speaker): Promise<SpeechRemains> {
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
