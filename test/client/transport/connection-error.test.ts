import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Agent } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { RtcClient, type RtcClientOptions, RtcError } from '../../../src/client/index.ts';
import { startHttpServer } from '../../cli/support/http-server.ts';
import { run } from '../../cli/support/run.ts';

const CERTIFICATES = `${import.meta.dirname}/../../server/webhooks/sender/certificates`;
const KEY = { apiKey: 'key-1', apiSecret: 'secret-1' };

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    server.close();
    await once(server, 'close');
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts a TLS server with one of the test certificates. */
function listenTls(name: string): Promise<string> {
  const read = (file: string): string => readFileSync(`${CERTIFICATES}/${file}`, 'utf8');
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, read('authority.pem')]);
  closers.push(async () => setDefaultCACertificates(trusted));
  const server = createServer({ key: read('server.key'), cert: read(`${name}.pem`) });
  return listen(server.on('tlsClientError', () => undefined));
}

async function listenPlain(html: string | undefined): Promise<string> {
  const server = await startHttpServer((_request, response) => {
    if (html === undefined) response.socket?.destroy();
    else response.writeHead(400, { 'content-type': 'text/html' }).end(html);
  });
  closers.push(server.close);
  return new URL(server.url).host;
}

/** Returns the error over fetch and over a dispatcher of undici, which must be the same. */
async function faultAt(url: string): Promise<string> {
  const overFetch = await faultOver(url, {});
  expect(await faultOver(url, { dispatcher: async () => new Agent() })).toBe(overFetch);
  return overFetch;
}

async function faultOver(url: string, transport: Partial<RtcClientOptions>): Promise<string> {
  const client = new RtcClient({ url, ...KEY, ...transport, maxAttempts: 1 });
  try {
    await client.recordings.start('demo');
  } catch (error) {
    if (error instanceof RtcError) return `${error.code}: ${error.detail}`;
    throw error;
  } finally {
    await client.close();
  }
  throw new Error('the call did not fail');
}

describe('an address with the wrong scheme', () => {
  it('of https for plain HTTP names the right one', async () => {
    const host = await listenPlain('');
    expect(await faultAt(`https://${host}`)).toBe(
      `unreachable: https://${host} responds without TLS; use http://${host}`,
    );
  });

  it('of http for TLS names the right one', async () => {
    const host = await listenTls('self-signed');
    expect(await faultAt(`http://${host}`)).toBe(
      `unreachable: http://${host} closed the connection without a response; try again, or use https://${host} where it speaks TLS`,
    );
  });

  it.each([
    'Client sent an HTTP request to an HTTPS server.\n',
    '<html><title>400 The plain HTTP request was sent to HTTPS port</title></html>',
    "<p>You're speaking plain HTTP to an SSL-enabled server port.</p>",
  ])('of http is explained when the server responds so: %s', async (page) => {
    const host = await listenPlain(page);
    expect(await faultAt(`http://${host}`)).toMatch(/expects TLS; use https:\/\/ in its address$/);
  });

  it('is explained by rtc in a line with the cause and one with what to do', async () => {
    const host = await listenPlain('');
    const env = { RTC_API_KEY: 'k', RTC_API_SECRET: 's', RTC_URL: `https://${host}` };
    const { code, stderr } = await run(['rooms', 'list'], { env });
    expect(stderr).toBe(`Error: https://${host} responds without TLS\nNext:  use http://${host}\n`);
    expect(code).toBe(6);
  });
});

describe('a connection', () => {
  it.each([
    [
      'self-signed',
      /^unreachable: the certificate of https:\S+ is not trusted \(\w+\); .*NODE_EXTRA_CA_CERTS$/,
    ],
  ])('with the certificate %s is refused with what to do', async (name, expected) => {
    expect(await faultAt(`https://${await listenTls(name)}`)).toMatch(expected);
  });

  it('to another protocol is explained', async () => {
    const host = await listen(
      createTcpServer((socket) => {
        socket
          .on('error', () => undefined)
          .resume()
          .end('-ERR unknown command\r\n');
      }),
    );
    expect(await faultAt(`http://${host}`)).toBe(
      `unreachable: the server at http://${host} does not speak HTTP`,
    );
  });

  it('that ends in the middle of a response is explained', async () => {
    const host = await listen(
      createTcpServer((socket) => {
        socket
          .on('error', () => undefined)
          .resume()
          .end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{');
      }),
    );
    expect(await faultAt(`http://${host}`)).toBe(
      `unreachable: http://${host} closed the connection without a complete response`,
    );
  });
});

// undici does not while it connects.
describe('a dispatcher that does not respond to its signal', () => {
  it('delays no call beyond its time limit', async () => {
    const dispatcher = { request: () => new Promise<never>(() => undefined) };
    expect(await faultOver('https://rtc.invalid', { dispatcher, timeoutMs: 1 })).toBe(
      'timed-out: https://rtc.invalid did not respond in time',
    );
  });

  it('delays no call that the caller cancels', async () => {
    const controller = new AbortController();
    const request = (): Promise<never> => {
      controller.abort();
      return new Promise(() => undefined);
    };
    const client = new RtcClient({ url: 'https://rtc.invalid', ...KEY, dispatcher: { request } });
    await expect(client.rooms.list({ signal: controller.signal })).rejects.toMatchObject({ code: 'aborted' });
  });
});
