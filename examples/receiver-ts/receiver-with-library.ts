import { Webhook } from 'standardwebhooks';
import { serve } from './serve.ts';
import type { Delivery } from './verify.ts';

/* The same with the public library of Standard Webhooks, https://www.npmjs.com/package/standardwebhooks. */

const { RTC_WEBHOOK_SECRET: secret = '' } = process.env;
if (secret === '') throw new Error('Set RTC_WEBHOOK_SECRET to the secret of the webhook.');
const webhook = new Webhook(secret);

function isGenuine({ body, headers }: Delivery): boolean {
  try {
    webhook.verify(body, headers as Record<string, string>);
    return true;
  } catch {
    // The library throws for whatever is wrong with it.
    return false;
  }
}

serve({
  isGenuine,
  handle: ({ event, id, room }) => console.log(JSON.stringify({ event, room: room?.name ?? null, id })),
});
