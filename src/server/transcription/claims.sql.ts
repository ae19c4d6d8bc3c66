import { type RawBuilder, sql } from 'kysely';
import { sanitizeText } from '../platform/storage/statements.ts';
import type { Connection, TranscriptionRow } from '../schema/tables.ts';
import {
  MAX_LIVE_LOSSES,
  type PostDue,
  type Transcription,
  type TranscriptionClaim,
  type TranscriptionStore,
} from './store.ts';

export function claimMethods(connection: Connection) {
  const { db } = connection;
  return {
    claimLive: ({ attemptsBelow = MAX_LIVE_LOSSES, ...claim }) =>
      claimOpen(connection, claim, {
        isClaimable: sql`status = 'active' and "leaseUntil" is null and attempts < ${attemptsBelow}`,
        order: 'createdAt',
        changes: sql``,
      }),
    expireLive: (now) => expireLive(connection, now),
    renewLive: async (owner, leaseUntil) => {
      await db
        .updateTable('transcriptions')
        .set({ leaseUntil })
        .where('leaseOwner', '=', owner)
        .where('status', '=', 'active')
        .execute();
    },
    subtractLoss: async (id) => {
      await sql`
        update transcriptions set attempts = attempts - 1
        where id = ${id} and status = 'active' and attempts > 0`.execute(db);
    },
    resetLosses: async (id, owner) => {
      await db
        .updateTable('transcriptions')
        .set({ attempts: 0 })
        .where('id', '=', id)
        .where('leaseOwner', '=', owner)
        .where('status', '=', 'active')
        .execute();
    },
    claimPost: (claim) =>
      claimOpen(connection, claim, {
        isClaimable: sql`status in ('queued', 'processing') and (
          (status = 'queued' and "dueAt" <= ${claim.now}) or
          (status = 'processing' and "leaseUntil" <= ${claim.now})
        )`,
        order: 'dueAt',
        changes: sql`, status = 'processing', attempts = attempts + 1,
          "startedAt" = coalesce("startedAt", ${claim.now})`,
      }),
    listPostDue: async () => {
      const due = await sql<PostDue>`
        select language, min(case when status = 'queued' then "dueAt" else "leaseUntil" end) as "dueAt"
        from transcriptions where status in ('queued', 'processing') group by language`.execute(db);
      return due.rows;
    },
    renew: async (id, owner, leaseUntil) => {
      const renewed = await db
        .updateTable('transcriptions')
        .set({ leaseUntil })
        .where('id', '=', id)
        .where('leaseOwner', '=', owner)
        .where('status', 'in', ['active', 'processing'])
        .executeTakeFirst();
      return renewed.numUpdatedRows === 1n;
    },
    release: async (id, owner) => {
      await sql`
        update transcriptions set
          "leaseOwner" = null, "leaseUntil" = null,
          attempts = case when status = 'processing' then attempts - 1 else attempts end,
          status = case when status = 'processing' then 'queued' else status end
        where id = ${id} and "leaseOwner" = ${owner} and status in ('active', 'processing')`.execute(db);
      connection.changes.note(db, 'transcriptions');
    },
  } satisfies Partial<TranscriptionStore>;
}

/** Locks the rows in the order of their ids, so that two workers that do this at once cannot deadlock. */
function expireLive(connection: Connection, now: number): Promise<number> {
  const { dialect } = connection;
  return connection.atomically(async (db) => {
    const { rows: lost } = await sql<LostRow>`
      select id, "leaseOwner", attempts from transcriptions
      where status = 'active' and "leaseOwner" in (
        select "leaseOwner" from transcriptions where status = 'active' and "leaseUntil" <= ${now}
      ) order by id ${dialect.lockRows}`.execute(db);
    for (const { id, leaseOwner, attempts } of lost) {
      const isAlone = lost.filter((other) => other.leaseOwner === leaseOwner).length === 1;
      const losses = isAlone && attempts > 0 ? MAX_LIVE_LOSSES : attempts + 1;
      await db
        .updateTable('transcriptions')
        .set({ leaseOwner: null, leaseUntil: null, attempts: losses })
        .where('id', '=', id)
        .execute();
    }
    if (lost.length > 0) connection.changes.note(db, 'transcriptions');
    return lost.length;
  });
}

type LostRow = Pick<TranscriptionRow, 'id' | 'leaseOwner' | 'attempts'>;

type Open = {
  readonly isClaimable: RawBuilder<unknown>;
  readonly order: 'createdAt' | 'dueAt';
  readonly changes: RawBuilder<unknown>;
};

/** Asks for the waiting languages first, because only the worker knows which languages it supports. */
async function claimOpen(
  { db, dialect }: Connection,
  { owner, leaseUntil, limit, supports }: TranscriptionClaim,
  { isClaimable, order, changes }: Open,
): Promise<readonly Transcription[]> {
  const waiting = await sql<{ language: string }>`
    select distinct language from transcriptions where ${isClaimable}`.execute(db);
  const languages = waiting.rows.map((row) => row.language).filter(supports);
  if (languages.length === 0) return [];
  const { rows } = await sql<TranscriptionRow>`
    with due as materialized (
      select id from transcriptions where ${isClaimable} and language ${dialect.oneOf(languages)}
      order by ${sql.ref(order)}, id limit ${limit} ${dialect.lockFreeRows}
    )
    update transcriptions set "leaseOwner" = ${owner}, "leaseUntil" = ${leaseUntil} ${changes}
    where id in (select id from due)
    returning *`.execute(db);
  return rows.map(toTranscription).toSorted((one, other) => (one[order] ?? 0) - (other[order] ?? 0));
}

export function liveEndMethods(connection: Connection) {
  return {
    stopLive: (id, endedAt) => endLive(connection, id, { status: 'stopped', endedAt }),
    failLive: (id, { errorMessage, ...failure }) =>
      endLive(connection, id, { status: 'failed', ...failure, errorMessage: sanitizeText(errorMessage) }),
  } satisfies Partial<TranscriptionStore>;
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

export function toTranscription(row: TranscriptionRow): Transcription {
  return {
    ...row,
    speakers: JSON.parse(row.speakers) as Transcription['speakers'],
    options: JSON.parse(row.options) as Transcription['options'],
  };
}

export function toRow(transcription: Transcription): TranscriptionRow {
  const { speakers, options } = transcription;
  return { ...transcription, speakers: JSON.stringify(speakers), options: JSON.stringify(options) };
}
