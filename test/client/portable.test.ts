import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { rolldown } from 'rolldown';
import { beforeAll, describe, expect, it } from 'vitest';
import { json, startHttpServer } from '../cli/support/http-server.ts';
import { signatureHeaders } from '../support/sign.ts';

/** The globals that "fetch and WebCrypto" refers to. Every runtime has them, and none belongs to Node. */
const WEB_GLOBALS = [
  'AbortController',
  'AbortSignal',
  'DOMException',
  'TextDecoder',
  'TextEncoder',
  'URL',
  'clearTimeout',
  'crypto',
  'fetch',
  'performance',
  'setTimeout',
] as const;

let bundled: string;
const imports: string[] = [];

beforeAll(async () => {
  const bundle = await rolldown({
    input: fileURLToPath(new URL('../../src/client/index.ts', import.meta.url)),
    platform: 'neutral',
    external: (id) => {
      const isPackage = /^(?![./])/.test(id);
      if (isPackage) imports.push(id);
      return isPackage;
    },
  });
  const { output } = await bundle.generate({ format: 'iife', name: 'rtc' });
  await bundle.close();
  bundled = output[0].code;
});

describe('the bundled client', () => {
  it('imports nothing', () => {
    expect(imports).toEqual([]);
  });

  it('signs and sends requests with only the globals of the web', async () => {
    const server = await startHttpServer((_request, response) =>
      json(response, 200, { rooms: [{ name: 'è' }] }),
    );
    const globals = Object.fromEntries(WEB_GLOBALS.map((name) => [name, globalThis[name]]));
    const realm = createContext(globals);
    expect(runInContext('[typeof process, typeof Buffer, typeof require].join()', realm)).toBe(
      'undefined,undefined,undefined',
    );
    runInContext(bundled, realm);
    const script = `(async () => {
      const client = new rtc.RtcClient({ url: '${server.url}', apiKey: 'k', apiSecret: 's', clock: () => 5000 });
      const { rooms } = await client.rooms.list();
      await client.close();
      return rooms[0].name;
    })()`;
    expect(await runInContext(script, realm)).toBe('è');
    const signed = signatureHeaders(
      { method: 'GET', path: '/v1/rooms' },
      { apiKey: 'k', apiSecret: 's', timestamp: 5 },
    );
    expect(server.received[0]?.headers['x-service-signature']).toBe(signed['X-Service-Signature']);
    await server.close();
  });
});
