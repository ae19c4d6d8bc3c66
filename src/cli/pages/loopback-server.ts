import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { isObject, parseJson } from '../../contract/unknown-value.ts';
import { CliError, EXIT } from '../errors/cli-error.ts';
import { type PageFile, type PageResponse, problem } from './page-response.ts';

export type LoopbackServer = {
  /** The page's origin on this machine, such as http://127.0.0.1:41000. */
  readonly origin: string;
  readonly close: () => Promise<void>;
};

export type LoopbackSettings = {
  /** 0 selects a free port. */
  readonly port: number;
  /** Headers of every response. */
  readonly headers: Readonly<Record<string, string>>;
  /** `origin` is the server's own; the signal is aborted when the browser disconnects. */
  readonly respond: (request: IncomingMessage, origin: string, signal: AbortSignal) => Promise<PageResponse>;
};

/** Starts an HTTP server on 127.0.0.1. */
export async function startLoopbackServer(settings: LoopbackSettings): Promise<LoopbackServer> {
  const { headers, respond } = settings;
  let origin = '';
  const server = createServer((request, response) => {
    const disconnected = new AbortController();
    response.once('close', () => disconnected.abort());
    respond(request, origin, disconnected.signal)
      .then((pageResponse) =>
        write(response, { ...pageResponse, headers: { ...headers, ...pageResponse.headers } }),
      )
      .catch(() => response.destroy());
  });
  server.requestTimeout = 10_000;
  await listen(server, settings.port);
  const { port } = server.address() as AddressInfo;
  origin = `http://127.0.0.1:${port}`;
  return { origin, close: () => close(server) };
}

export function fileResponse(file: PageFile | undefined): PageResponse {
  if (file === undefined) return problem(404, 'There is no such file.');
  return {
    status: 200,
    body: file.body,
    headers: { 'content-type': file.contentType, 'cache-control': file.cacheControl },
  };
}

/** Reads a JSON object of at most `maxBytes`; undefined for anything else. */
export async function readJson(
  request: IncomingMessage,
  maxBytes: number,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = await readText(request, maxBytes);
  const value = parseJson(text ?? '');
  return isObject(value) ? value : undefined;
}

/** Returns undefined for a body of more than `maxBytes`. */
export async function readText(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes: Buffer = chunk;
    size += bytes.length;
    if (size > maxBytes) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function write(response: ServerResponse, { status, body, headers }: PageResponse): Promise<void> {
  response.writeHead(status, headers);
  if (response.req.method === 'HEAD' || body === undefined) {
    response.end();
  } else if (typeof body === 'string' || Buffer.isBuffer(body)) {
    response.end(body);
  } else {
    await pipeline(body, response);
  }
}

async function listen(server: Server, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, '127.0.0.1', resolve);
  await promise.catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code ?? cause.message;
    throw new CliError(EXIT.failure, `port ${port} of 127.0.0.1 cannot be used: ${reason}`, {
      next: 'choose another with --port, or leave it out',
      cause,
    });
  });
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}
