/*
 * The least that a receiver of webhooks does: it verifies each event, prints it, and answers. RTC_WEBHOOK_SECRET is the secret of the
 * webhook. An event may come twice: examples/receiver-ts handles each once.
 */
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { verifyWebhook, WebhookVerificationError } from 'rtc-service/client';

const { RTC_WEBHOOK_SECRET: secret = '', PORT = '4000' } = process.env;
if (secret === '') throw new Error('Set RTC_WEBHOOK_SECRET to the secret of the webhook.');

const server = createServer(async (request, response) => {
  try {
    const delivery = { body: await buffer(request), headers: request.headers, secret };
    const { event, id, room, participant } = await verifyWebhook(delivery);
    console.log(JSON.stringify({ event, room: room?.name ?? null, who: participant?.identity, id }));
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(error instanceof WebhookVerificationError ? 401 : 500).end();
  }
});
server.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`Listening on http://127.0.0.1:${server.address().port}`),
);
