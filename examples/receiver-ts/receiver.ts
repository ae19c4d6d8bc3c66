import { serve } from './serve.ts';
import { type Delivery, isBodySignatureValid, isStandardSignatureValid } from './verify.ts';

/*
 * Receives events with nothing but Node. RTC_WEBHOOK_SECRET is the webhook's secret; RTC_WEBHOOK_SCHEME=body verifies
 * X-Service-Webhook-Signature instead of the Standard Webhooks header.
 */

const { RTC_WEBHOOK_SECRET: secret = '', RTC_WEBHOOK_SCHEME: scheme = 'standard' } = process.env;
if (secret === '') throw new Error('Set RTC_WEBHOOK_SECRET to the secret of the webhook.');
if (scheme !== 'standard' && scheme !== 'body') throw new Error('RTC_WEBHOOK_SCHEME is standard or body.');

const isGenuine = (delivery: Delivery): boolean =>
  // One scheme, chosen here: to accept either would let a sender choose the weaker one.
  scheme === 'body'
    ? isBodySignatureValid(delivery, secret)
    : isStandardSignatureValid(delivery, secret, Date.now());

serve({
  isGenuine,
  handle: ({ event, id, room }) => console.log(JSON.stringify({ event, room: room?.name ?? null, id })),
});
