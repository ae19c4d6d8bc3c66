import { Agent, buildConnector, type Dispatcher, request } from 'undici';
import type { WebhookAnswer, WebhookRequest, WebhookSender } from '../../ports/webhook-sender.ts';
import { type AddressGuard, ForbiddenAddress } from './address-guard.ts';

/** From the start of the attempt to the answer's end, as the specification of deliveries has it. */
const PATIENCE_MS = 10_000;
/** What is kept of an answer; the rest is not even read. */
const KEPT_BYTES = 4096;
/** Receivers that are no longer called do not keep connections. */
const KEEP_ALIVE_MS = 30_000;

export type WebhookSenderSettings = {
  readonly guard: AddressGuard;
  readonly userAgent: string;
  readonly patienceMs?: number;
};

/** Posts to receivers: guarded addresses, no redirects, one patience for all of it. */
export function createWebhookSender({
  guard,
  userAgent,
  patienceMs = PATIENCE_MS,
}: WebhookSenderSettings): WebhookSender {
  const connectGuarded = buildConnector({ lookup: guard.lookup, timeout: patienceMs });
  const agent = new Agent({
    // No limit to the connections to one host: several webhooks may be on it, and one that hangs would have them all.
    // Who calls bounds the requests at a time to each webhook. And not by HTTP/2, which has one connection for all.
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    headersTimeout: patienceMs,
    bodyTimeout: patienceMs,
    connect: (options, callback) => {
      try {
        guard.checkHost(options.hostname);
      } catch (error) {
        callback(error as Error, null);
        return;
      }
      connectGuarded(options, callback);
    },
  });
  return {
    send: async (webhookRequest) => await send({ agent, userAgent, patienceMs }, webhookRequest),
    close: () => agent.destroy(),
  };
}

type SendDeps = { readonly agent: Agent; readonly userAgent: string; readonly patienceMs: number };

async function send(deps: SendDeps, { url, headers, body }: WebhookRequest): Promise<WebhookAnswer> {
  const startedAt = performance.now();
  const signal = AbortSignal.timeout(deps.patienceMs);
  const taken = (): number => Math.round(performance.now() - startedAt);
  const arrived: { statusCode: number | null; readonly chunks: Buffer[] } = { statusCode: null, chunks: [] };
  try {
    const answer = await request(url, {
      dispatcher: deps.agent,
      method: 'POST',
      headers: { 'user-agent': deps.userAgent, ...headers },
      body,
      signal,
    });
    arrived.statusCode = answer.statusCode;
    await readStart(answer.body, arrived.chunks);
    return { ...toAnswer(arrived), error: null, durationMs: taken() };
  } catch (error) {
    const what = arrived.statusCode === null ? 'no answer' : 'the answer did not end';
    const text = signal.aborted ? `${what} within ${deps.patienceMs / 1000} s` : describe(error);
    return { ...toAnswer(arrived), error: text, durationMs: taken() };
  }
}

/** The first bytes of an answer; leaving the loop gives the rest of it up, with its connection. */
async function readStart(body: Dispatcher.ResponseData['body'], chunks: Buffer[]): Promise<void> {
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size >= KEPT_BYTES) break;
  }
}

type Arrived = { readonly statusCode: number | null; readonly chunks: readonly Buffer[] };

function toAnswer({ statusCode, chunks }: Arrived): Pick<WebhookAnswer, 'statusCode' | 'responseBody'> {
  if (statusCode === null) return { statusCode, responseBody: null };
  const text = Buffer.concat(chunks).subarray(0, KEPT_BYTES).toString('utf8');
  // PostgreSQL keeps no NUL in a text.
  return { statusCode, responseBody: text.replaceAll('\0', '\uFFFD').toWellFormed() };
}

const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection was closed before the end of the answer',
  EPIPE: 'the connection was closed before the end of the answer',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'the answer did not end in time',
  ETIMEDOUT: 'no connection in time',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  ENOTFOUND: 'the name is not known',
  EAI_AGAIN: 'the name could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
};

/** Codes and words of ours only: an error's own text may hold addresses. */
function describe(error: unknown): string {
  if (error instanceof ForbiddenAddress) return error.message;
  const { name, code, cause } = error as { readonly name?: string } & NodeJS.ErrnoException;
  if (cause instanceof ForbiddenAddress) return cause.message;
  if (name === 'HTTPParserError') return 'the answer is not well-formed HTTP';
  if (code === undefined) return 'the request failed';
  if (/^(CERT|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/.test(code)) {
    return `the TLS certificate or handshake is not valid (${code})`;
  }
  return MEANINGS[code] ?? `the request failed (${code})`;
}
