import { type RawBuilder, sql } from 'kysely';
import {
  type Attempt,
  type ClaimRequest,
  DELIVERY_STATES,
  type Delivery,
  type DeliveryJob,
  type DeliveryQuery,
  type DeliveryStore,
  type NewDelivery,
} from '../../ports/webhook-store.ts';
import { DELIVERY_COLUMNS, deliveryColumns } from './delivery-columns.ts';
import { purgeDeliveries } from './end-deliveries.ts';
import type { Connection } from './engine.ts';
import { replayDelivery, replayFailed } from './replay-deliveries.ts';
import { settleDeliveries } from './settle-deliveries.ts';
import { toWebhook } from './webhook-store.ts';

export function createDeliveryStore(connection: Connection): DeliveryStore {
  const { db } = connection;
  return {
    insert: (deliveries) => insertDeliveries(connection, deliveries),
    claim: (request) => claimJobs(connection, request),
    renew: (owner, ids, leaseUntil) =>
      changeLeases(connection, sql`"leaseUntil" = ${leaseUntil}`, heldOf(connection, owner, ids)),
    release: (owner) =>
      changeLeases(connection, sql`"leaseOwner" = null, "leaseUntil" = null`, sql`"leaseOwner" = ${owner}`),
    settle: (owner, outcomes) => settleDeliveries(connection, owner, outcomes),
    list: (query) => listDeliveries(connection, query),
    find: (webhookId, id) =>
      db
        .selectFrom('deliveries')
        .select(DELIVERY_COLUMNS)
        .where('id', '=', id)
        .where('webhookId', '=', webhookId)
        .executeTakeFirst(),
    listAttempts: (deliveryIds) => listAttempts(connection, deliveryIds),
    replay: (webhookId, id, now) => replayDelivery(connection, { webhookId, id, now }),
    replayFailed: (webhookId, since, now) => replayFailed(connection, { webhookId, since, now }),
    nextClaimableAt: (exceptWebhooks) => nextClaimableAt(connection, exceptWebhooks),
    purge: (before, limit) => purgeDeliveries(connection, before, limit),
  };
}

async function insertDeliveries(
  { db, forms }: Connection,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  if (deliveries.length === 0) return;
  const rows = forms.rows(deliveries, {
    id: 'text',
    webhookId: 'text',
    eventId: 'text',
    eventName: 'text',
    dueAt: 'integer',
    createdAt: 'integer',
    leaseOwner: 'text',
    leaseUntil: 'integer',
  });
  const columns = sql`id, "webhookId", "eventId", "eventName", "dueAt", "createdAt", "leaseOwner", "leaseUntil"`;
  await sql`
    insert into deliveries (${columns}, state, attempts, "roundAttempts")
    select ${columns}, 'pending', 0, 0 from ${rows} as listed`.execute(db);
}

/** The webhooks and events are read once each, however many deliveries share them. */
async function claimJobs({ db, forms }: Connection, request: ClaimRequest): Promise<readonly DeliveryJob[]> {
  const { rows } = await forms.claim(request).execute(db);
  if (rows.length === 0) return [];
  const webhookIds = [...new Set(rows.map((row) => row.webhookId))];
  const eventIds = [...new Set(rows.map((row) => row.eventId))];
  const webhooks = await db
    .selectFrom('webhooks')
    .selectAll()
    .where(sql<boolean>`id ${forms.oneOf(webhookIds)}`)
    .execute();
  const events = await db
    .selectFrom('events')
    .select(['id', 'payload', 'occurredAt'])
    .where(sql<boolean>`id ${forms.oneOf(eventIds)}`)
    .execute();
  const webhookOf = new Map(webhooks.map((row) => [row.id, toWebhook(row)]));
  const eventOf = new Map(events.map((event) => [event.id, event]));
  return rows
    .toSorted((one, other) => one.dueAt - other.dueAt)
    .flatMap((delivery) => {
      const webhook = webhookOf.get(delivery.webhookId);
      const event = eventOf.get(delivery.eventId);
      // A webhook that was deleted since the claim has no deliveries to make.
      return webhook === undefined || event === undefined ? [] : [{ delivery, webhook, event }];
    });
}

function heldOf({ forms }: Connection, owner: string, ids: readonly string[]): RawBuilder<unknown> {
  return sql`id ${forms.oneOf(ids)} and "leaseOwner" = ${owner}`;
}

/** Leaves out what is being settled at this moment: it needs no lease any more. */
async function changeLeases(
  { db, forms }: Connection,
  change: RawBuilder<unknown>,
  isMeant: RawBuilder<unknown>,
): Promise<number> {
  const changed = await sql`
    update deliveries set ${change} where id in (
      select id from deliveries where ${isMeant} ${forms.lockFreeRows}
    )`.execute(db);
  return Number(changed.numAffectedRows ?? 0);
}

/**
 * One walk along the index for each state: with all of them in one index, every list is a walk. The instants have
 * bounds on both sides, because PostgreSQL then expects few rows even of a table that it has no statistics of yet,
 * and walks instead of sorting all that there are.
 */
async function listDeliveries({ db }: Connection, query: DeliveryQuery): Promise<readonly Delivery[]> {
  const { webhookId, state, limit, after } = query;
  const states = state === undefined ? DELIVERY_STATES : [state];
  const isAfter = sql`and "createdAt" between 0 and ${after?.createdAt ?? Number.MAX_SAFE_INTEGER}
    ${after === undefined ? sql`` : sql`and ("createdAt", id) < (${after.createdAt}, ${after.id})`}`;
  const pages = states.map(
    (one) => sql`select * from (
      select ${deliveryColumns} from deliveries where "webhookId" = ${webhookId} and state = ${one} ${isAfter}
      order by "createdAt" desc, id desc limit ${limit}
    ) as one_state`,
  );
  const { rows } = await sql<Delivery>`
    ${sql.join(pages, sql` union all `)} order by "createdAt" desc, id desc limit ${limit}`.execute(db);
  return rows;
}

function listAttempts(
  { db, forms }: Connection,
  deliveryIds: readonly string[],
): Promise<readonly Attempt[]> {
  return db
    .selectFrom('attempts')
    .selectAll()
    .where(sql<boolean>`"deliveryId" ${forms.oneOf(deliveryIds)}`)
    .orderBy('number')
    .orderBy('startedAt')
    .orderBy('deliveryId')
    .execute();
}

async function nextClaimableAt(
  { db, forms }: Connection,
  exceptWebhooks: readonly string[],
): Promise<number | undefined> {
  const { rows } = await sql<{ next: number | null }>`
    select min(first) as next from (
      select (
        select min("claimableAt") from deliveries where "webhookId" = webhooks.id and state = 'pending'
      ) as first
      from webhooks where id ${forms.noneOf(exceptWebhooks)}
    ) as firsts`.execute(db);
  return rows[0]?.next ?? undefined;
}
