import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createWholeBodyServer } from '../../../support/whole-body-server.ts';

/** A delivery as it arrived. */
export type Received = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: EventBody;
  readonly at: number;
};

export type EventBody = {
  readonly event: string;
  readonly id: string;
  readonly sequence: number | null;
  readonly timestamp: string;
  readonly room: {
    readonly id: string;
    readonly name: string;
    readonly createdAt: string;
    readonly endedAt?: string;
    readonly metadata: string | null;
    readonly numParticipants: number;
  };
  readonly reconciled?: boolean;
  readonly participant?: { readonly sid: string; readonly identity: string; readonly name: string };
  readonly track?: Readonly<Record<string, unknown>>;
  readonly recording?: Readonly<Record<string, unknown>>;
  readonly ingress?: Readonly<Record<string, unknown>>;
};

export type Behaviour = (request: IncomingMessage, response: ServerResponse, received: Received) => void;

export type Receiver = {
  readonly url: string;
  readonly received: readonly Received[];
  /** Sets the behaviour from now on. Until then it responds with 200 immediately. */
  readonly behave: (behaviour: Behaviour) => void;
  /** Resolves to all matching deliveries, when there are `count` of them. */
  readonly waitFor: (
    matches: (received: Received) => boolean,
    count?: number,
    deadlineMs?: number,
  ) => Promise<readonly Received[]>;
  readonly close: () => Promise<void>;
};

export const respondWith =
  (status: number, body = ''): Behaviour =>
  (_request, response) =>
    void response.writeHead(status).end(body);

const DEADLINE_MS = 60_000;

/** Starts an HTTP server on 127.0.0.1 that receives webhooks. */
export async function startReceiver(behaviour: Behaviour = respondWith(200), port = 0): Promise<Receiver> {
  const received: Received[] = [];
  const arrivals = new EventTarget();
  let behave = behaviour;
  const server = createWholeBodyServer((request, response, text) => {
    const one: Received = {
      path: request.url ?? '',
      headers: request.headers,
      text,
      body: JSON.parse(text) as EventBody,
      at: Date.now(),
    };
    received.push(one);
    arrivals.dispatchEvent(new Event('arrival'));
    behave(request, response, one);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    behave: (next) => {
      behave = next;
    },
    waitFor: async (matches, count = 1, deadlineMs = DEADLINE_MS) => {
      const deadline = AbortSignal.timeout(deadlineMs);
      for (;;) {
        const found = received.filter(matches);
        if (found.length >= count) return found;
        await once(arrivals, 'arrival', { signal: deadline }).catch(() => {
          const seen = received.slice(-30).map(({ body }) => body.event);
          throw new Error(`${found.length} of ${count} awaited deliveries came; arrived: ${seen.join(', ')}`);
        });
      }
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/**
 * Returns the specified signature and that of Standard Webhooks. Both are written from their specifications, independently
 * of the service.
 */
export function expectedSignatures({ headers, text }: Received, secret: string) {
  const hmac = (key: string | Buffer, message: string) => createHmac('sha256', key).update(message);
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`;
  return {
    specified: `sha256=${hmac(secret, text).digest('hex')}`,
    standard: `v1,${hmac(key, signed).digest('base64')}`,
  };
}
