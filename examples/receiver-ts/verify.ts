import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** How far webhook-timestamp may be from this clock, in seconds. */
const TOLERANCE_SECONDS = 300;

/** What came in: the body as its raw bytes, before anything has parsed it. */
export type Delivery = { readonly body: Buffer; readonly headers: IncomingHttpHeaders };

/**
 * Standard Webhooks (https://www.standardwebhooks.com): `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. The
 * header holds several signatures, separated by spaces, while the secret is being rotated. The timestamp is signed:
 * who has recorded a delivery cannot send it again later.
 */
export function isStandardSignatureValid(
  { body, headers }: Delivery,
  secret: string,
  nowMs: number,
): boolean {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  const signatures = headers['webhook-signature'];
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return false;
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Math.floor(nowMs / 1000) - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const mac = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body);
  const expected = `v1,${mac.digest('base64')}`;
  return signatures.split(' ').some((signature) => isEqual(signature, expected));
}

/**
 * X-Service-Webhook-Signature: `sha256=` and the hex HMAC-SHA256 of the body, keyed with the secret as text. It signs
 * no time, and after a rotation it is the new secret's at once: prefer the other one.
 */
export function isBodySignatureValid({ body, headers }: Delivery, secret: string): boolean {
  const signature = headers['x-service-webhook-signature'];
  if (typeof signature !== 'string') return false;
  return isEqual(signature, `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
}

/** The bytes behind `whsec_`; a secret of another form is its own key. */
function keyOf(secret: string): Buffer | string {
  const encoded = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : '';
  const key = Buffer.from(encoded, 'base64');
  return key.length > 0 && key.toString('base64') === encoded ? key : secret;
}

/** In constant time: how long it takes tells nothing of where two signatures differ. */
function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
