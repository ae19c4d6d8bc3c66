import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { check, decode, findPlace, generate, regions } from '../../src/fiscal/index.ts';
import { json, startHttpServer, type TestHttpServer } from '../cli/support/http-server.ts';
import { runtimeProgram } from '../support/parts/runtimes.ts';
import { signatureHeaders } from '../support/sign.ts';
import { type PackedPackage, packPackage, runFile } from './support/packed.ts';

const NOW_MS = 1_767_225_600_000;
const KEY = { apiKey: 'key', apiSecret: 'secret' };
const FILE = 'x'.repeat(200_000);

let fiscal: PackedPackage;
let client: PackedPackage;
let server: TestHttpServer;
beforeAll(async () => {
  [fiscal, client] = await Promise.all([packPackage('fiscal'), packPackage('client')]);
  server = await startHttpServer(({ url }, response) => {
    if (url.endsWith('/download')) response.writeHead(302, { location: `${server.url}/file` }).end();
    else if (url === '/file') response.end(FILE);
    else if (url.endsWith('/silent')) response.socket?.unref();
    else json(response, 200, { rooms: [{ name: 'a' }] });
  });
});
afterAll(async () => {
  await server.close();
  await fiscal.close();
  await client.close();
});

const DENO_RUN = ['run', '--quiet', '--allow-net', '--allow-env', '--allow-read'];

async function runIn(name: 'bun' | 'deno' | 'node18' | 'node20', file: string): Promise<unknown> {
  // Deno looks into node_modules only beside a package.json.
  await writeFile(join(file, '..', 'package.json'), '{}');
  const args = name === 'deno' ? [...DENO_RUN, file] : [file];
  const { stdout } = await runFile(await runtimeProgram(name), args, { cwd: join(file, '..') });
  return JSON.parse(stdout);
}

describe('@rtc-service/fiscal', () => {
  const asOf = '2026-01-31';
  const person = {
    surname: 'Rossi',
    givenName: 'Mario',
    sex: 'M',
    birthDate: '1985-12-10',
    birthplace: 'San Giuliano Terme',
  } as const;

  it.each(['node18', 'node20', 'bun', 'deno'] as const)('returns in %s the same as here', async (name) => {
    const file = join(await fiscal.install(name), 'main.mjs');
    await writeFile(
      file,
      `import { check, decode, findPlace, generate, regions } from '@rtc-service/fiscal';
       const [asOf, person] = ${JSON.stringify([asOf, person])};
       const code = 'RSSMRA85T10A562S';
       console.log(JSON.stringify([check(code, { asOf }), check('X', { asOf }), decode(code, { asOf }),
         generate(person, { asOf }), findPlace('Reggio Emilia'), regions()]));`,
    );
    const code = 'RSSMRA85T10A562S';
    const expected = [
      ...[check(code, { asOf }), check('X', { asOf }), decode(code, { asOf })],
      ...[generate(person, { asOf }), findPlace('Reggio Emilia'), regions()],
    ];
    expect(await runIn(name, file)).toEqual(JSON.parse(JSON.stringify(expected)));
  });
});

describe('@rtc-service/client', () => {
  it.each(['node20', 'bun', 'deno'] as const)(
    'signs, follows a download, times out and names a refused connection in %s',
    async (name) => {
      const file = join(await client.install(name), 'main.mjs');
      const closed = await startHttpServer(() => undefined);
      await closed.close();
      await writeFile(
        file,
        `import { RtcClient } from '@rtc-service/client';
         const options = { url: '${server.url}', ...${JSON.stringify(KEY)}, clock: () => ${NOW_MS} };
         const codeOf = (call) => call.then(() => 'none', (error) => error.code);
         const client = new RtcClient(options);
         const { rooms } = await client.rooms.list({ cursor: "it's" });
         const { body } = await client.recordings.download('EG_1');
         let bytes = 0;
         for await (const part of body) bytes += part.length;
         const hasty = new RtcClient({ ...options, timeoutMs: 300 });
         const absent = new RtcClient({ ...options, url: '${closed.url}', maxAttempts: 1 });
         const codes = [await codeOf(hasty.rooms.get('silent')), await codeOf(absent.rooms.list())];
         await client.close();
         codes.push(await codeOf(client.rooms.list()));
         console.log(JSON.stringify({ rooms, bytes, codes }));
         process.exit(0);`,
      );
      expect(await runIn(name, file)).toEqual({
        rooms: [{ name: 'a' }],
        bytes: FILE.length,
        codes: ['timed-out', 'unreachable', 'aborted'],
      });
      const listed = server.received.filter(({ url }) => url.startsWith('/v1/rooms?')).at(-1);
      const signed = signatureHeaders(
        { method: 'GET', path: listed?.url ?? '' },
        { ...KEY, timestamp: NOW_MS / 1000 },
      );
      expect(listed?.headers['x-service-signature']).toBe(signed['X-Service-Signature']);
    },
  );
});
