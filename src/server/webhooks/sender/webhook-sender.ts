import { Agent, buildConnector } from 'undici';
import type { AddressGuard } from './address-guard.ts';
import type { WebhookRequest, WebhookResponse, WebhookSender } from './sender.ts';
import { limitReads, WebhookExchange } from './webhook-exchange.ts';

/** From the start of the attempt to the end of the response, as specified for deliveries. */
const TIMEOUT_MS = 10_000;
/** Idle connections are closed after this time. */
const KEEP_ALIVE_MS = 30_000;

export type WebhookSenderSettings = {
  readonly guard: AddressGuard;
  readonly userAgent: string;
  readonly timeoutMs?: number;
};

/** Creates the sender: guarded addresses, no redirects, one timeout for the whole exchange. */
export function createWebhookSender({
  guard,
  userAgent,
  timeoutMs = TIMEOUT_MS,
}: WebhookSenderSettings): WebhookSender {
  const connectGuarded = buildConnector({ lookup: guard.lookup, timeout: timeoutMs });
  const agent = new Agent({
    // The connections to one host have no limit: several webhooks may be on it, and one that hangs would use all of them.
    // The caller limits the concurrent requests to each webhook. HTTP/2 would send all requests over one connection.
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // Each exchange has one timeout of its own for everything.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (options, callback) => {
      try {
        guard.checkHost(options.hostname);
      } catch (error) {
        callback(error as Error, null);
        return;
      }
      connectGuarded(options, (...result) => {
        if (result[0] === null) limitReads(result[1]);
        callback(...result);
      });
    },
  });
  return {
    send: async (webhookRequest) => await send({ agent, userAgent, timeoutMs }, webhookRequest),
    close: () => agent.destroy(),
  };
}

type SendDeps = { readonly agent: Agent; readonly userAgent: string; readonly timeoutMs: number };

function send(deps: SendDeps, { url, headers, body }: WebhookRequest): Promise<WebhookResponse> {
  const { origin, pathname, search } = new URL(url);
  const exchange = new WebhookExchange(deps.timeoutMs);
  const request = {
    origin,
    body,
    method: 'POST',
    path: pathname + search,
    headers: { 'user-agent': deps.userAgent, ...headers },
  } as const;
  try {
    deps.agent.dispatch(request, exchange);
  } catch (error) {
    exchange.onResponseError(null, error);
  }
  return exchange.response;
}
