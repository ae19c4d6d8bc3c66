import { type Kysely, sql } from 'kysely';
import { sanitizeText } from '../../platform/storage/statements.ts';
import type { Connection, Tables } from '../../schema/tables.ts';
import type { SealedSound, SoundPlace } from './sound-box.ts';
import type {
  DetectedTurn,
  KeptSound,
  ListenedRecording,
  ListeningClaim,
  SoundPurge,
  TurnStore,
} from './store.ts';

/*
 * Three tables: turnListeners are the leases of the workers that listen to recordings, turns are what they heard, and
 * turnSounds is the encrypted audio of turns, in parts. Turns are added only by the worker that has the lease.
 */

export function createTurnStore(connection: Connection): TurnStore {
  const { db } = connection;
  return {
    listListened: async (stoppedAfter) => [
      ...(await listRunning(connection)),
      ...(await listEnding(connection, stoppedAfter)),
    ],
    claimListening: (claim) => claimListening(connection, claim),
    renewListening: async (owner, leaseUntil) => {
      await db.updateTable('turnListeners').set({ leaseUntil }).where('owner', '=', owner).execute();
    },
    releaseListening: async (recordingId, owner) => {
      await db
        .deleteFrom('turnListeners')
        .where('recordingId', '=', recordingId)
        .where('owner', '=', owner)
        .execute();
      connection.changes.note(db, 'recordings');
    },
    isListening: async (recordingId, now) => {
      const held = db
        .selectFrom('turnListeners')
        .select('recordingId')
        .where('recordingId', '=', recordingId)
        .where('leaseUntil', '>', now);
      return (await held.executeTakeFirst()) !== undefined;
    },
    addTurns: (recordingId, owner, turns) => addTurns(connection, { recordingId, owner }, turns),
    listTurns: (recordingId) =>
      db
        .selectFrom('turns')
        .select(['trackId', 'identity', 'name', 'startedAt', 'endedAt'])
        .where('recordingId', '=', recordingId)
        .orderBy('startedAt')
        .orderBy('trackId')
        .execute(),
    listSounds: (recordingId) => listSounds(connection, recordingId),
    readSound: (place) => readSound(connection, place),
    purgeSounds: (purge) => purgeSounds(connection, purge),
  };
}

/** Both engines use the partial index of active recordings only for a query that has its predicate literally. */
const isActive = sql<boolean>`status in ('starting', 'recording')`;

function listRunning({ db }: Connection): Promise<readonly ListenedRecording[]> {
  return db
    .selectFrom('recordings')
    .leftJoin('turnListeners', 'turnListeners.recordingId', 'recordings.id')
    .select(['recordings.id as recordingId', 'room', 'owner', 'leaseUntil', 'recordTracks'])
    .where(isActive)
    .where('status', '=', 'recording')
    .where('kind', '=', 'recording')
    .orderBy('createdAt')
    .orderBy('recordings.id')
    .execute();
}

function listEnding({ db }: Connection, stoppedAfter: number): Promise<readonly ListenedRecording[]> {
  return db
    .selectFrom('turnListeners')
    .innerJoin('recordings', 'recordings.id', 'turnListeners.recordingId')
    .select(['recordings.id as recordingId', 'room', 'owner', 'leaseUntil', 'recordTracks'])
    .where('status', '=', 'stopped')
    .where('endedAt', 'is', null)
    .where('stoppedAt', '>', stoppedAfter)
    .execute();
}

/** A lease that expired so long ago belongs to a worker that died when the recording had just ended. */
const EXPIRED_LEASE_RETENTION_MS = 3_600_000;

async function claimListening(
  { db }: Connection,
  { recordingId, owner, now, leaseUntil }: ListeningClaim,
): Promise<boolean> {
  await db
    .deleteFrom('turnListeners')
    .where('leaseUntil', '<', now - EXPIRED_LEASE_RETENTION_MS)
    .execute();
  const claimed = await sql`
    insert into "turnListeners" ("recordingId", owner, "leaseUntil")
    select id, cast(${owner} as text), cast(${leaseUntil} as bigint) from recordings
    where id = ${recordingId} and "endedAt" is null
    on conflict ("recordingId") do update set owner = excluded.owner, "leaseUntil" = excluded."leaseUntil"
    where "turnListeners"."leaseUntil" <= ${now}
    returning "recordingId"`.execute(db);
  return claimed.rows.length === 1;
}

/** Limits the number of parameters of one statement. */
const INSERTED_AT_ONCE = 100;

type Holder = { readonly recordingId: string; readonly owner: string };

/** Locks the lease, so that a takeover or the deletion of the recording waits until the turns are stored. */
function addTurns(
  { atomically, dialect }: Connection,
  { recordingId, owner }: Holder,
  turns: readonly DetectedTurn[],
): Promise<boolean> {
  const rows = turns.map(({ identity, name, trackId, startedAt, endedAt }) => ({
    recordingId,
    trackId,
    startedAt,
    endedAt,
    identity: sanitizeText(identity),
    name: name && sanitizeText(name),
  }));
  return atomically(async (db) => {
    const held = await sql`
      select owner from "turnListeners" where "recordingId" = ${recordingId} and owner = ${owner}
      ${dialect.lockRows}`.execute(db);
    if (held.rows.length === 0) return false;
    for (let start = 0; start < rows.length; start += INSERTED_AT_ONCE) {
      await db
        .insertInto('turns')
        .values(rows.slice(start, start + INSERTED_AT_ONCE))
        .onConflict((conflict) => conflict.columns(['recordingId', 'startedAt', 'trackId']).doNothing())
        .execute();
    }
    await addSounds(db, recordingId, turns);
    return true;
  });
}

/** Rows of one statement. Each has some 40 kB. */
const SOUNDS_INSERTED_AT_ONCE = 20;

/** Adds the audio of turns, in the transaction that adds the turns. */
async function addSounds(
  db: Kysely<Tables>,
  recordingId: string,
  turns: readonly DetectedTurn[],
): Promise<void> {
  const rows = turns.flatMap(({ trackId, startedAt, sound = [] }) =>
    sound.map((part) => ({ recordingId, trackId, startedAt, ...part })),
  );
  for (let start = 0; start < rows.length; start += SOUNDS_INSERTED_AT_ONCE) {
    await db
      .insertInto('turnSounds')
      .values(rows.slice(start, start + SOUNDS_INSERTED_AT_ONCE))
      .onConflict((conflict) => conflict.columns(['recordingId', 'startedAt', 'trackId', 'part']).doNothing())
      .execute();
  }
}

function listSounds({ db }: Connection, recordingId: string): Promise<readonly KeptSound[]> {
  return db
    .selectFrom('turnSounds')
    .select(['trackId', 'startedAt', 'keyId'])
    .where('recordingId', '=', recordingId)
    .where('part', '=', 0)
    .execute();
}

function readSound(
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

/** Both engines use the partial index of transcriptions of recordings only for a query that has its predicate literally. */
const isOfSound = sql`
  transcriptions."recordingId" = "turnSounds"."recordingId" and kind = 'post' and status <> 'failed'`;

const hasTranscript = sql`exists (select 1 from transcriptions where ${isOfSound} and status = 'completed')`;

const isBeingTranscribed = sql`exists (select 1 from transcriptions where ${isOfSound} and status <> 'completed')`;

type Part = SoundPlace & Pick<SealedSound, 'part'>;

async function purgeSounds({ db }: Connection, { before, limit }: SoundPurge): Promise<number> {
  const { rows } = await sql<Part>`
    select "recordingId", "trackId", "startedAt", part from "turnSounds"
    where "startedAt" < ${before} or (${hasTranscript} and not ${isBeingTranscribed})
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
