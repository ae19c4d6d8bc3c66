import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { request } from 'undici';
import type { Cleaning } from '../experiment.ts';
import { listen } from './listen.ts';

export type PassedRequest = {
  readonly path: string;
  readonly body: Buffer<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
};

export type PassedAnswer = {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** Starts a server between two others; returns its URL. A request that cannot be passed on gets 503. */
export async function startPassingServer(
  { cleanUp }: Cleaning,
  handle: (request: PassedRequest) => Promise<PassedAnswer>,
): Promise<string> {
  const server = createServer(async (incoming, response) => {
    const body = Buffer.from(await buffer(incoming));
    const { authorization = '', 'content-type': type = '' } = incoming.headers;
    const passed = { path: incoming.url ?? '/', body, headers: { authorization, 'content-type': type } };
    const {
      status,
      type: answered,
      body: content,
      headers = {},
    } = await handle(passed).catch(() => UNANSWERED);
    response.writeHead(status, { 'content-type': answered, ...headers }).end(content);
  });
  return `http://127.0.0.1:${cleanUp(await listen(server)).port}`;
}

const UNANSWERED: PassedAnswer = { status: 503, type: '', body: Buffer.alloc(0) };

/** Passes a request on to the server at `base`. */
export async function passTo(base: string, { path, body, headers }: PassedRequest): Promise<PassedAnswer> {
  const answer = await request(`${base}${path}`, { method: 'POST', body, headers });
  const { 'content-type': type = '' } = answer.headers;
  return { status: answer.statusCode, type: `${type}`, body: Buffer.from(await answer.body.arrayBuffer()) };
}

/** Passes webhooks of the media server on to these in turn, which may change. */
export function passInTurn(
  receivers: readonly { readonly url: string }[],
): (request: PassedRequest) => Promise<PassedAnswer> {
  let turn = 0;
  return async (request) => {
    turn += 1;
    return await passTo(receivers[turn % receivers.length]?.url ?? '', request);
  };
}
