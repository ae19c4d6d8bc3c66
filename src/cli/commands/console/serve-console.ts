import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import manifest from '../../../../package.json' with { type: 'json' };
import type { RtcClient } from '../../../client/client.ts';
import type { Context } from '../../framework/context.ts';
import {
  fileResponse,
  type LoopbackServer,
  loopbackOrigins,
  readText,
  startLoopbackServer,
} from '../../pages/loopback-server.ts';
import { type PageFile, readPageFiles } from '../../pages/page-files.ts';
import { pageHeaders } from '../../pages/page-headers.ts';
import { jsonResponse, type PageResponse, problem } from '../../pages/page-response.ts';
import { checkService } from '../doctor/check-service.ts';
import { type Check, type Credentials, checkAddress } from '../doctor/checks.ts';
import { type ServedPage, servePage } from '../rooms/page/page-server.ts';
import { userIdentity } from '../rooms/page/seats.ts';
import { handleConsoleCall } from './console-calls.ts';
import type { ConsoleInfo, ConsoleTarget } from './console-target.ts';
import { forwardToService } from './forward-to-service.ts';

type ConsoleRequest = {
  readonly client: RtcClient;
  readonly credentials: Credentials;
  readonly info: Omit<ConsoleInfo, 'version'>;
  /** Checks that precede those of the service, such as that of the settings. */
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
    openRoom: (room) => rooms.linkOf(room),
  };
  const { origin, close } = await startConsoleServer({ target, session, files, port: request.port });
  return {
    origin,
    link: session.linkOf(origin),
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

  async linkOf(room: string): Promise<string> {
    const page = this.#pages.get(room) ?? this.#serve(room);
    this.#pages.set(room, page);
    try {
      return (await page).link;
    } catch (error) {
      this.#pages.delete(room);
      throw error;
    }
  }

  #serve(room: string): Promise<ServedPage> {
    const { io } = this.#context;
    const identity = userIdentity(io.env);
    return servePage(io, {
      client: this.#client,
      room,
      person: { identity, name: identity, role: 'host' },
      port: 0,
      publicUrl: undefined,
    });
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
 *   Host            one of ours, so that no name can be bound to this machine (DNS rebinding)
 *   files           public, because they contain no secret
 *   own page only   requests of other pages are rejected, also those of another port of this machine, which browsers
 *                   take for the same site: Sec-Fetch-Site must be same-origin if the browser sends it, and Origin must
 *                   be ours for every change
 *   the cookie      of the browser that opened the link
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
  const origins = loopbackOrigins(origin);
  if (!origins.some((own) => new URL(own).host === headers.host)) {
    return problem(421, 'The console is not served under that host name.');
  }
  const isRead = method === 'GET' || method === 'HEAD';
  const isFile = !path.startsWith('/api/') && !path.startsWith('/console/');
  if (isFile) {
    return isRead ? pageFile(settings.files, path) : problem(405, 'This method is not served here.');
  }
  const refusal = refuseOtherPages(request, origins);
  if (refusal !== undefined) return refusal;
  const body = isRead ? '' : await readText(request, MAX_BODY_BYTES);
  if (body === undefined) return problem(413, 'The body is larger than 4 MiB.');
  if (path === '/console/session' && !isRead) return openSession(settings, origin, body);
  if (!settings.session.isOpenedBy(headers.cookie, origin)) {
    return problem(401, 'This page was not opened by the link of this console.', {
      text: 'open the link that rtc console printed',
    });
  }
  const call = { method, url, body, range: headers.range, signal };
  return path.startsWith('/api/')
    ? await forwardToService(settings.target, call)
    : await handleConsoleCall(settings.target, call);
}

function refuseOtherPages(
  { method, headers }: IncomingMessage,
  origins: readonly string[],
): PageResponse | undefined {
  const { origin, 'sec-fetch-site': site } = headers;
  const isRead = method === 'GET' || method === 'HEAD';
  const isOwnOrigin = origin === undefined ? isRead : origins.includes(origin);
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

/** Opens the session and returns the same as GET /console/info, so that the page can start. */
function openSession({ session, target }: ConsoleServerSettings, origin: string, body: string): PageResponse {
  const cookie = body.length > MAX_CODE_BYTES ? undefined : session.redeem(codeOf(body), origin);
  if (cookie === undefined) {
    return problem(403, 'This link is from another run of rtc console.', {
      text: 'open the link that rtc console printed last',
    });
  }
  const info = jsonResponse(200, target.info);
  return { ...info, headers: { ...info.headers, 'set-cookie': cookie } };
}

function codeOf(body: string): string {
  try {
    const value: unknown = JSON.parse(body);
    const isObject = typeof value === 'object' && value !== null && 'code' in value;
    return isObject && typeof value.code === 'string' ? value.code : '';
  } catch {
    return '';
  }
}

/**
 * Access to the console. The printed link has a code in its fragment, which no browser sends to a server. The page exchanges
 * the code for a cookie that no script can read and no other site can send. Both are random, and end with the command.
 */
export class ConsoleSession {
  readonly #code = randomBytes(24).toString('base64url');
  readonly #token = randomBytes(24).toString('base64url');

  /** Returns the link for a browser on this machine. */
  linkOf(origin: string): string {
    return `${origin}/#code=${this.#code}`;
  }

  /** Returns the Set-Cookie header for the right code; undefined for any other text. */
  redeem(code: string, origin: string): string | undefined {
    if (!isEqual(code, this.#code)) return undefined;
    return `${cookieName(origin)}=${this.#token}; Path=/; HttpOnly; SameSite=Strict`;
  }

  /** Whether the Cookie header of a request is that of this console. */
  isOpenedBy(cookies: string | undefined, origin: string): boolean {
    const prefix = `${cookieName(origin)}=`;
    const values = (cookies ?? '').split(/; */).filter((pair) => pair.startsWith(prefix));
    return values.some((pair) => isEqual(pair.slice(prefix.length), this.#token));
  }
}

/** Cookies do not distinguish ports, so two consoles at once need two names. */
function cookieName(origin: string): string {
  return `rtc-console-${new URL(origin).port}`;
}

/** Compares in constant time. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
