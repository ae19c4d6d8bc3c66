import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createWholeBodyServer } from '../../support/whole-body-server.ts';

export type Received = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};

export type TestHttpServer = {
  readonly url: string;
  readonly received: readonly Received[];
  close(): Promise<void>;
};

/** Starts a real HTTP server that records its requests and responds as the test says. */
export async function startHttpServer(
  handle: (request: Received, response: ServerResponse, count: number) => void,
): Promise<TestHttpServer> {
  const received: Received[] = [];
  const server = createWholeBodyServer((request, response, body) => {
    const kept = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
    received.push(kept);
    handle(kept, response, received.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function json(response: ServerResponse, status: number, body: unknown, headers: object = {}): void {
  const type = status < 400 ? 'application/json; charset=utf-8' : 'application/problem+json';
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(JSON.stringify(body));
}

export function problem(response: ServerResponse, status: number, code: string, more: object = {}): void {
  const { headers, ...members } = more as { headers?: object };
  json(
    response,
    status,
    { type: `urn:problem-type:rtc:${code}`, title: 'Title', status, detail: `detail of ${code}`, ...members },
    { 'x-request-id': 'request-1', ...headers },
  );
}
