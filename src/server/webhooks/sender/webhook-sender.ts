import type { IncomingHttpHeaders } from 'node:http';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext } from 'node:tls';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { decodeBody } from '../../../contract/decode-body.ts';
import {
  acceptContinue,
  describeRedirect,
  isRedirect,
  isTlsError,
  isUntrustedCertificate,
} from '../../../contract/http-responses.ts';
import { codeOfError, readMembers } from '../../../contract/unknown-value.ts';
import { type AddressGuard, ForbiddenAddress } from './address-guard.ts';
import type { WebhookRequest, WebhookResponse, WebhookSender } from './sender.ts';

/** From the start of the attempt to the end of the response, as specified for deliveries. */
const TIMEOUT_MS = 10_000;

/** Idle connections are closed after this time. */
const KEEP_ALIVE_MS = 30_000;

type WebhookSenderSettings = {
  readonly guard: AddressGuard;
  readonly userAgent: string;
  readonly timeoutMs?: number;
  /** A forward proxy for all receivers. */
  readonly proxyUrl?: string | undefined;
};

/** Creates the sender: guarded addresses, no redirects, one timeout for the whole exchange. */
export function createWebhookSender({
  guard,
  userAgent,
  timeoutMs = TIMEOUT_MS,
  proxyUrl,
}: WebhookSenderSettings): WebhookSender {
  const connectGuarded = createConnector({ lookup: guard.lookup, timeout: timeoutMs, allowH2: false });
  const connectInTunnel = createConnector({ timeout: timeoutMs, allowH2: false });
  const connectOutside =
    proxyUrl === undefined
      ? connectGuarded
      : connectThroughProxy({ proxyUrl, guard, timeoutMs, connectInTunnel });
  const connectLimited: Connect = (options, callback) =>
    connectOutside(options, (...result) => {
      if (result[0] === null) limitReads(result[1]);
      callback(...result);
    });
  const connect = acceptContinue(connectLimited);
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
      connect(options, callback);
    },
  });
  return {
    send: async (webhookRequest) => await send({ agent, userAgent, timeoutMs }, webhookRequest),
    close: () => agent.destroy(),
  };
}

/** Node would read the trusted certificates again for every connection, which takes longer than the rest of opening it. */
function createConnector(options: NonNullable<Parameters<typeof buildConnector>[0]>): Connect {
  const connectPlain = buildConnector(options);
  let connectSecure: Connect | undefined;
  return (target, callback) => {
    if (target.protocol !== 'https:') return connectPlain(target, callback);
    connectSecure ??= buildConnector({ ...options, secureContext: createSecureContext() });
    connectSecure(target, callback);
  };
}

type SendDeps = { readonly agent: Agent; readonly userAgent: string; readonly timeoutMs: number };

function send(deps: SendDeps, { url, headers, body }: WebhookRequest): Promise<WebhookResponse> {
  const exchange = new WebhookExchange(url, deps.timeoutMs);
  const request = {
    ...readTarget(url),
    body,
    method: 'POST',
    headers: { 'user-agent': deps.userAgent, ...headers },
  } as const;
  try {
    deps.agent.dispatch(request, exchange);
  } catch (error) {
    exchange.onResponseError(null, error);
  }
  return exchange.response;
}

type Target = { readonly origin: string; readonly path: string };

/** More addresses than an instance sends to at a time. Reading one takes as long as signing a delivery. */
const TARGETS_AT_MOST = 2_000;
const targets = new Map<string, Target>();

function readTarget(url: string): Target {
  const known = targets.get(url);
  if (known !== undefined) return known;
  const { origin, pathname, search } = new URL(url);
  const target = { origin, path: pathname + search };
  if (targets.size >= TARGETS_AT_MOST) targets.clear();
  targets.set(url, target);
  return target;
}

/** Maximum bytes of a response body that are kept. The rest is not read. */
const MAX_BODY_BYTES = 4096;

/** Maximum interim responses (1xx) before the response. A receiver that sends them without end would use up the processor. */
const MAX_INTERIM_RESPONSES = 16;

/**
 * One request and its response, on undici's dispatch: a response of which 4 KiB are kept needs no stream. The timeout begins
 * at the start and includes the time to connect.
 */
class WebhookExchange implements Dispatcher.DispatchHandler {
  readonly response: Promise<WebhookResponse>;
  readonly #resolve: (response: WebhookResponse) => void;
  readonly #startedAt = performance.now();
  readonly #url: string;
  readonly #timeoutMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #interimResponses = 0;
  #statusCode: number | null = null;
  /** The target of the receiver's redirect, in words. */
  #redirect: string | null = null;
  #coding: string | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #isOver = false;

  constructor(url: string, timeoutMs: number) {
    const { promise, resolve } = Promise.withResolvers<WebhookResponse>();
    this.response = promise;
    this.#resolve = resolve;
    this.#url = url;
    this.#timeoutMs = timeoutMs;
    this.#timer = setTimeout(() => this.#timeOut(), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new ExchangeEnded());
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    { location, 'content-encoding': coding }: IncomingHttpHeaders,
  ): void {
    if (statusCode >= 200) {
      this.#statusCode = statusCode;
      this.#coding = coding;
      const target = Array.isArray(location) ? location[0] : location;
      if (isRedirect(statusCode)) this.#redirect = describeRedirect(target, this.#url);
      return;
    }
    this.#interimResponses += 1;
    if (this.#interimResponses <= MAX_INTERIM_RESPONSES) return;
    this.#end(`more than ${MAX_INTERIM_RESPONSES} interim responses (1xx)`);
    controller.abort(new ExchangeEnded());
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#isOver) this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size <= MAX_BODY_BYTES) return;
    this.#end(null);
    // The rest of the body is discarded with its connection.
    controller.abort(new ExchangeEnded());
  }

  onResponseEnd(): void {
    this.#end(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: unknown): void {
    this.#end(describeError(error));
  }

  #timeOut(): void {
    const what = this.#statusCode === null ? 'no response' : 'the response did not end';
    this.#end(`${what} within ${this.#timeoutMs / 1000} s`);
    this.#controller?.abort(new ExchangeEnded());
  }

  #end(error: string | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    const durationMs = Math.round(performance.now() - this.#startedAt);
    const statusCode = this.#statusCode;
    const outcome = { statusCode, error: error ?? this.#redirect, durationMs };
    if (statusCode === null || this.#size === 0) {
      this.#resolve({ ...outcome, responseBody: statusCode === null ? null : '' });
      return;
    }
    const kept = Buffer.concat(this.#chunks).subarray(0, MAX_BODY_BYTES);
    void decodeBody(kept, this.#coding, MAX_BODY_BYTES).then((text) => {
      // PostgreSQL stores no NUL in text.
      this.#resolve({ ...outcome, responseBody: text.replaceAll('\0', '\uFFFD').toWellFormed() });
    });
  }
}

class ExchangeEnded extends Error {
  override readonly name = 'ExchangeEnded';
}

/** Code of the error that ends the connection. */
export const TOO_MANY_BYTES = 'ERR_TOO_MANY_BYTES';

const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection was closed before the end of the response',
  EPIPE: 'the connection was closed before the end of the response',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'no response in time',
  UND_ERR_BODY_TIMEOUT: 'the response did not end in time',
  ETIMEDOUT: 'no connection in time',
  [TOO_MANY_BYTES]: 'the receiver sends too much',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the response are too large',
  ENOTFOUND: 'the name is not known',
  EAI_AGAIN: 'the name could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
};

/** Describes an error by its code and our own words only, because the text of an error may contain addresses. */
function describeError(error: unknown): string {
  if (error instanceof ForbiddenAddress) return error.message;
  const { name, cause } = readMembers(error);
  const code = codeOfError(error);
  if (cause instanceof ForbiddenAddress) return cause.message;
  if (name === 'HTTPParserError') return 'the response is not well-formed HTTP';
  if (code === undefined) return 'the request failed';
  if (code === PROXY_REFUSED && error instanceof Error) return error.message;
  if (isUntrustedCertificate(code)) {
    return `the TLS certificate is not trusted (${code}); name an authority of your own in NODE_EXTRA_CA_CERTS of the service`;
  }
  if (isTlsError(code)) {
    return `the TLS certificate or handshake is not valid (${code})`;
  }
  return MEANINGS[code] ?? `the request failed (${code})`;
}

/*
 * Limits the work that the receiver of a webhook can cause by what it sends. undici parses everything that has arrived,
 * even if it has given the response up: then it makes an error for each further header or trailer of the piece, which takes
 * longer than all else. It also reads bytes without end that belong to no response, such as empty lines and extensions of
 * chunks.
 */

/** Maximum bytes that are parsed at a time. Nearly all responses are smaller. */
const PIECE_BYTES = 4096;

/** The same for what follows the first piece. Headers and trailers are given up after 16 KiB, somewhere inside a piece. */
const FURTHER_PIECE_BYTES = 256;

/** Maximum bytes that a connection returns for each request: a response of at most 20 KiB, and interim ones before it. */
const MAX_BYTES = 64 * 1024;

/** Limits what one call of `read`, and all calls from one request to the next, return. */
export function limitReads(socket: Socket, maxBytes = MAX_BYTES): void {
  const read = socket.read.bind(socket);
  let written = 0;
  let bytes = 0;
  socket.read = (size) => {
    // undici gives a response up by closing its connection, and would go on to read what has arrived.
    if (socket.destroyed) return null;
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten;
      bytes = 0;
    }
    const limit = bytes < PIECE_BYTES ? PIECE_BYTES : FURTHER_PIECE_BYTES;
    const piece: Buffer | null = read(size ?? (socket.readableLength > limit ? limit : undefined));
    if (piece === null) return null;
    bytes += piece.length;
    if (bytes <= maxBytes) return piece;
    socket.destroy(Object.assign(new Error('The receiver sends too much.'), { code: TOO_MANY_BYTES }));
    return null;
  };
}

/*
 * Connections to receivers through a forward proxy (CONNECT, RFC 9110, section 9.3.6). The guard checks the name before the
 * proxy gets it. What the proxy then connects to is its own look-up, so the proxy must refuse internal addresses too.
 */

type Connect = buildConnector.connector;

type ProxyTunnel = {
  /** It may contain a user and a password. */
  readonly proxyUrl: string;
  readonly guard: Pick<AddressGuard, 'lookup'>;
  readonly timeoutMs: number;
  /** Adds TLS to the tunnel for an https receiver. */
  readonly connectInTunnel: Connect;
};

/** Code of the error of a proxy that opens no tunnel. */
const PROXY_REFUSED = 'ERR_PROXY_REFUSED';

/** Returns a connector that opens a tunnel for each connection. */
function connectThroughProxy(settings: ProxyTunnel): Connect {
  return (options, callback) => {
    const port = options.port === '' ? (options.protocol === 'https:' ? '443' : '80') : options.port;
    settings.guard.lookup(options.hostname.replace(/^\[|\]$/g, ''), { all: true }, (error) => {
      // The service may know no names beyond its own network, where only the proxy has a way out.
      if (error !== null && !NO_ANSWER.has(error.code ?? '')) return callback(error, null);
      openTunnel(settings, `${options.hostname}:${port}`, (fault, tunnel) => {
        if (tunnel === null) return callback(fault ?? new Error('no tunnel'), null);
        if (options.protocol !== 'https:') return callback(null, tunnel);
        settings.connectInTunnel({ ...options, httpSocket: tunnel }, callback);
      });
    });
  };
}

const NO_ANSWER: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN']);

/** Longest head of the proxy's response that is read. */
const MAX_HEAD_BYTES = 16 * 1024;

function openTunnel(
  { proxyUrl, timeoutMs }: ProxyTunnel,
  authority: string,
  callback: (error: Error | null, tunnel: Socket | null) => void,
): void {
  const { protocol, hostname, port, username, password } = new URL(proxyUrl);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isTls = protocol === 'https:';
  const target = { host, port: Number(port || (isTls ? 443 : 80)) };
  const socket = isTls ? connectTls({ ...target, servername: host }) : connectTcp(target);
  const timer = setTimeout(() => end(toRefusal('the proxy did not open a connection in time')), timeoutMs);
  let head = '';
  const end = (error: Error | null): void => {
    clearTimeout(timer);
    socket.off('readable', read).off('error', fail).off('end', close);
    if (error !== null) socket.on('error', () => undefined).destroy();
    callback(error, error === null ? socket : null);
  };
  const read = (): void => {
    // Byte by byte, because what follows the head belongs to the receiver.
    for (let byte = socket.read(1); byte !== null; byte = socket.read(1)) {
      head += byte.toString('latin1');
      const isOver = head.endsWith('\r\n\r\n');
      if (!isOver && head.length <= MAX_HEAD_BYTES) continue;
      end(isOver ? readRefusal(head) : toRefusal('the proxy does not speak HTTP'));
      return;
    }
  };
  const fail = (): void => end(toRefusal('the proxy cannot be reached'));
  const close = (): void => end(toRefusal('the proxy closed the connection'));
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const credentials =
    username === '' ? '' : `Proxy-Authorization: Basic ${Buffer.from(user).toString('base64')}\r\n`;
  socket.once(isTls ? 'secureConnect' : 'connect', () => {
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${credentials}\r\n`);
  });
  socket.on('readable', read).on('error', fail).on('end', close);
}

function readRefusal(head: string): Error | null {
  const status = /^HTTP\/1\.[01] (\d{3})\b/.exec(head)?.[1];
  if (status?.startsWith('2') === true) return null;
  return toRefusal(
    status === undefined ? 'the proxy does not speak HTTP' : `the proxy refused to connect, with ${status}`,
  );
}

/** The message has only our own words, because it is shown to the owner of the webhook. */
function toRefusal(message: string): Error {
  return Object.assign(new Error(message), { code: PROXY_REFUSED });
}
