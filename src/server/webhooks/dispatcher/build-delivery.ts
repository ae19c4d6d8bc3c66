import { ServiceError } from '../../../contract/errors.ts';
import {
  STANDARD_SIGNATURE_HEADER,
  signBody,
  signStandard,
  WEBHOOK_EVENT_HEADER,
  WEBHOOK_ID_HEADER,
  WEBHOOK_SIGNATURE_HEADER,
  WEBHOOK_TIMESTAMP_HEADER,
  type WebhookSigningKeys,
  webhookSigningKeys,
} from '../../../contract/webhook-signing.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { SecretBox } from '../../platform/secrets/encryption-keys.ts';
import type { FileUrls, WebhookRequest } from '../sender/sender.ts';
import type { DeliveryJob, Webhook, WebhookStore } from '../store.ts';

export type BuildDeliveryDeps = {
  readonly clock: Clock;
  readonly fileUrls: FileUrls;
};

/** Builds the request of one attempt, with a fresh signature and a fresh file URL. */
export async function buildDelivery(
  deps: BuildDeliveryDeps,
  job: DeliveryJob,
  keys: SigningKeys,
): Promise<WebhookRequest> {
  const { webhook, delivery, event } = job;
  const body = `{"event":${JSON.stringify(delivery.eventName)},${(await withFileUrl(deps.fileUrls, event.payload)).slice(1)}`;
  const now = deps.clock.now();
  const timestamp = Math.floor(now / 1000);
  const message = { id: event.id, timestamp, body };
  return {
    url: webhook.url,
    body,
    headers: {
      'content-type': 'application/json',
      [WEBHOOK_SIGNATURE_HEADER]: signBody(body, keys[0]),
      [WEBHOOK_EVENT_HEADER]: delivery.eventName,
      [WEBHOOK_ID_HEADER]: event.id,
      [WEBHOOK_TIMESTAMP_HEADER]: String(timestamp),
      [STANDARD_SIGNATURE_HEADER]: keys.map((key) => signStandard(message, key)).join(' '),
    },
  };
}

export type SigningKeys = readonly [WebhookSigningKeys, ...WebhookSigningKeys[]];

/**
 * Opens the keys that sign a delivery: the specified header holds one signature, by the current secret; the second
 * header carries all. Throws secret-unavailable when no ENCRYPTION_KEY of this instance opens the secret.
 */
export function openSigningKeys(box: SecretBox, webhook: Webhook, now: number): SigningKeys {
  const current = openKeys(box, webhook.secret, webhook.id);
  const { previousSecret, previousSecretUntil } = webhook;
  if (previousSecret === null || previousSecretUntil === null || previousSecretUntil <= now) return [current];
  const previous = openIfPossible(box, previousSecret, webhook.id);
  return previous === undefined ? [current] : [current, previous];
}

/**
 * Opens the previous secret. Its encryption key may be dropped before the overlap of 24 h ends; then only the current secret
 * signs.
 */
function openIfPossible(box: SecretBox, sealed: string, webhookId: string): WebhookSigningKeys | undefined {
  try {
    return openKeys(box, sealed, webhookId);
  } catch {
    return undefined;
  }
}

/**
 * Maximum number of opened secrets in memory, so that a secret is not decrypted for every delivery. The cache key is the
 * sealed text, because it changes with the secret.
 */
const OPENED_AT_MOST = 2_000;
const opened = new WeakMap<SecretBox, Map<string, WebhookSigningKeys>>();

function openKeys(box: SecretBox, sealed: string, webhookId: string): WebhookSigningKeys {
  const known = opened.get(box) ?? new Map<string, WebhookSigningKeys>();
  opened.set(box, known);
  const name = `${webhookId} ${sealed}`;
  const kept = known.get(name);
  if (kept !== undefined) return kept;
  const keys = webhookSigningKeys(openSecret(box, sealed, webhookId));
  if (known.size >= OPENED_AT_MOST) known.clear();
  known.set(name, keys);
  return keys;
}

function openSecret(box: SecretBox, sealed: string, webhookId: string): string {
  try {
    return box.open(sealed, webhookId);
  } catch (cause) {
    throw new ServiceError(
      'secret-unavailable',
      "The webhook's secret cannot be decrypted: this instance does not have the ENCRYPTION_KEY that it was stored with. Add that key to ENCRYPTION_KEY, after the current one, or set a new secret by PUT.",
      { cause, retryable: true },
    );
  }
}

/** Returns the stored payload with the file URL of its recording. The id of the recording is not sent. */
export async function withFileUrl(fileUrls: FileUrls, payload: string): Promise<string> {
  // Most events have no recording. Their payload is sent as it is stored.
  if (!payload.includes('"recordingId"')) return payload;
  const parsed = JSON.parse(payload) as { readonly recording?: { readonly recordingId?: string } };
  const { recordingId, ...recording } = parsed.recording ?? {};
  if (recordingId === undefined) return payload;
  const fileUrl = await fileUrls.findUrl(recordingId);
  return JSON.stringify({
    ...parsed,
    recording: { ...recording, ...(fileUrl === undefined ? {} : { fileUrl }) },
  });
}

/** Maximum time until this instance sees a change of a webhook that another instance made. */
const MAX_AGE_MS = 1_000;

type WebhookCacheDeps = {
  readonly webhooks: Pick<WebhookStore, 'find'>;
  readonly clock: Clock;
  readonly log: Log;
};

type Entry = { webhook: Webhook | undefined; readAt: number; reading?: Promise<void> | undefined };

/**
 * The webhooks of queued deliveries. A delivery may wait long behind a slow receiver, and must not be sent to a URL that was
 * changed or to a webhook that was deleted in the meantime. Entries are therefore read again after a second.
 */
export class WebhookCache {
  readonly #deps: WebhookCacheDeps;
  readonly #entries = new Map<string, Entry>();

  constructor(deps: WebhookCacheDeps) {
    this.#deps = deps;
  }

  /** Adds a webhook that was just read. */
  set(webhook: Webhook): void {
    this.#entries.set(webhook.id, { webhook, readAt: this.#deps.clock.monotonic() });
  }

  /** Replaces the entry, so that a running read cannot restore the old registration. */
  invalidate(webhookId: string): void {
    const entry = this.#entries.get(webhookId);
    if (entry !== undefined)
      this.#entries.set(webhookId, { webhook: entry.webhook, readAt: Number.NEGATIVE_INFINITY });
  }

  delete(webhookId: string): void {
    this.#entries.delete(webhookId);
  }

  /** Returns the webhook as it was at most a second ago; undefined when it was deleted. */
  async get(webhookId: string): Promise<Webhook | undefined> {
    const entry = this.#entries.get(webhookId);
    if (entry !== undefined && this.#deps.clock.monotonic() - entry.readAt > MAX_AGE_MS) {
      // Concurrent callers share one read.
      entry.reading ??= this.#read(webhookId, entry);
      await entry.reading;
    }
    return this.#entries.get(webhookId)?.webhook;
  }

  /** Keeps the entry as it is when the store does not respond. */
  async #read(webhookId: string, entry: Entry): Promise<void> {
    const { webhooks, clock, log } = this.#deps;
    const startedAt = clock.monotonic();
    try {
      entry.webhook = await webhooks.find(webhookId);
      entry.readAt = startedAt;
    } catch (error) {
      log.warn({ err: error }, 'reading a webhook failed; its deliveries use the last known registration');
    } finally {
      entry.reading = undefined;
    }
  }
}
