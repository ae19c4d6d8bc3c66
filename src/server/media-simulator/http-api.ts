import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { controlResponse, type EmbeddedControl } from './control.ts';
import type { SimulatorContext } from './settings.ts';
import {
  InvalidTokenError,
  type Keys,
  readAccess,
  TwirpError,
  type TwirpFormat,
  type TwirpService,
} from './twirp.ts';

const NO_MEDIA =
  'This is the embedded media server of rtc-service: it carries no sound and no pictures, so nobody can connect. ' +
  'Start a real LiveKit server (rtc dev --media livekit) to talk.\n';

export type HttpApi = {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Rejects a WebSocket. */
  readonly refuseUpgrade: (socket: Duplex) => void;
};

export type HttpApiParts = {
  readonly keys: Keys;
  readonly services: Readonly<Record<string, TwirpService>>;
  readonly control: EmbeddedControl;
};

type Response = { readonly status: number; readonly type: string; readonly body: string | Buffer };

/** Maximum body. Metadata may have 512 KiB, and JSON escapes take up to six times as much. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Serves LiveKit's paths, and /embedded. */
export function createHttpApi(context: SimulatorContext, parts: HttpApiParts): HttpApi {
  const route = async (request: IncomingMessage): Promise<Response> => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    if (path === '/') return text(200, 'OK');
    if (path === '/rtc' || path.startsWith('/rtc/')) return text(501, NO_MEDIA);
    const body = await readBody(request);
    if (body === undefined) return text(413, 'the body is too large');
    if (path.startsWith('/twirp/')) return handleTwirp(parts, { request, path, body });
    if (path.startsWith('/embedded/') && request.method === 'POST') {
      const access = readAccess(request.headers.authorization, parts.keys);
      const action = path.slice('/embedded/'.length);
      return { type: JSON_TYPE, ...controlResponse(parts.control, { action, access, body }) };
    }
    return text(404, '404 page not found\n');
  };

  return {
    handle: (request, response) => {
      withApiFault(context, { request, response }, () => route(request).catch(toResponse(context)));
    },
    refuseUpgrade: (socket) => {
      // The client may have disconnected already.
      socket.on('error', () => socket.destroy());
      socket.end(
        'HTTP/1.1 501 Not Implemented\r\nContent-Type: text/plain; charset=utf-8\r\n' +
          `Content-Length: ${Buffer.byteLength(NO_MEDIA)}\r\nConnection: close\r\n\r\n${NO_MEDIA}`,
      );
    },
  };
}

const JSON_TYPE = 'application/json';

function text(status: number, body: string): Response {
  return { status, type: 'text/plain; charset=utf-8', body };
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return size > MAX_BODY_BYTES ? undefined : Buffer.concat(chunks);
}

type TwirpRequest = { readonly request: IncomingMessage; readonly path: string; readonly body: Buffer };

async function handleTwirp(
  { keys, services }: HttpApiParts,
  { request, path, body }: TwirpRequest,
): Promise<Response> {
  const access = readAccess(request.headers.authorization, keys);
  const method = findMethod(services, path);
  const badRoute = (message: string) =>
    new TwirpError('bad_route', message, { twirp_invalid_route: `${request.method} ${path}` });
  if (request.method !== 'POST') {
    throw badRoute(`unsupported method ${JSON.stringify(request.method)} (only POST is allowed)`);
  }
  if (method === undefined) throw badRoute(`no handler for path ${JSON.stringify(path)}`);
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const format = FORMATS[type];
  if (format === undefined) throw badRoute(`unexpected Content-Type: ${JSON.stringify(type)}`);
  return { status: 200, type, body: await method(body, format, access) };
}

const FORMATS: Readonly<Record<string, TwirpFormat>> = {
  'application/json': 'json',
  'application/protobuf': 'protobuf',
};

function findMethod(services: HttpApiParts['services'], path: string) {
  const match = /^\/twirp\/(livekit\.\w+)\/(\w+)$/.exec(path);
  const [, service = '', method = ''] = match ?? [];
  const methods = Object.hasOwn(services, service) ? services[service] : undefined;
  return methods !== undefined && Object.hasOwn(methods, method) ? methods[method] : undefined;
}

function toResponse({ log, closing }: SimulatorContext): (error: unknown) => Response {
  return (error) => {
    if (error instanceof InvalidTokenError) return text(401, error.message);
    if (error instanceof TwirpError) return { status: error.status, type: JSON_TYPE, body: error.toJson() };
    if (!closing.aborted) {
      const reason = error instanceof Error ? error.message : String(error);
      log?.error({ reason }, 'embedded media server failed');
    }
    return {
      status: 500,
      type: JSON_TYPE,
      body: new TwirpError('internal', 'Internal service panic').toJson(),
    };
  };
}

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

/** Applies the simulated fault of the API to Twirp calls; /embedded and the other paths keep working. */
function withApiFault(
  { faults }: SimulatorContext,
  { request, response }: Exchange,
  work: () => Promise<Response>,
): void {
  if (faults().api === 'closing' && request.url?.startsWith('/twirp/')) {
    request.socket.destroy();
    return;
  }
  work()
    .then(({ status, type, body }) => {
      if (!response.destroyed) response.writeHead(status, { 'content-type': type }).end(body);
    })
    .catch(() => response.destroy());
}
