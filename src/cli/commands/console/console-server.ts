import type { IncomingMessage } from 'node:http';
import {
  fileResponse,
  type LoopbackServer,
  loopbackOrigins,
  readText,
  startLoopbackServer,
} from '../../pages/loopback-server.ts';
import type { PageFile } from '../../pages/page-files.ts';
import { pageHeaders } from '../../pages/page-headers.ts';
import { jsonResponse, type PageResponse, problem } from '../../pages/page-response.ts';
import { handleConsoleCall } from './console-calls.ts';
import type { ConsoleSession } from './console-session.ts';
import type { ConsoleTarget } from './console-target.ts';
import { forwardToService } from './forward-to-service.ts';

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

export type ConsoleServerSettings = {
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
