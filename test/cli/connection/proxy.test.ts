import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { json, startHttpServer, type TestHttpServer } from '../support/http-server.ts';
import { rtcProcess } from '../support/process.ts';

const CREDENTIALS = { RTC_API_KEY: 'key', RTC_API_SECRET: 'secret' };
const NOWHERE = 'http://rtc.invalid';

let proxy: TestHttpServer;
let service: TestHttpServer;
beforeAll(async () => {
  [proxy, service] = await Promise.all([
    startHttpServer((_request, response) => json(response, 200, { rooms: [] })),
    startHttpServer((_request, response) => json(response, 200, { rooms: [] })),
  ]);
});
afterAll(() => Promise.all([proxy.close(), service.close()]));

let earlier: { readonly proxy: number; readonly service: number };
beforeEach(() => {
  earlier = { proxy: proxy.received.length, service: service.received.length };
});

const seenBy = (server: 'proxy' | 'service') =>
  ({ proxy, service })[server].received.slice(earlier[server]).map(({ url }) => url);

describe('the proxy of the environment', () => {
  it('gets the requests to the service', async () => {
    for (const name of ['HTTP_PROXY', 'http_proxy']) {
      const env = { ...CREDENTIALS, RTC_URL: NOWHERE, [name]: proxy.url };
      expect(await rtcProcess(['rooms', 'list', '--json'], { env })).toMatchObject({
        code: 0,
        stdout: '{"rooms":[]}\n',
      });
    }
    expect(seenBy('proxy')).toEqual([`${NOWHERE}/v1/rooms?limit=1000`, `${NOWHERE}/v1/rooms?limit=1000`]);
  });

  it('gets no requests to this machine, or to the names of NO_PROXY', async () => {
    const env = { ...CREDENTIALS, RTC_URL: service.url, HTTP_PROXY: proxy.url };
    expect((await rtcProcess(['rooms', 'list'], { env })).code).toBe(0);
    const named = { ...env, RTC_URL: service.url.replace('127.0.0.1', 'localhost'), NO_PROXY: 'localhost' };
    expect((await rtcProcess(['rooms', 'list'], { env: named })).code).toBe(0);
    expect(seenBy('service')).toEqual(['/v1/rooms?limit=1000', '/v1/rooms?limit=1000']);
    expect(seenBy('proxy')).toEqual([]);
  });

  it('must be a URL', async () => {
    const env = { ...CREDENTIALS, RTC_URL: NOWHERE, HTTP_PROXY: 'ada:secret-of-ada@proxy' };
    const { code, stderr } = await rtcProcess(['rooms', 'list'], { env });
    expect(code).toBe(2);
    expect(stderr).toContain('HTTP_PROXY is not an address such as http://proxy.example.org:3128');
    expect(stderr).not.toContain('secret-of-ada');
  });
});
