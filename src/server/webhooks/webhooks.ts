import { ServiceError } from '../../contract/errors.ts';
import { ALL_EVENTS } from '../../contract/event-names.ts';
import { formatWebhookSecret } from '../../contract/webhook-signing.ts';
import {
  WEBHOOK_SECRET_MASK,
  type WebhookCreate,
  type WebhookList,
  type WebhookListQuery,
  type WebhookPut,
  type Webhook as WebhookRecord,
  type WebhookWarning,
} from '../../contract/webhooks.ts';
import type { Clock, IdGenerator } from '../platform/clock.ts';
import type { KeyLimits } from '../platform/http/limits/key-limits.ts';
import { type OfRooms, pageReader } from '../platform/http/read-page.ts';
import { type Caller, secretIsGone } from '../platform/http/route.ts';
import type { SecretBox } from '../platform/secrets/encryption-keys.ts';
import type { SealedRow, SealedSecrets } from '../platform/secrets/key-rotation.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import type { DeliveryDispatcher } from './dispatcher/dispatcher.ts';
import { type AddressGuard, ForbiddenAddress } from './sender/address-guard.ts';
import type { Webhook, WebhookChange, WebhookStores } from './store.ts';

export type WebhookDeps = {
  readonly store: UnitOfWork<WebhookStores>;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly secretBox: SecretBox;
  /** Random bytes for a generated secret. */
  readonly randomBytes: (count: number) => Uint8Array;
  readonly dispatcher: Pick<DeliveryDispatcher, 'invalidateWebhook' | 'poll'>;
  /** Decides which addresses are forbidden. */
  readonly addressGuard: Pick<AddressGuard, 'checkHost'>;
  readonly maxWebhooks: number;
  readonly keyLimits: Pick<KeyLimits, 'quota' | 'refuse'>;
};

/** For this long after a rotation the previous secret also signs, so that receivers can switch to the new one. */
const ROTATION_OVERLAP_MS = 24 * 3_600_000;
const SECRET_BYTES = 32;
/** Page size of a request with a cursor and without a limit. */
const PAGE_SIZE = 100;

/** Creates a webhook. Only this response contains the secret. Throws webhook-limit-reached or key-limit-reached. */
export async function createWebhook(
  deps: Omit<WebhookDeps, 'dispatcher'>,
  caller: Caller,
  request: WebhookCreate,
): Promise<WebhookRecord> {
  const secret = request.secret ?? formatWebhookSecret(deps.randomBytes(SECRET_BYTES));
  const now = deps.clock.now();
  const id = `wh_${deps.ids.next()}`;
  const webhook: Webhook = {
    id,
    url: request.url,
    events: request.events ?? [ALL_EVENTS],
    secret: deps.secretBox.seal(secret, id),
    previousSecret: null,
    previousSecretUntil: null,
    ordering: request.ordering ?? 'none',
    createdBy: caller.keyId,
    rooms: caller.rooms ?? null,
    pausedAt: null,
    createdAt: now,
    updatedAt: now,
  };
  const { limit } = deps.keyLimits.quota('webhooks', caller);
  const limits = { total: deps.maxWebhooks, ofKey: limit };
  if (!(await deps.store.webhooks.insertBelow(limits, webhook))) {
    if ((await deps.store.webhooks.countOfKey(caller.keyId)) >= limit)
      throw deps.keyLimits.refuse('webhooks', caller);
    throw limitReached(deps.maxWebhooks);
  }
  return { ...toRecord(webhook), secret, ...warningsAbout(deps, webhook.url) };
}

const readPage = pageReader('webhooks');

/** Lists all webhooks, or a page of them. */
export async function listWebhooks(
  { store }: Pick<WebhookDeps, 'store'>,
  { limit, cursor, rooms }: OfRooms<WebhookListQuery>,
): Promise<WebhookList> {
  if (limit === undefined && cursor === undefined) {
    const webhooks = await store.webhooks.list({ after: undefined, limit: undefined, rooms });
    return { webhooks: webhooks.map(toRecord) };
  }
  const { rows, nextCursor } = await readPage({ cursor, limit: limit ?? PAGE_SIZE }, (wanted) =>
    store.webhooks.list({ ...wanted, rooms }),
  );
  return { webhooks: rows.map(toRecord), nextCursor };
}

/** Throws webhook-not-found. */
export async function getWebhook({ store }: Pick<WebhookDeps, 'store'>, id: string): Promise<WebhookRecord> {
  return toRecord(await requireWebhook(store, id));
}

/** Updates a webhook. A new secret is a rotation: the previous one also signs for 24 h. Throws webhook-not-found. */
export async function updateWebhook(
  deps: WebhookDeps,
  id: string,
  request: WebhookPut,
): Promise<WebhookRecord> {
  const { store, clock, secretBox, dispatcher } = deps;
  const now = clock.now();
  const secret = request.secret === WEBHOOK_SECRET_MASK ? undefined : request.secret;
  const updated = await store.transaction(async (inside) => {
    // When two rotations run at once, the later one keeps the secret of the earlier one as the previous secret.
    const webhook = await inside.webhooks.lock(id);
    if (webhook === undefined) throw webhookNotFound(id);
    const change: WebhookChange = {
      updatedAt: now,
      ...(request.url === undefined ? {} : { url: request.url }),
      ...(request.events === undefined ? {} : { events: request.events }),
      ...(request.ordering === undefined ? {} : { ordering: request.ordering }),
      ...(request.paused === undefined
        ? {}
        : { pausedAt: request.paused ? (webhook.pausedAt ?? now) : null }),
      ...(secret === undefined ? {} : rotation(secretBox, webhook, { secret, now })),
    };
    return await inside.webhooks.update(id, change);
  });
  if (updated === undefined) throw webhookNotFound(id);
  dispatcher.invalidateWebhook(id);
  if (request.paused === false) dispatcher.poll();
  return { ...toRecord(updated), ...warningsAbout(deps, updated.url) };
}

type Rotation = { readonly secret: string; readonly now: number };

/**
 * The current secret sent again is no rotation, because a PUT may be repeated. A secret that cannot be decrypted, because
 * its key was lost, is replaced without an overlap, because it could not sign.
 */
function rotation(box: SecretBox, webhook: Webhook, { secret, now }: Rotation): Partial<WebhookChange> {
  const current = openIfPossible(box, webhook);
  if (current === secret) return {};
  const isUsable = current !== undefined;
  return {
    secret: box.seal(secret, webhook.id),
    previousSecret: isUsable ? webhook.secret : null,
    previousSecretUntil: isUsable ? now + ROTATION_OVERLAP_MS : null,
  };
}

function openIfPossible(box: SecretBox, { id, secret }: Webhook): string | undefined {
  try {
    return box.open(secret, id);
  } catch {
    return undefined;
  }
}

/** Throws conflict when the webhook that an earlier request created is gone, or has another secret. */
export async function ensureSecretIsCurrent(
  { store, secretBox }: Pick<WebhookDeps, 'store' | 'secretBox'>,
  { id, secret }: WebhookRecord,
): Promise<void> {
  const webhook = await store.webhooks.find(id);
  if (webhook === undefined) throw secretIsGone(`the webhook ${id}`, 'was deleted');
  if (openIfPossible(secretBox, webhook) !== secret)
    throw secretIsGone(`the webhook ${id}`, 'got another secret');
}

/** Deletes a webhook and cancels its pending deliveries. Throws webhook-not-found. */
export async function deleteWebhook(
  { store, clock, dispatcher }: Pick<WebhookDeps, 'store' | 'clock' | 'dispatcher'>,
  id: string,
): Promise<void> {
  if (!(await store.webhooks.delete(id, clock.now()))) throw webhookNotFound(id);
  dispatcher.invalidateWebhook(id);
}

/** Throws webhook-not-found. */
export async function requireWebhook(store: Pick<WebhookStores, 'webhooks'>, id: string): Promise<Webhook> {
  const webhook = await store.webhooks.find(id);
  if (webhook === undefined) throw webhookNotFound(id);
  return webhook;
}

/** Names that mean loopback (RFC 6761). */
const LOCALHOST = /(?:^|\.)localhost\.?$/;

/** Warns about what the URL itself shows. The addresses of a name are checked at each delivery. */
function warningsAbout(
  { addressGuard }: Pick<WebhookDeps, 'addressGuard'>,
  url: string,
): { readonly warnings?: WebhookWarning[] } {
  const { hostname } = new URL(url);
  try {
    addressGuard.checkHost(LOCALHOST.test(hostname) ? '127.0.0.1' : hostname);
    return {};
  } catch (error) {
    if (!(error instanceof ForbiddenAddress)) throw error;
    const detail = `${hostname} is not public: nothing is delivered there unless WEBHOOK_ALLOWED_NETWORKS has its network.`;
    return { warnings: [{ code: 'private-address', detail }] };
  }
}

function limitReached(limit: number): ServiceError {
  return new ServiceError(
    'webhook-limit-reached',
    `There are already ${limit} webhooks, as many as MAX_WEBHOOKS allows. Delete one that you do not need.`,
  );
}

export function webhookNotFound(id: string): ServiceError {
  return new ServiceError('webhook-not-found', `There is no webhook ${JSON.stringify(id)}.`);
}

function toRecord({
  id,
  url,
  events,
  ordering,
  pausedAt,
  createdAt,
  createdBy,
  rooms,
}: Webhook): WebhookRecord {
  return {
    id,
    url,
    events: [...events],
    secret: WEBHOOK_SECRET_MASK,
    ordering,
    pausedAt: pausedAt === null ? null : new Date(pausedAt).toISOString(),
    createdAt: new Date(createdAt).toISOString(),
    createdBy,
    ...(rooms === null ? {} : { rooms: [...rooms] }),
  };
}

/** The secrets of webhooks, for a rotation of ENCRYPTION_KEY. A previous secret whose overlap has ended is left out. */
export const SEALED_WEBHOOK_SECRETS: SealedSecrets<Pick<WebhookStores, 'webhooks'>> = {
  name: 'webhooks',
  list: async ({ webhooks }, now) => (await webhooks.list()).map((webhook) => toSealedRow(webhook, now)),
};

function toSealedRow(webhook: Webhook, now: number): SealedRow<Pick<WebhookStores, 'webhooks'>> {
  const { id, secret, previousSecret, previousSecretUntil } = webhook;
  const isOverlapping = previousSecretUntil !== null && previousSecretUntil > now;
  return {
    id,
    sealed: isOverlapping && previousSecret !== null ? [secret, previousSecret] : [secret],
    isOutdated: previousSecret !== null && !isOverlapping,
    replace: ({ webhooks }, [current = secret, previous = null]) =>
      webhooks.replaceSecrets(webhook, {
        secret: current,
        previousSecret: previous,
        previousSecretUntil: previous === null ? null : previousSecretUntil,
      }),
  };
}
