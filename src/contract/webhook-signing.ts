import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

/*
 * Every delivery has two signatures. The specified one is `sha256=` and the hex HMAC-SHA256 of the raw body, keyed with the
 * webhook's secret as UTF-8. The one of Standard Webhooks (https://www.standardwebhooks.com) is `v1,` and the base64
 * HMAC-SHA256 of `id.timestamp.body`, keyed with the bytes of the base64 after `whsec_`; there are several, separated by a
 * space, during a rotation of the secret. A secret in another form keys both with its UTF-8 bytes.
 */

export * from './webhook-headers.ts';

const SECRET_PREFIX = 'whsec_';

/** Formats a secret: `whsec_` and the base64 of 32 random bytes. */
export function formatWebhookSecret(random: Uint8Array): string {
  return SECRET_PREFIX + Buffer.from(random).toString('base64');
}

/** A secret prepared for both signatures, for code that signs often with it. */
export type WebhookSigningKeys = { readonly specified: KeyObject; readonly standard: KeyObject };

export function webhookSigningKeys(secret: string): WebhookSigningKeys {
  return { specified: createSecretKey(secret, 'utf8'), standard: standardKey(secret) };
}

/** Returns the specified signature, such as `sha256=2c26…`. */
export function signBody(body: string | Uint8Array, secret: string | WebhookSigningKeys): string {
  const key = typeof secret === 'string' ? secret : secret.specified;
  return `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
}

export type StandardMessage = {
  readonly id: string;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly body: string | Uint8Array;
};

/** Returns one Standard Webhooks signature, such as `v1,K5oZ…`. */
export function signStandard(
  { id, timestamp, body }: StandardMessage,
  secret: string | WebhookSigningKeys,
): string {
  const key = typeof secret === 'string' ? standardKey(secret) : secret.standard;
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body);
  return `v1,${mac.digest('base64')}`;
}

/** Returns whether the specified signature fits the body, compared in constant time. */
export function isBodySignatureValid(body: string | Uint8Array, signature: string, secret: string): boolean {
  return isEqual(signature, signBody(body, secret));
}

/**
 * Returns whether one of the Standard Webhooks signatures of the header fits the message. The caller checks the
 * timestamp.
 */
export function isStandardSignatureValid(message: StandardMessage, header: string, secret: string): boolean {
  const expected = signStandard(message, secret);
  return header.split(' ').some((signature) => isEqual(signature, expected));
}

function standardKey(secret: string): KeyObject {
  const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : '';
  const key = Buffer.from(encoded, 'base64');
  const isEncoded = key.length > 0 && key.toString('base64') === encoded;
  return isEncoded ? createSecretKey(key) : createSecretKey(secret, 'utf8');
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
