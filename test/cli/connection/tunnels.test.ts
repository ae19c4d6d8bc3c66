import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readPort } from '../../support/forwarding-server.ts';
import { freePort } from '../../support/parts/run-part.ts';
import { json, startHttpServer } from '../support/http-server.ts';
import { type Ended, rtcProcess } from '../support/process.ts';
import { startTunnelProxy, type TunnelProxy } from '../support/tunnel-proxy.ts';

const CERTIFICATES = `${import.meta.dirname}/../../server/webhooks/sender/certificates`;
const ENVIRONMENT = {
  RTC_API_KEY: 'key',
  RTC_API_SECRET: 'secret',
  NODE_EXTRA_CA_CERTS: `${CERTIFICATES}/authority.pem`,
  // Otherwise requests to localhost would use no proxy.
  NO_PROXY: 'example.org',
};

let proxy: TunnelProxy;
/** Responds with a list of rooms, or with the bytes of a file. */
let server: Server;
let url: string;
beforeAll(async () => {
  const read = (file: string): string => readFileSync(`${CERTIFICATES}/${file}`, 'utf8');
  server = createServer({ key: read('server.key'), cert: read('valid.pem') }, (request, response) => {
    if (request.url === '/file?signature=s') response.end('bytes');
    else json(response, 200, { rooms: [] });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `https://localhost:${readPort(server)}`;
  proxy = await startTunnelProxy();
});
afterAll(async () => {
  await proxy.close();
  server.closeAllConnections();
  server.close();
});

let earlier = 0;
beforeEach(() => {
  earlier = proxy.connects.length;
  proxy.behave('connect');
});

const connects = () => proxy.connects.slice(earlier);

function listRooms(env: Readonly<Record<string, string>>, argv: readonly string[] = []): Promise<Ended> {
  return rtcProcess(['rooms', 'list', ...argv], { env: { ...ENVIRONMENT, RTC_URL: url, ...env } });
}

/** The address of the proxy with a user and a password. */
const proxyUrl = (port: number): string => `http://ada:secret-of-ada@127.0.0.1:${port}`;

describe('HTTPS_PROXY', () => {
  it('is asked for a tunnel to the service, with the user and the password of its address', async () => {
    const { code, stderr } = await listRooms({ HTTPS_PROXY: proxyUrl(proxy.port) }, ['--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const authorization = `Basic ${Buffer.from('ada:secret-of-ada').toString('base64')}`;
    expect(connects()).toEqual([{ target: new URL(url).host, authorization }]);
  });

  it('is not used for the names of NO_PROXY', async () => {
    const env = { HTTPS_PROXY: proxyUrl(proxy.port), NO_PROXY: 'localhost' };
    expect((await listRooms(env)).code).toBe(0);
    expect(connects()).toEqual([]);
  });

  it('is asked for a tunnel to a bucket that a service without TLS names', async () => {
    const location = `${url}/file?signature=s`;
    const service = await startHttpServer((_request, response) => json(response, 302, {}, { location }));
    const env = { ...ENVIRONMENT, RTC_URL: service.url, HTTPS_PROXY: proxyUrl(proxy.port) };
    const { code, stdout } = await rtcProcess(['recordings', 'download', 'EG_1', '-'], { env });
    await service.close();
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'bytes' });
    expect(connects().map(({ target }) => target)).toEqual([new URL(url).host]);
  });

  it.each([
    ['demands a user and a password (407)', 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'],
    ['responded with 502', 'HTTP/1.1 502 Bad Gateway\r\ncontent-length: 3\r\n\r\nno\n'],
    ['closed the connection without a complete response', ''],
  ])('is named, without its password, when it %s', async (reason, text) => {
    proxy.behave({ text });
    const { code, stderr } = await listRooms({ HTTPS_PROXY: proxyUrl(proxy.port) }, ['--debug']);
    expect(code).toBe(6);
    const origin = `http://127.0.0.1:${proxy.port}`;
    expect(stderr).toContain(`Error: ${url} cannot be reached: its proxy ${origin} ${reason}\n`);
    expect(stderr).toContain(
      "Next:  check HTTPS_PROXY and the service's address, or list localhost in NO_PROXY",
    );
    expect(stderr).not.toContain('secret-of-ada');
  });

  it('is named by rtc doctor when it does not listen', async () => {
    const port = await freePort();
    const env = { ...ENVIRONMENT, RTC_URL: url, HTTPS_PROXY: proxyUrl(port) };
    const { code, stdout } = await rtcProcess(['doctor', '--json'], { env });
    expect(code).toBe(7);
    expect(JSON.parse(stdout)).toContainEqual({
      check: 'address',
      status: 'fault',
      detail: `${url} cannot be reached: its proxy http://127.0.0.1:${port} does not listen (ECONNREFUSED)`,
      next: "check HTTPS_PROXY and the service's address, or list localhost in NO_PROXY",
    });
  });

  it('delays no command beyond its time limit when it never responds', async () => {
    proxy.behave('silence');
    const env = { HTTPS_PROXY: proxyUrl(proxy.port) };
    const { code, stderr } = await listRooms(env, ['--request-timeout', '1s']);
    expect(code).toBe(6);
    expect(stderr).toContain(`${url} did not respond in time`);
  });
});
