import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../platform/storage/engine.ts';
import type { TranscriptionRow } from '../platform/storage/schema/tables.ts';
import { toTranscription } from './rows.sql.ts';
import type { Transcription, TranscriptionClaim, TranscriptionStore } from './store.ts';

type ClaimMethods = Pick<TranscriptionStore, 'claimLive' | 'claimPost' | 'renew' | 'release'>;

export function claimMethods(connection: Connection): ClaimMethods {
  const { db } = connection;
  return {
    claimLive: (claim) =>
      claimOpen(connection, claim, {
        isClaimable: sql`status = 'active' and ("leaseUntil" is null or "leaseUntil" <= ${claim.now})`,
        order: 'createdAt',
        changes: sql``,
      }),
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
    },
  };
}

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
