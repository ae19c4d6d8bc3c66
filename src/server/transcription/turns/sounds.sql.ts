import { type Kysely, sql } from 'kysely';
import type { Connection, Tables } from '../../schema/tables.ts';
import type { SealedSound, SoundPlace } from './sound-box.ts';
import type { DetectedTurn, KeptSound, SoundPurge } from './store.ts';

/** Rows of one statement. Each has some 40 kB. */
const INSERTED_AT_ONCE = 20;

/** Adds the audio of turns, in the transaction that adds the turns. */
export async function addSounds(
  db: Kysely<Tables>,
  recordingId: string,
  turns: readonly DetectedTurn[],
): Promise<void> {
  const rows = turns.flatMap(({ trackId, startedAt, sound = [] }) =>
    sound.map((part) => ({ recordingId, trackId, startedAt, ...part })),
  );
  for (let start = 0; start < rows.length; start += INSERTED_AT_ONCE) {
    await db
      .insertInto('turnSounds')
      .values(rows.slice(start, start + INSERTED_AT_ONCE))
      .onConflict((conflict) => conflict.columns(['recordingId', 'startedAt', 'trackId', 'part']).doNothing())
      .execute();
  }
}

export function listSounds({ db }: Connection, recordingId: string): Promise<readonly KeptSound[]> {
  return db
    .selectFrom('turnSounds')
    .select(['trackId', 'startedAt', 'keyId'])
    .where('recordingId', '=', recordingId)
    .where('part', '=', 0)
    .execute();
}

export function readSound(
  { db }: Connection,
  { recordingId, trackId, startedAt }: SoundPlace,
): Promise<readonly SealedSound[]> {
  return db
    .selectFrom('turnSounds')
    .select(['keyId', 'part', 'sealed'])
    .where('recordingId', '=', recordingId)
    .where('trackId', '=', trackId)
    .where('startedAt', '=', startedAt)
    .orderBy('part')
    .execute();
}

type Place = SoundPlace & Pick<SealedSound, 'part'>;

/**
 * Repeats the predicate of a partial index of the transcriptions literally, because the engines use the index only then.
 */
export async function purgeSounds({ db }: Connection, { before, limit }: SoundPurge): Promise<number> {
  const { rows } = await sql<Place>`
    select "recordingId", "trackId", "startedAt", part from "turnSounds"
    where "startedAt" < ${before} or (
      exists (select 1 from transcriptions
        where transcriptions."recordingId" = "turnSounds"."recordingId"
          and kind = 'post' and status <> 'failed' and status = 'completed')
      and not exists (select 1 from transcriptions
        where transcriptions."recordingId" = "turnSounds"."recordingId"
          and kind = 'post' and status <> 'failed' and status <> 'completed')
    )
    limit ${limit}`.execute(db);
  for (const { recordingId, trackId, startedAt, part } of rows) {
    await db
      .deleteFrom('turnSounds')
      .where('recordingId', '=', recordingId)
      .where('startedAt', '=', startedAt)
      .where('trackId', '=', trackId)
      .where('part', '=', part)
      .execute();
  }
  return rows.length;
}
