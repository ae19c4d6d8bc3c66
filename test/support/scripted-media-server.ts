import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A script that responds immediately until `hold`. Held requests get their responses at `release`. */
export function holdable(): { readonly script: Script; hold(): void; held(): Promise<void>; letGo(): void } {
  let exchanges: Parameters<Script>[] | undefined;
  let wake = () => {};
  return {
    script: (...exchange) => {
      if (exchanges === undefined) respondEmpty(...exchange);
      exchanges?.push(exchange);
      wake();
    },
    hold: () => {
      exchanges = [];
    },
    held: async () => {
      while (exchanges?.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    letGo: () => {
      const kept = exchanges ?? [];
      exchanges = undefined;
      for (const exchange of kept) respondEmpty(...exchange);
    },
  };
}

/** A server in place of LiveKit that responds as the test says. */
export type ScriptedMediaServer = {
  /** The settings of the service. Any key works. */
  readonly livekit: { readonly url: string; readonly apiKey: string; readonly apiSecret: string };
  /** The called Twirp methods, such as ListRooms. */
  readonly calls: readonly string[];
  /** Resolves when there were `count` calls. */
  called(count: number): Promise<void>;
  close(): void;
};

export type Script = (request: IncomingMessage, response: ServerResponse) => void;

/** An empty message, which is a valid response of every method. */
export const respondEmpty: Script = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
};

export const neverRespond: Script = () => {};

export function respondTwirp(status: number, code: string, msg: string): Script {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ code, msg }));
  };
}

export async function startScriptedMediaServer(script: Script): Promise<ScriptedMediaServer> {
  const calls: string[] = [];
  let wake = () => {};
  const server = createServer((request, response) => {
    calls.push(request.url?.split('/').at(-1) ?? '');
    wake();
    script(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    livekit: {
      url: `ws://127.0.0.1:${port}`,
      apiKey: 'media-key',
      apiSecret: 'media-secret-of-32-characters-00',
    },
    calls,
    called: async (count) => {
      while (calls.length < count) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
