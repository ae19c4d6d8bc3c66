import type { Event } from '../contract/event-payloads.ts';
import {
  STANDARD_SIGNATURE_HEADER,
  WEBHOOK_ID_HEADER,
  WEBHOOK_TIMESTAMP_HEADER,
  WEBHOOK_TOLERANCE_SECONDS,
} from '../contract/webhook-headers.ts';
import { hmacSha256 } from './transport/sign-request.ts';

export type WebhookDelivery = {
  /** The raw body as received. A body that was parsed and serialised again has another signature. */
  readonly body: string | Uint8Array;
  /** A Headers object, or the headers of node:http, Express or Fastify. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The webhook's secret, such as `whsec_…`. */
  readonly secret: string;
  /** The receiver's clock in milliseconds; by default the system's. */
  readonly now?: () => number;
};

/** Error for a delivery that is not genuine, or too old: respond with 401 and do not act on it. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/**
 * Verifies a delivery by its Standard Webhooks headers, and returns its event.
 *
 * ```ts
 * const event = await verifyWebhook({ body: await request.text(), headers: request.headers, secret });
 * if (event.event === 'participant_joined') console.log(event.participant.identity);
 * ```
 * @throws WebhookVerificationError for a delivery that was forged, changed, or recorded and sent again later
 */
export async function verifyWebhook({ body, headers, secret, now }: WebhookDelivery): Promise<Event> {
  const read = headerReader(headers);
  const id = read(WEBHOOK_ID_HEADER);
  const timestamp = read(WEBHOOK_TIMESTAMP_HEADER);
  const signatures = read(STANDARD_SIGNATURE_HEADER);
  if (id === undefined || timestamp === undefined || signatures === undefined) {
    throw new WebhookVerificationError(
      `The delivery lacks ${WEBHOOK_ID_HEADER}, ${WEBHOOK_TIMESTAMP_HEADER} or ${STANDARD_SIGNATURE_HEADER}.`,
    );
  }
  const nowSeconds = Math.floor((now?.() ?? Date.now()) / 1000);
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowSeconds - Number(timestamp)) > WEBHOOK_TOLERANCE_SECONDS) {
    throw new WebhookVerificationError(
      `The delivery was signed more than ${WEBHOOK_TOLERANCE_SECONDS} s before or after this machine's time.`,
    );
  }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const signed = concatenate(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const expected = `v1,${toBase64(await hmacSha256(decodeSecret(secret), signed))}`;
  if (!signatures.split(' ').some((signature) => isEqual(signature, expected))) {
    throw new WebhookVerificationError(
      "No signature of the delivery is right: check the webhook's secret, and that the body is verified as it arrived.",
    );
  }
  return parseEvent(bytes);
}

type HeaderReader = (name: string) => string | undefined;

function headerReader(headers: WebhookDelivery['headers']): HeaderReader {
  if (headers instanceof Headers) return (name) => headers.get(name) ?? undefined;
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => {
    const value = byName.get(name);
    return typeof value === 'string' ? value : value?.join(', ');
  };
}

/** Returns the bytes of the base64 after `whsec_`. The text of a secret in another form is the key itself. */
function decodeSecret(secret: string): Uint8Array {
  const encoded = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : '';
  return fromBase64(encoded) ?? new TextEncoder().encode(secret);
}

/** Returns undefined for text that is empty or not canonical base64. */
function fromBase64(encoded: string): Uint8Array | undefined {
  if (encoded === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) || encoded.length % 4 !== 0) return undefined;
  const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  return toBase64(bytes) === encoded ? bytes : undefined;
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

function concatenate(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** Compares in constant time, so that the time does not reveal the position of a difference. */
function isEqual(given: string, expected: string): boolean {
  if (given.length !== expected.length) return false;
  let difference = 0;
  for (let at = 0; at < expected.length; at++) difference |= given.charCodeAt(at) ^ expected.charCodeAt(at);
  return difference === 0;
}

function parseEvent(bytes: Uint8Array): Event {
  const event: Event | null = JSON.parse(new TextDecoder().decode(bytes));
  if (typeof event !== 'object' || event === null) {
    throw new WebhookVerificationError('The delivery is signed, but it is not an event.');
  }
  return event;
}
