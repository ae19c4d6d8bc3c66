import { Agent, buildConnector, type Dispatcher } from 'undici';
import { decodeBody } from '../../../contract/decode-body.ts';
import type { Event } from '../../../contract/events.ts';
import {
  acceptContinue,
  describeRedirect,
  isRedirect,
  isTlsError,
  isUntrustedCertificate,
} from '../../../contract/http-responses.ts';
import { isObject } from '../../../contract/unknown-value.ts';
import {
  STANDARD_SIGNATURE_HEADER,
  signBody,
  signStandard,
  WEBHOOK_EVENT_HEADER,
  WEBHOOK_ID_HEADER,
  WEBHOOK_SIGNATURE_HEADER,
  WEBHOOK_TIMESTAMP_HEADER,
} from '../../../contract/webhook-signing.ts';

/** Time limit of the service's own deliveries. */
const TIMEOUT_MS = 10_000;
/** Shorter than the time limit, so that a host without a connection is told from a receiver that takes too long. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Bytes of a response that are kept: enough to see the error. */
const MAX_TEXT_BYTES = 4096;

/**
 * The outcome at a receiver: `down` when there was no connection, so that it cannot have received the event; `broken` when
 * the connection ended without a response, as in a restart; `failed` for all else, such as no response in time, which the
 * receiver may have acted on.
 */
export type PostOutcome =
  | {
      readonly kind: 'responded';
      readonly statusCode: number;
      readonly redirect: string | null;
      readonly text: string;
    }
  | { readonly kind: 'down' | 'broken' | 'failed'; readonly reason: string };

export type Post = {
  readonly url: URL;
  readonly secret: string;
  readonly event: Event;
  readonly nowMs: number;
};

export type EventPoster = {
  post(post: Post, signal: AbortSignal): Promise<PostOutcome>;
  close(): Promise<void>;
};

type PosterSettings = {
  readonly userAgent: string;
  /** Whether certificates are accepted unverified. */
  readonly skipVerify?: boolean | undefined;
};

/** Posts events to a receiver as the service does: with both signatures, without following redirects, for 10 s at most. */
export function createEventPoster({ userAgent, skipVerify = false }: PosterSettings): EventPoster {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, rejectUnauthorized: !skipVerify });
  // undici takes a response with 100 Continue, which some servers send unasked, for an error.
  const agent = new Agent({ connect: acceptContinue(connect) });
  return {
    post: (post, signal) => send(agent, { ...post, userAgent }, signal),
    close: () => agent.destroy(),
  };
}

async function send(
  agent: Agent,
  { url, userAgent, ...post }: Post & { readonly userAgent: string },
  signal: AbortSignal,
): Promise<PostOutcome> {
  const body = JSON.stringify(post.event);
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': userAgent, ...signHeaders(post, body) },
      body,
      signal: AbortSignal.any([signal, timeout]),
    });
    const { statusCode, headers } = response;
    const location = Array.isArray(headers.location) ? headers.location[0] : headers.location;
    return {
      kind: 'responded',
      statusCode,
      redirect: isRedirect(statusCode) ? describeRedirect(location, url.href) : null,
      text: await readStart(response),
    };
  } catch (error) {
    if (signal.aborted) throw error;
    if (timeout.aborted) return { kind: 'failed', reason: `no response within ${TIMEOUT_MS / 1000} s` };
    return explainFault(readCode(error), error);
  }
}

function signHeaders({ secret, event, nowMs }: Omit<Post, 'url'>, body: string): Record<string, string> {
  const timestamp = Math.floor(nowMs / 1000);
  return {
    [WEBHOOK_SIGNATURE_HEADER]: signBody(body, secret),
    [WEBHOOK_EVENT_HEADER]: event.event,
    [WEBHOOK_ID_HEADER]: event.id,
    [WEBHOOK_TIMESTAMP_HEADER]: String(timestamp),
    [STANDARD_SIGNATURE_HEADER]: signStandard({ id: event.id, timestamp, body }, secret),
  };
}

/** Reads the beginning of a response. Leaving the loop discards the rest. */
async function readStart({ body, headers }: Dispatcher.ResponseData): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MAX_TEXT_BYTES) break;
  }
  const kept = Buffer.concat(chunks).subarray(0, MAX_TEXT_BYTES);
  return await decodeBody(kept, headers['content-encoding'], MAX_TEXT_BYTES);
}

const NO_CONNECTION: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up',
  EHOSTUNREACH: 'its host cannot be reached',
  ENETUNREACH: 'its network cannot be reached',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
};

const BROKEN: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

function explainFault(code: string, error: unknown): PostOutcome {
  const down = NO_CONNECTION[code];
  if (down !== undefined) return { kind: 'down', reason: `${down} (${code})` };
  if (BROKEN.has(code)) return { kind: 'broken', reason: 'the connection ended without a response' };
  if (code.startsWith('HPE_')) return { kind: 'failed', reason: 'the server there does not speak HTTP' };
  if (isUntrustedCertificate(code)) {
    const remedy = 'name its authority in NODE_EXTRA_CA_CERTS, or add --skip-verify on this machine';
    return { kind: 'failed', reason: `the TLS certificate is not trusted (${code}); ${remedy}` };
  }
  if (isTlsError(code)) {
    return { kind: 'failed', reason: `the TLS certificate or handshake is not valid (${code})` };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'failed', reason: message === '' ? code : message };
}

/** Code of the error, of its cause, or of the first of several: one per address of localhost. */
function readCode(error: unknown): string {
  if (!isObject(error)) return '';
  const { code, cause, errors } = error;
  if (typeof code === 'string') return code;
  return readCode(Array.isArray(errors) ? errors[0] : cause);
}
