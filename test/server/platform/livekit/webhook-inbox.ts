import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebhookReceiver } from 'livekit-server-sdk';
import { createWholeBodyServer } from '../../../support/whole-body-server.ts';

/** A webhook that the SDK has verified. */
export type ReceivedWebhook = {
  readonly event: string;
  readonly id: string;
  /** The JSON body as it was sent, without defaults. */
  readonly body: WebhookBody;
  readonly headers: IncomingHttpHeaders;
};

export type WebhookBody = {
  readonly event: string;
  readonly id: string;
  readonly createdAt: string;
  readonly room?: Record<string, unknown>;
  readonly participant?: Record<string, unknown>;
  readonly track?: Record<string, unknown>;
  readonly egressInfo?: Record<string, unknown>;
  readonly ingressInfo?: Record<string, unknown>;
};

export type WebhookInbox = {
  readonly url: string;
  /** All webhooks, including refused ones, in the order of arrival. */
  readonly received: readonly ReceivedWebhook[];
  /** Errors of the SDK's receiver. */
  readonly faults: readonly string[];
  /** Sets the statuses of the next responses. A response waits for its promise. Later responses are 200. */
  readonly respondWith: (...statuses: readonly (number | Promise<number>)[]) => void;
  /** Resolves to the webhooks that `matches` accepts, when there are `count` of them. */
  readonly waitFor: (
    matches: (webhook: ReceivedWebhook) => boolean,
    count?: number,
  ) => Promise<ReceivedWebhook[]>;
  readonly close: () => Promise<void>;
};

export type InboxKeys = { readonly apiKey: string; readonly apiSecret: string };

const DEADLINE_MS = 60_000;

/** Starts an HTTP server that receives LiveKit's webhooks. */
export async function startWebhookInbox({ apiKey, apiSecret }: InboxKeys): Promise<WebhookInbox> {
  const receiver = new WebhookReceiver(apiKey, apiSecret);
  const received: ReceivedWebhook[] = [];
  const faults: string[] = [];
  const statuses: (number | Promise<number>)[] = [];
  const arrivals = new EventTarget();
  const server = createWholeBodyServer(async (request, response, text) => {
    try {
      await receiver.receive(text, request.headers.authorization);
      const body = JSON.parse(text) as WebhookBody;
      received.push({ event: body.event, id: body.id, body, headers: request.headers });
    } catch (error) {
      faults.push(String(error));
    }
    arrivals.dispatchEvent(new Event('arrival'));
    response.writeHead((await statuses.shift()) ?? 200).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const waitFor: WebhookInbox['waitFor'] = async (matches, count = 1) => {
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    for (;;) {
      const found = received.filter(matches);
      if (found.length >= count) return found;
      await once(arrivals, 'arrival', { signal: deadline }).catch(() => {
        const seen = received.map(({ event }) => event).join(', ');
        throw new Error(`not enough of the awaited webhooks (${found.length} of ${count}); arrived: ${seen}`);
      });
    }
  };

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
    received,
    faults,
    respondWith: (...next) => {
      statuses.push(...next);
    },
    waitFor,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
