import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import manifest from '../../../../package.json' with { type: 'json' };
import type { RtcClient } from '../../../client/client.ts';
import type { ServiceResponse } from '../../../client/client-options.ts';
import { parseJson, readMembers } from '../../../contract/unknown-value.ts';
import type { Context } from '../../framework/context.ts';
import {
  fileResponse,
  type LoopbackServer,
  readText,
  startLoopbackServer,
} from '../../pages/loopback-server.ts';
import {
  jsonResponse,
  type PageFile,
  type PageResponse,
  pageHeaders,
  problem,
  readPageFiles,
} from '../../pages/page-response.ts';
import { checkService } from '../doctor/check-service.ts';
import { type Check, type Credentials, checkAddress } from '../doctor/checks.ts';
import { type ServedPage, servePage } from '../rooms/page/page-server.ts';
import {
  type ConsoleCall,
  type ConsoleInfo,
  type ConsoleTarget,
  errorResponse,
  handleConsoleCall,
  readOnlyProblem,
} from './console-calls.ts';

type ConsoleRequest = {
  readonly client: RtcClient;
  readonly credentials: Credentials;
  readonly info: Omit<ConsoleInfo, 'version'>;
  /** Checks that come before the checks of the service, such as the check of the settings. */
  readonly checkSettings: () => Promise<readonly Check[]>;
  /** 0 selects a free port. */
  readonly port: number;
};

/** Serves the console of a service. Throws when the page is not built. */
export async function serveConsole(context: Context, request: ConsoleRequest): Promise<ServedPage> {
  const files = await readPageFiles(context.io.launcher, 'console');
  const session = new ConsoleSession();
  const rooms = new OpenedRooms(context, request.client);
  const target: ConsoleTarget = {
    client: request.client,
    info: { ...request.info, version: manifest.version },
    runChecks: (options) => runChecks(context, request, options),
    openRoom: (room) => rooms.createLink(room),
  };
  const { origin, close } = await startConsoleServer({ target, session, files, port: request.port });
  return {
    origin,
    link: session.createLink(origin),
    close: async () => {
      await close();
      await rooms.close();
    },
  };
}

async function runChecks(
  context: Context,
  { credentials, info, checkSettings }: ConsoleRequest,
  options: { readonly withProbe: boolean },
): Promise<readonly Check[]> {
  const settings = await checkSettings();
  const address = await checkAddress(context, info.url);
  if (!address.isService) return [...settings, ...address.checks];
  const service = await checkService(context, { url: info.url, ...credentials }, options);
  return [...settings, ...address.checks, ...service];
}

/** The pages of rooms that the console has opened, one for each room, until it ends. */
class OpenedRooms {
  readonly #context: Context;
  readonly #client: RtcClient;
  readonly #pages = new Map<string, Promise<ServedPage>>();

  constructor(context: Context, client: RtcClient) {
    this.#context = context;
    this.#client = client;
  }

  async createLink(room: string): Promise<string> {
    const page = this.#pages.get(room) ?? servePage(this.#context.io, { client: this.#client, room });
    this.#pages.set(room, page);
    try {
      return (await page).link;
    } catch (error) {
      this.#pages.delete(room);
      throw error;
    }
  }

  async close(): Promise<void> {
    for (const page of this.#pages.values()) {
      const served = await page.catch(() => undefined);
      await served?.close();
    }
  }
}

/*
 * Serves the console on 127.0.0.1 and signs its requests, so that the API secret stays in this process. The access checks,
 * in order:
 *
 *   Host            ours, so that no name can be bound to this machine (DNS rebinding). The page is never opened as localhost:
 *                   at the same port of ::1 there may be another program
 *   files           public, because they contain no secret
 *   own page only   requests of other pages are rejected, also from another port of this machine, which browsers
 *                   take for the same site: Sec-Fetch-Site must be same-origin if the browser sends it, and Origin must
 *                   be ours for every change
 *   the token       of the page that opened the link, in a header, or a path that the page signed with it. It is no
 *                   cookie, because a browser sends cookies to every port of this machine
 *   --read-only     only GET, and the checks that change nothing
 */

type ConsoleServerSettings = {
  readonly target: ConsoleTarget;
  readonly session: ConsoleSession;
  readonly files: ReadonlyMap<string, PageFile>;
  /** 0 selects a free port. */
  readonly port: number;
};

/** Maximum body. The service's own limit is 1 MiB, unless it is raised. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

const MAX_CODE_BYTES = 1024;

export async function startConsoleServer(settings: ConsoleServerSettings): Promise<LoopbackServer> {
  return await startLoopbackServer({
    port: settings.port,
    headers: pageHeaders({ connect: [], permissions: 'camera=(), microphone=(), display-capture=()' }),
    respond: (request, origin, signal) => respond(settings, origin, { request, signal }),
  });
}

type Incoming = { readonly request: IncomingMessage; readonly signal: AbortSignal };

async function respond(
  settings: ConsoleServerSettings,
  origin: string,
  { request, signal }: Incoming,
): Promise<PageResponse> {
  const { method = 'GET', headers, url = '/' } = request;
  const path = url.split('?', 1)[0] ?? '/';
  const isRead = method === 'GET' || method === 'HEAD';
  const isFile = !path.startsWith('/api/') && !path.startsWith('/console/');
  const { host, port } = new URL(origin);
  if (headers.host === `localhost:${port}` && isFile && isRead) {
    return { status: 307, headers: { location: origin + url, 'cache-control': 'no-store' } };
  }
  if (headers.host !== host) return problem(421, 'The console is not served under that host name.');
  if (isFile) {
    return isRead ? pageFile(settings.files, path) : problem(405, 'This method is not served here.');
  }
  const refusal = refuseOtherPages(request, origin);
  if (refusal !== undefined) return refusal;
  const body = isRead ? '' : await readText(request, MAX_BODY_BYTES);
  if (body === undefined) return problem(413, 'The body is larger than 4 MiB.');
  if (path === '/console/session' && !isRead) return openSession(settings, body);
  const signed = isRead ? readSignedPath(url) : undefined;
  const { session } = settings;
  if (!(signed === undefined ? session.isHeldBy(headers.authorization) : session.hasSigned(signed))) {
    return problem(401, 'This page was not opened by the link of this console.', {
      hint: { text: 'open the link that rtc console printed' },
    });
  }
  const call = { method, url: signed?.path ?? url, body, range: headers.range, signal };
  return path.startsWith('/api/')
    ? await forwardToService(settings.target, call)
    : await handleConsoleCall(settings.target, call);
}

function refuseOtherPages({ method, headers }: IncomingMessage, own: string): PageResponse | undefined {
  const { origin, 'sec-fetch-site': site } = headers;
  const isRead = method === 'GET' || method === 'HEAD';
  const isOwnOrigin = origin === undefined ? isRead : origin === own;
  const isOwnPage = site === undefined || site === 'same-origin' || (isRead && site === 'none');
  if (!isOwnOrigin || !isOwnPage) return problem(403, 'Only the console itself may ask for this.');
  const contentType = headers['content-type'];
  if (isRead || contentType === undefined || contentType === 'application/json') return undefined;
  return problem(415, 'Send application/json.');
}

/** Returns a file of the page. Only the page knows the addresses of its views, so each of them returns the page. */
function pageFile(files: ReadonlyMap<string, PageFile>, path: string): PageResponse {
  const isView = !path.startsWith('/assets/');
  return fileResponse(files.get(path) ?? (isView ? files.get('/') : undefined));
}

/** Returns the token, and all that GET /console/info returns, so that the page can start. */
function openSession({ session, target }: ConsoleServerSettings, body: string): PageResponse {
  const token = body.length > MAX_CODE_BYTES ? undefined : session.redeem(readCode(body));
  if (token === undefined) {
    return problem(403, 'This link is from another run of rtc console.', {
      hint: { text: 'open the link that rtc console printed last' },
    });
  }
  return jsonResponse(200, { ...target.info, token });
}

function readCode(body: string): string {
  const { code } = readMembers(parseJson(body));
  return typeof code === 'string' ? code : '';
}

type SignedPath = { readonly path: string; readonly ticket: string };

/** Takes the ticket from the address, for requests that can have no header, such as for a video or a file to save. */
function readSignedPath(url: string): SignedPath | undefined {
  const [, path, ticket] = /^(.+)[?&]ticket=([0-9a-f]+)$/.exec(url) ?? [];
  return path === undefined || ticket === undefined ? undefined : { path, ticket };
}

/**
 * Access to the console. The printed link has a code in its fragment, which no browser sends to a server. The page exchanges
 * the code for a token, which it keeps where only pages of its own origin read: another port is another origin. Both are
 * random, and end with the command.
 */
export class ConsoleSession {
  readonly #code = randomBytes(24).toString('base64url');
  readonly #token = randomBytes(24).toString('base64url');

  /** Returns the link for a browser on this machine. */
  createLink(origin: string): string {
    return `${origin}/#code=${this.#code}`;
  }

  /** Returns the token for the right code; undefined for any other text. */
  redeem(code: string): string | undefined {
    return isEqual(code, this.#code) ? this.#token : undefined;
  }

  /** Returns whether the Authorization header of a request has the token. */
  isHeldBy(authorization: string | undefined): boolean {
    return isEqual(authorization ?? '', `Bearer ${this.#token}`);
  }

  /** Returns whether the page has signed the path. Its address is worth nothing for another one. */
  hasSigned({ path, ticket }: SignedPath): boolean {
    return isEqual(ticket, createHmac('sha256', this.#token).update(path).digest('hex'));
  }
}

/** Compares in constant time. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Time limit: a long poll lasts 25 s, a recorder may take as long to start, and the request itself takes time. */
const TIMEOUT_MS = 45_000;

/** Headers of the service's response that the page or the browser reads. */
const PASSED_HEADERS = ['content-type', 'retry-after', 'x-request-id', 'x-room-existed', 'x-room-ignored'];

const RECORDING_FILE = /^\/api\/v1\/recordings\/([^/?]+)\/file(\?download)?$/;

/** Signs `/api/v1/…` and forwards it as `/v1/…`. */
async function forwardToService(target: ConsoleTarget, call: ConsoleCall): Promise<PageResponse> {
  const { method, url, body, signal } = call;
  if (!METHODS.includes(method)) return problem(405, 'This method is not served here.');
  if (target.info.isReadOnly && method !== 'GET') return readOnlyProblem();
  const path = url.slice('/api'.length);
  if (!path.startsWith('/v1/')) return problem(404, 'Only /v1 is behind the console.');
  try {
    const file = RECORDING_FILE.exec(url);
    if (method === 'GET' && file !== null) {
      return await playRecording(target.client, {
        id: decodeURIComponent(file[1] ?? ''),
        isDownload: file[2] !== undefined,
        range: call.range,
        signal,
      });
    }
    const response = await target.client.request(method, path, {
      ...(body === '' ? {} : { body }),
      signal,
      timeoutMs: TIMEOUT_MS,
      maxAttempts: 1,
    });
    return passOn(response);
  } catch (error) {
    return errorResponse(error);
  }
}

function passOn({ status, headers, body }: ServiceResponse): PageResponse {
  const passed = PASSED_HEADERS.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { status, body, headers: { ...Object.fromEntries(passed), 'cache-control': 'no-store' } };
}

type Playing = {
  readonly id: string;
  /** Whether the browser saves the file instead of playing it. */
  readonly isDownload: boolean;
  /** The browser's Range header, with which it seeks. */
  readonly range: string | undefined;
  readonly signal: AbortSignal;
};

/**
 * Sends the file of a recording from the service or from its bucket. The browser sees neither address: its policy lets it
 * load only from this server, and a signed address would be in its history.
 */
async function playRecording(
  client: Pick<RtcClient, 'recordings'>,
  { id, isDownload, range, signal }: Playing,
): Promise<PageResponse> {
  const wanted = /^bytes=(\d+)-(\d*)$/.exec(range ?? '');
  const from = Number(wanted?.[1] ?? 0);
  const { file } = await client.recordings.get(id, { signal });
  const { start, sizeBytes, body } = await client.recordings.download(id, { from, signal });
  const name = file?.path.split('/').at(-1) ?? `${id}.mp4`;
  const headers = {
    'content-type': chooseMediaType(name),
    'content-disposition': `${isDownload ? 'attachment' : 'inline'}; filename*=UTF-8''${encodeURIComponent(name)}`,
    'accept-ranges': 'bytes',
    'cache-control': 'no-store',
  };
  if (sizeBytes === undefined) return { status: 200, body, headers };
  if (wanted === null || start !== from) {
    return { status: 200, body, headers: { ...headers, 'content-length': String(sizeBytes - start) } };
  }
  const last = wanted[2] === '' ? sizeBytes - 1 : Math.min(Number(wanted[2]), sizeBytes - 1);
  return {
    status: 206,
    body: firstBytes(body, last - from + 1),
    headers: {
      ...headers,
      'content-length': String(last - from + 1),
      'content-range': `bytes ${from}-${last}/${sizeBytes}`,
    },
  };
}

async function* firstBytes(body: AsyncIterable<Uint8Array>, count: number): AsyncGenerator<Uint8Array> {
  let remaining = count;
  for await (const chunk of body) {
    yield chunk.length > remaining ? chunk.subarray(0, remaining) : chunk;
    remaining -= chunk.length;
    // Leaving the loop ends the transfer.
    if (remaining <= 0) return;
  }
}

function chooseMediaType(name: string): string {
  const types: Readonly<Record<string, string>> = {
    mp4: 'video/mp4',
    webm: 'video/webm',
    ogg: 'audio/ogg',
    mp3: 'audio/mpeg',
    m4a: 'audio/mp4',
  };
  return types[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'application/octet-stream';
}
