import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Keys, RefusedToken, readAccess } from './access.ts';
import type { EmbeddedControl } from './control.ts';
import { answerControl } from './control-routes.ts';
import type { World } from './settings.ts';
import type { TwirpFormat, TwirpService } from './twirp.ts';
import { TwirpFailure } from './twirp-error.ts';

const NO_MEDIA =
  'This is the embedded media server of rtc-service: it carries no sound and no pictures, so nobody can connect. ' +
  'Start a real LiveKit server (rtc dev --media livekit) to talk.\n';

export type HttpApi = {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** A WebSocket that someone wants to open. */
  readonly refuseUpgrade: (socket: Duplex) => void;
};

export type HttpApiParts = {
  readonly keys: Keys;
  readonly services: Readonly<Record<string, TwirpService>>;
  readonly control: EmbeddedControl;
};

type Answer = { readonly status: number; readonly type: string; readonly body: string | Buffer };

/** Metadata may have 512 KiB, and escaped six times as much in JSON. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** LiveKit's paths, and /embedded beside them. */
export function createHttpApi(world: World, parts: HttpApiParts): HttpApi {
  const route = async (request: IncomingMessage): Promise<Answer> => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    if (path === '/') return text(200, 'OK');
    if (path === '/rtc' || path.startsWith('/rtc/')) return text(501, NO_MEDIA);
    const body = await readBody(request);
    if (body === undefined) return text(413, 'the body is too large');
    if (path.startsWith('/twirp/')) return answerTwirp(parts, request, path, body);
    if (path.startsWith('/embedded/') && request.method === 'POST') {
      const access = readAccess(request.headers.authorization, parts.keys);
      const action = path.slice('/embedded/'.length);
      return { type: JSON_TYPE, ...answerControl(parts.control, { action, access, body }) };
    }
    return text(404, '404 page not found\n');
  };

  return {
    handle: (request, response) => {
      withApiFault(world, request, response, () => route(request).catch(toAnswer(world)));
    },
    refuseUpgrade: (socket) => {
      // Whoever hung up already needs no answer.
      socket.on('error', () => socket.destroy());
      socket.end(
        'HTTP/1.1 501 Not Implemented\r\nContent-Type: text/plain; charset=utf-8\r\n' +
          `Content-Length: ${Buffer.byteLength(NO_MEDIA)}\r\nConnection: close\r\n\r\n${NO_MEDIA}`,
      );
    },
  };
}

const JSON_TYPE = 'application/json';

function text(status: number, body: string): Answer {
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

async function answerTwirp(
  { keys, services }: HttpApiParts,
  request: IncomingMessage,
  path: string,
  body: Buffer,
): Promise<Answer> {
  const access = readAccess(request.headers.authorization, keys);
  const method = findMethod(services, path);
  const badRoute = (message: string) =>
    new TwirpFailure('bad_route', message, { twirp_invalid_route: `${request.method} ${path}` });
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

function toAnswer({ log, closing }: World): (error: unknown) => Answer {
  return (error) => {
    if (error instanceof RefusedToken) return text(401, error.message);
    if (error instanceof TwirpFailure) return { status: error.status, type: JSON_TYPE, body: error.toJson() };
    if (!closing.aborted) {
      const reason = error instanceof Error ? error.message : String(error);
      log?.error({ reason }, 'embedded media server failed');
    }
    return {
      status: 500,
      type: JSON_TYPE,
      body: new TwirpFailure('internal', 'Internal service panic').toJson(),
    };
  };
}

/** Answers the API's calls badly when told to; /embedded and the rest stay well. */
function withApiFault(
  { clock, closing, faults, timings }: World,
  request: IncomingMessage,
  response: ServerResponse,
  work: () => Promise<Answer>,
): void {
  const send = async (answer: Promise<Answer>) => {
    const { status, type, body } = await answer;
    if (!response.destroyed) response.writeHead(status, { 'content-type': type }).end(body);
  };
  const fault = request.url?.startsWith('/twirp/') ? faults().api : 'answering';
  if (fault === 'hanging') return;
  if (fault === 'closing') {
    request.socket.destroy();
    return;
  }
  if (fault === 'garbage') {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>It works</title>');
    return;
  }
  const late = fault === 'slow' ? clock.sleep(timings.slowAnswerMs, closing) : Promise.resolve();
  late.then(() => send(work())).catch(() => response.destroy());
}
