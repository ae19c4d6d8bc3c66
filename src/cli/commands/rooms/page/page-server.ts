import type { IncomingMessage } from 'node:http';
import { RtcError } from '../../../../client/rtc-error.ts';
import {
  fileResponse,
  type LoopbackServer,
  loopbackOrigins,
  readJson,
  startLoopbackServer,
} from '../../../pages/loopback-server.ts';
import type { PageFile } from '../../../pages/page-files.ts';
import { pageHeaders } from '../../../pages/page-headers.ts';
import { type PageResponse, problem } from '../../../pages/page-response.ts';
import { type PageActionDeps, runPageAction } from './page-actions.ts';

/*
 * Serves one room's page on 127.0.0.1. Other web pages and other names that resolve to this machine (DNS rebinding) have no
 * access: Host must be one of ours, a POST must come from our own origin, and every action needs a token that was issued
 * here. Access tokens are sent in the fragment of the address and in a header, so that they are in no log.
 */

export type PageServerSettings = PageActionDeps & {
  readonly files: ReadonlyMap<string, PageFile>;
  /** WebSocket URL of the media server, which the page may connect to. */
  readonly mediaUrl: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** The address under which a proxy serves the page to others. */
  readonly publicUrl: URL | undefined;
};

export type PageServer = LoopbackServer;

const MAX_BODY_BYTES = 16 * 1024;

export async function startPageServer(settings: PageServerSettings): Promise<PageServer> {
  const { port, mediaUrl, publicUrl } = settings;
  const others = publicUrl === undefined ? [] : [publicUrl.origin];
  return await startLoopbackServer({
    port,
    headers: pageHeaders({
      connect: mediaOrigins(mediaUrl),
      permissions: 'camera=(self), microphone=(self), display-capture=(self)',
    }),
    respond: (request, origin) => respond(settings, [...loopbackOrigins(origin), ...others], request),
  });
}

function mediaOrigins(mediaUrl: string): readonly string[] {
  const { protocol, host } = new URL(mediaUrl);
  return protocol === 'wss:' ? [`wss://${host}`, `https://${host}`] : [`ws://${host}`, `http://${host}`];
}

async function respond(
  settings: PageServerSettings,
  origins: readonly string[],
  request: IncomingMessage,
): Promise<PageResponse> {
  const { method = 'GET', headers } = request;
  const [path = '/'] = (request.url ?? '/').split('?');
  const hosts = origins.map((origin) => new URL(origin).host);
  if (!hosts.includes(headers.host ?? '')) {
    return problem(421, 'This page is not served under that host name.');
  }
  if (method === 'GET' || method === 'HEAD') return fileResponse(settings.files.get(path));
  if (method !== 'POST' || !path.startsWith('/api/')) return problem(405, 'This method is not served here.');
  if (!origins.includes(headers.origin ?? '')) return problem(403, 'Only the page itself may do this.');
  if (headers['content-type'] !== 'application/json') return problem(415, 'Send application/json.');
  const body = await readJson(request, MAX_BODY_BYTES);
  if (body === undefined) return problem(400, 'The body is not a JSON object of at most 16 KiB.');
  try {
    return await runPageAction(settings, {
      action: path.slice('/api/'.length),
      token: /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1],
      body,
    });
  } catch (error) {
    if (!(error instanceof RtcError)) throw error;
    return problem(error.status ?? 502, error.detail);
  }
}
