import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../../../../src/server/platform/storage/engine.ts';

/**
 * The room session in which a recording or transcription was started, and the indexes by which sessions are listed and
 * purged. Rows of earlier versions get the last session of that name that was open when they were created.
 */
export async function addSessionColumns(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  for (const table of ['recordings', 'transcriptions'] as const) {
    await db.schema.alterTable(table).addColumn('roomSid', text).execute();
    await db.schema.createIndex(`${table}OfSession`).on(table).columns(['roomSid', 'createdAt']).execute();
    const ofRow = (column: string) => sql.ref(`${table}.${column}`);
    await sql`
      update ${sql.table(table)} set "roomSid" = (
        select sid from ${sql.table('roomSessions')} as one
        where one.name = ${ofRow('room')} and one."createdAt" <= ${ofRow('createdAt')}
          and (one."endedAt" is null or one."endedAt" >= ${ofRow('createdAt')})
        order by one."createdAt" desc limit 1
      )`.execute(db);
  }
  // A recording is usually transcribed after its room was closed.
  await sql`
    update transcriptions set "roomSid" = (
      select "roomSid" from recordings where recordings.id = transcriptions."recordingId"
    ) where kind = 'post'`.execute(db);
  await db.schema
    .createIndex('roomSessionsNewest')
    .on('roomSessions')
    .columns(['createdAt', 'sid'])
    .execute();
  await db.schema.createIndex('publishedTracksOldest').on('publishedTracks').column('publishedAt').execute();
  // Metadata is kept for the event of a leave, so only participants who are present need it.
  await sql`update ${sql.table('participantSessions')} set metadata = null where "leftAt" is not null`.execute(
    db,
  );
}
