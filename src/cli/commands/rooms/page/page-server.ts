import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RtcError } from '../../../../client/rtc-error.ts';
import { type PageActionDeps, runPageAction } from './page-actions.ts';
import type { PageFile } from './page-files.ts';
import { pageHeaders } from './page-headers.ts';
import { type PageResponse, problem } from './page-response.ts';

/*
 * Serves one room's page on 127.0.0.1. Other web pages and other names that resolve to this machine (DNS rebinding) get
 * nothing: Host must be one of ours, a POST must come from our own origin, and every action needs a token that was
 * issued here. Access tokens travel in the fragment of the address and in a header, so they reach no log.
 */

export type PageServerSettings = PageActionDeps & {
  readonly files: ReadonlyMap<string, PageFile>;
  /** WebSocket URL of the media server, which the page may connect to. */
  readonly mediaUrl: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** The address under which a proxy serves the page to others. */
  readonly publicUrl: URL | undefined;
};

export type PageServer = {
  /** Where the page is on this machine, such as http://127.0.0.1:41000. */
  readonly origin: string;
  readonly close: () => Promise<void>;
};

const MAX_BODY_BYTES = 16 * 1024;

export async function startPageServer(settings: PageServerSettings): Promise<PageServer> {
  const headers = pageHeaders(settings.mediaUrl);
  const origins = new Set<string>(settings.publicUrl === undefined ? [] : [settings.publicUrl.origin]);
  const server = createServer((request, response) => {
    respond(settings, origins, request).then(
      (answer) => write(response, { ...answer, headers: { ...headers, ...answer.headers } }),
      () => response.destroy(),
    );
  });
  server.requestTimeout = 10_000;
  await listen(server, settings.port);
  const { port } = server.address() as AddressInfo;
  origins.add(`http://127.0.0.1:${port}`).add(`http://localhost:${port}`);
  return { origin: `http://127.0.0.1:${port}`, close: () => close(server) };
}

async function respond(
  settings: PageServerSettings,
  origins: ReadonlySet<string>,
  request: IncomingMessage,
): Promise<PageResponse> {
  const { method = 'GET', headers } = request;
  const [path = '/'] = (request.url ?? '/').split('?');
  const hosts = new Set([...origins].map((origin) => new URL(origin).host));
  if (!hosts.has(headers.host ?? '')) return problem(421, 'This page is not served under that host name.');
  if (method === 'GET' || method === 'HEAD') return fileResponse(settings, path);
  if (method !== 'POST' || !path.startsWith('/api/')) return problem(405, 'This method is not served here.');
  if (!origins.has(headers.origin ?? '')) return problem(403, 'Only the page itself may do this.');
  if (headers['content-type'] !== 'application/json') return problem(415, 'Send application/json.');
  const body = await readJson(request);
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

function fileResponse({ files }: PageServerSettings, path: string): PageResponse {
  const file = files.get(path);
  if (file === undefined) return problem(404, 'There is no such file.');
  return {
    status: 200,
    body: file.body,
    headers: { 'content-type': file.contentType, 'cache-control': file.cacheControl },
  };
}

async function readJson(request: IncomingMessage): Promise<Readonly<Record<string, unknown>> | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes: Buffer = chunk;
    size += bytes.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(bytes);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function write(response: ServerResponse, { status, body, headers }: PageResponse): void {
  response.writeHead(status, headers);
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

async function listen(server: Server, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, '127.0.0.1', resolve);
  await promise;
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}
