import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWebCryptoSigner } from '../../src/client/transport/sign-request.ts';
import { verifyWebhook, WebhookVerificationError } from '../../src/client/verify-webhook.ts';
import { canonicalString, isSignatureValid, signRequest } from '../../src/contract/signing.ts';
import { isBodySignatureValid, isStandardSignatureValid } from '../../src/contract/webhook-signing.ts';
import { signatureHeaders } from '../support/sign.ts';

/*
 * Digests that openssl computed. The clients in other languages read them too.
 *   hash=$(printf %s "$body" | openssl dgst -sha256 -r | cut -d' ' -f1)
 *   printf '%s\n%s\n%s\n%s' "$method" "$path" 1767225600 "$hash" | openssl dgst -sha256 -hmac "$secret" -r
 */
type Vectors = {
  readonly requests: readonly {
    readonly title: string;
    readonly apiSecret: string;
    readonly method: string;
    readonly path: string;
    readonly timestamp: string;
    readonly body: string;
    readonly canonical: string;
    readonly signature: string;
  }[];
  readonly webhooks: readonly {
    readonly title: string;
    readonly secret: string;
    readonly now: number;
    readonly body: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly standard: boolean;
    readonly specified: boolean;
  }[];
};
const FILE = join(import.meta.dirname, '..', '..', 'data', 'vectors', 'signing.json');
const { requests, webhooks }: Vectors = JSON.parse(readFileSync(FILE, 'utf8'));

describe('the signature of a request', () => {
  it.each(requests)(
    'of $title equals that of openssl',
    async ({ apiSecret, canonical, signature, ...request }) => {
      expect(canonicalString(request)).toBe(canonical);
      expect(signRequest(request, apiSecret)).toBe(signature);
      expect(signRequest({ ...request, body: Buffer.from(request.body) }, apiSecret)).toBe(signature);
      expect(isSignatureValid(request, signature, apiSecret)).toBe(true);
      expect(await createWebCryptoSigner(apiSecret)(request)).toBe(signature);
      const sent = { ...request, method: request.method.toUpperCase() };
      const witness = signatureHeaders(sent, { apiKey: 'k', apiSecret, timestamp: sent.timestamp });
      expect(witness['X-Service-Signature']).toBe(signature);
    },
  );
});

describe('the signatures of a delivery', () => {
  it.each(webhooks)('with $title are judged equally by all implementations', async (vector) => {
    const { secret, now, body, headers, standard, specified } = vector;
    expect(isBodySignatureValid(body, headers['x-service-webhook-signature'] ?? '', secret)).toBe(specified);
    const verified = verifyWebhook({ body, headers, secret, now: () => now * 1000 + 999 });
    if (standard) expect(await verified).toEqual(JSON.parse(body));
    else await expect(verified).rejects.toThrow(WebhookVerificationError);
  });

  it.each(webhooks.filter(({ standard }) => standard))('with $title equal those of the server', (vector) => {
    const { secret, body, headers } = vector;
    const message = {
      id: headers['webhook-id'] ?? '',
      timestamp: Number(headers['webhook-timestamp']),
      body,
    };
    expect(isStandardSignatureValid(message, headers['webhook-signature'] ?? '', secret)).toBe(true);
  });
});

describe('verifyWebhook', () => {
  const [genuine] = webhooks;
  if (genuine === undefined) throw new Error('no vectors');
  const { secret, body, now } = genuine;
  const clock = () => now * 1000;

  it.each([
    ['Headers', new Headers(genuine.headers)],
    [
      'names in capitals',
      Object.fromEntries(Object.entries(genuine.headers).map(([k, v]) => [k.toUpperCase(), v])),
    ],
    ['lists of values', Object.fromEntries(Object.entries(genuine.headers).map(([k, v]) => [k, [v]]))],
  ])('accepts %s', async (_title, headers) => {
    const event = await verifyWebhook({ body: Buffer.from(body), headers, secret, now: clock });
    expect(event.event).toBe('room_finished');
  });

  it('refuses a signed body that is not an event', async () => {
    const { Webhook } = await import('standardwebhooks');
    const signature = new Webhook(secret).sign('evt_1', new Date(clock()), '12');
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(now),
      'webhook-signature': signature,
    };
    await expect(verifyWebhook({ body: '12', headers, secret, now: clock })).rejects.toThrow('not an event');
  });
});
