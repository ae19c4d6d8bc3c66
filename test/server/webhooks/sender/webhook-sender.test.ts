import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { createAddressGuard, type Resolve } from '../../../../src/server/webhooks/sender/address-guard.ts';
import type { WebhookResponse, WebhookSender } from '../../../../src/server/webhooks/sender/sender.ts';
import { createWebhookSender } from '../../../../src/server/webhooks/sender/webhook-sender.ts';
import { startTunnelProxy } from '../../../cli/support/tunnel-proxy.ts';
import { type Behaviour, type Receiver, respondWith, startReceiver } from '../support/receiver.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const TIMEOUT_MS = 1_000;

function senderWith(allowed: readonly string[], resolve?: Resolve): WebhookSender {
  const guard = createAddressGuard(allowed, resolve);
  const sender = createWebhookSender({ guard, userAgent: 'rtc-service/test', timeoutMs: TIMEOUT_MS });
  cleanUps.push(sender.close);
  return sender;
}

async function receiverWith(behaviour?: Behaviour): Promise<Receiver> {
  const receiver = await startReceiver(behaviour);
  cleanUps.push(receiver.close);
  return receiver;
}

const request = (url: string) => ({
  url,
  headers: { 'x-service-webhook-event': 'room_finished' },
  body: '{}',
});

async function makeResponse(behaviour: Behaviour): Promise<WebhookResponse> {
  const { url } = await receiverWith(behaviour);
  return senderWith(['127.0.0.0/8']).send(request(url));
}

const head = (response: ServerResponse, headers: Record<string, string | number> = {}) =>
  response.writeHead(200, headers).flushHeaders();

async function tcpServer(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

describe('a receiver that responds', () => {
  it('gets the body and the headers unchanged, with our user agent', async () => {
    const receiver = await receiverWith(respondWith(200, 'thanks'));
    const sent = await senderWith(['127.0.0.0/8']).send(request(`${receiver.url}/hook?x=1`));
    expect(sent).toMatchObject({ statusCode: 200, responseBody: 'thanks', error: null });
    expect(receiver.received[0]).toMatchObject({ path: '/hook?x=1', text: '{}' });
    expect(receiver.received[0]?.headers).toMatchObject({
      'user-agent': 'rtc-service/test',
      'x-service-webhook-event': 'room_finished',
    });
  });

  it.each([200, 204, 299, 300, 404, 410, 500, 503])(
    'has its response quoted with status %i',
    async (status) => {
      expect(await makeResponse(respondWith(status))).toMatchObject({ statusCode: status, error: null });
    },
  );

  it.each([301, 302, 303, 307, 308])(
    'is not followed when it redirects with %i, and says where',
    async (status) => {
      const elsewhere = await receiverWith();
      const redirect: Behaviour = (_request, response) =>
        void response.writeHead(status, { location: `${elsewhere.url}/hook?token=secret` }).end();
      expect(await makeResponse(redirect)).toMatchObject({
        statusCode: status,
        error: `redirects to ${elsewhere.url}/hook?***: register that address`,
      });
      expect(elsewhere.received).toEqual([]);
    },
  );

  it('has its response limited to 4 KiB, one byte below and one above', async () => {
    for (const length of [4095, 4096, 4097]) {
      const { responseBody, error } = await makeResponse(respondWith(200, 'x'.repeat(length)));
      expect([responseBody?.length, error]).toEqual([Math.min(length, 4096), null]);
    }
  });

  it('is disconnected after 4 KiB of 10 MB, without reading the rest', async () => {
    let written = 0;
    const { promise: closed, resolve: ended } = Promise.withResolvers<void>();
    const flood = async (_request: IncomingMessage, response: ServerResponse) => {
      response.on('close', ended);
      head(response);
      const chunk = Buffer.alloc(65_536, 'x');
      for (; written < 10_000_000 && !response.destroyed; written += chunk.length) {
        if (response.write(chunk)) continue;
        // One listener for the end of all waits, because each wait would leave its own behind.
        await Promise.race([once(response, 'drain'), closed]);
      }
    };
    const sent = await makeResponse((one, response) => void flood(one, response));
    expect(sent).toMatchObject({ statusCode: 200, error: null });
    expect(sent.responseBody).toHaveLength(4096);
    await closed;
    expect(written).toBeLessThan(10_000_000);
  });

  it('keeps no connection when it stops after just 4 KiB', async () => {
    const closed = Promise.withResolvers<void>();
    const sent = await makeResponse((_request, response) => {
      response.on('close', closed.resolve);
      head(response);
      response.write('x'.repeat(4096));
    });
    await closed.promise;
    expect(sent).toMatchObject({ statusCode: 200, error: 'the response did not end within 1 s' });
    expect(sent.responseBody).toHaveLength(4096);
  });

  it('may respond with bytes that are not text', async () => {
    const bytes: Behaviour = (_request, response) =>
      void response.writeHead(200).end(Buffer.from([0x00, 0xff, 0x61]));
    expect((await makeResponse(bytes)).responseBody).toBe('\uFFFD\uFFFDa');
  });
});

describe('a receiver that compresses its response', () => {
  const compressed =
    (coding: string, bytes: Buffer): Behaviour =>
    (_request, response) =>
      void response.writeHead(500, { 'content-encoding': coding }).end(bytes);
  const text = '{"error":"perché no"}';

  it.each([
    ['gzip', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['br', brotliCompressSync(text)],
    ['identity', Buffer.from(text)],
  ])('has it quoted as text: %s', async (coding, bytes) => {
    expect(await makeResponse(compressed(coding, bytes))).toMatchObject({
      statusCode: 500,
      responseBody: text,
      error: null,
    });
  });

  it('has at most 4 KiB of text quoted, whatever its bytes stand for', async () => {
    const huge = Buffer.alloc(64 * 1024 * 1024, 'x');
    for (const [coding, bytes] of [
      ['gzip', gzipSync(huge)],
      ['br', brotliCompressSync(huge, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })],
    ] as const) {
      expect((await makeResponse(compressed(coding, bytes))).responseBody).toBe('x'.repeat(4096));
    }
  });

  it('has the beginning quoted if the rest is missing, and only the coding if it is not that', async () => {
    const random = randomBytes(20_000).toString('hex');
    const { responseBody } = await makeResponse(compressed('gzip', gzipSync(`${text}${random}`)));
    expect(responseBody?.slice(0, 1000)).toBe(`${text}${random}`.slice(0, 1000));
    const wrong = await makeResponse(compressed('gzip', Buffer.from('plain')));
    expect(wrong.responseBody).toBe('(5 bytes of content-encoding gzip)');
    const unknown = await makeResponse(compressed('zebra', Buffer.from('stripes')));
    expect(unknown.responseBody).toBe('(7 bytes of content-encoding zebra)');
  });
});

describe('a receiver that does not respond properly', () => {
  it('has one timeout for everything: without a response', async () => {
    const sent = await makeResponse(() => {});
    expect(sent).toMatchObject({ statusCode: null, responseBody: null, error: 'no response within 1 s' });
    expect(sent.durationMs).toBeGreaterThanOrEqual(TIMEOUT_MS - 5);
  });

  it('may send 16 interim responses before its response, and no more', async () => {
    const interim =
      (count: number): Behaviour =>
      (_request, response) => {
        for (let sent = 0; sent < count; sent += 1) response.writeProcessing();
        response.end('taken');
      };
    expect(await makeResponse(interim(16))).toMatchObject({ statusCode: 200, error: null });
    expect(await makeResponse(interim(17))).toMatchObject({
      statusCode: null,
      error: 'more than 16 interim responses (1xx)',
    });
  });

  it('may send 100 Continue that nobody asked for, in pieces of any length', async () => {
    const interim = 'HTTP/1.1 100 Continue\r\n\r\n';
    const body = 'HTTP/1.1 100 is text of a body';
    const last = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const responses = [
      interim + last,
      `${interim}HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${interim}${last}`,
      `\r\nHTTP/1.1 100\r\nServer: a proxy\r\n\r\n${last}`,
    ];
    for (const response of responses) {
      for (const length of [1, 11, response.length]) {
        const pieces = response.match(new RegExp(`[^]{1,${length}}`, 'g')) ?? [];
        const url = await tcpServer((socket) => {
          socket.setNoDelay(true);
          socket.on('data', () => {
            for (const piece of pieces) socket.write(piece);
          });
        });
        const sender = senderWith(['127.0.0.0/8']);
        const expected = { statusCode: 200, responseBody: body, error: null };
        expect(await sender.send(request(url))).toMatchObject(expected);
        // The connection is kept, and its next response is read in the same way.
        expect(await sender.send(request(url))).toMatchObject(expected);
      }
    }
  });

  it('may send 16 times 100 Continue, and no more', async () => {
    const interim =
      (count: number): Behaviour =>
      (_request, response) => {
        for (let sent = 0; sent < count; sent += 1) response.writeContinue();
        response.end('taken');
      };
    expect(await makeResponse(interim(16))).toMatchObject({ statusCode: 200, error: null });
    expect(await makeResponse(interim(17))).toMatchObject({ error: 'more than 16 interim responses (1xx)' });
  });

  it('may send empty lines, and is cut off when they do not end', async () => {
    const lines: Behaviour = ({ socket }) => {
      const chunk = Buffer.from('\r\n'.repeat(32 * 1024));
      const more = (): void => {
        while (!socket.destroyed && socket.write(chunk));
        socket.once('drain', more);
      };
      socket.on('error', () => socket.destroy());
      more();
    };
    const sent = await makeResponse(lines);
    expect(sent).toMatchObject({ statusCode: null, error: 'the receiver sends too much' });
  });

  it.each([
    ['headers', '', null],
    ['trailers', 'Transfer-Encoding: chunked\r\n\r\n0\r\n', 200],
  ])('is cut off when its %s do not end', async (_what, begin, statusCode) => {
    const closed = Promise.withResolvers<void>();
    const url = await tcpServer((socket) => {
      const lines = Buffer.from('X-Line: x\r\n'.repeat(6_000));
      const more = (): void => {
        while (!socket.destroyed && socket.write(lines));
      };
      socket.on('close', closed.resolve).on('drain', more);
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\n${begin}`);
        more();
      });
    });
    const sent = await senderWith(['127.0.0.0/8']).send(request(url));
    expect(sent).toMatchObject({ statusCode, error: 'the headers of the response are too large' });
    await closed.promise;
  });

  it('has one timeout for everything: with a byte now and then', async () => {
    const drip: Behaviour = (_request, response) => {
      head(response);
      const timer = setInterval(() => response.write('x'), 100);
      response.on('close', () => clearInterval(timer));
    };
    const sent = await makeResponse(drip);
    expect(sent).toMatchObject({ statusCode: 200, error: 'the response did not end within 1 s' });
    expect(sent.responseBody).toMatch(/^x{5,10}$/);
  });

  it('has one timeout for everything: with dripping headers', async () => {
    const url = await tcpServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('X'), 100);
      socket.on('close', () => clearInterval(timer));
    });
    const sent = await senderWith(['127.0.0.0/8']).send(request(url));
    expect(sent).toMatchObject({ statusCode: null, error: 'no response within 1 s' });
  });

  it('is reported to have reset the connection, before or during its response', async () => {
    const before: Behaviour = (one) => void (one.socket as Socket).resetAndDestroy();
    expect(await makeResponse(before)).toMatchObject({ statusCode: null, error: 'the connection was reset' });
    const within: Behaviour = (one, response) => {
      head(response, { 'content-length': 100 });
      response.write('half', () => (one.socket as Socket).resetAndDestroy());
    };
    const sent = await makeResponse(within);
    expect(sent.statusCode).toBe(200);
    expect(sent.error).toMatch(/^the connection was (reset|closed before the end of the response)$/);
  });

  it('is reported to have closed the connection', async () => {
    const url = await tcpServer((socket) => socket.once('data', () => socket.end()));
    expect(await senderWith(['127.0.0.0/8']).send(request(url))).toMatchObject({
      statusCode: null,
      error: 'the connection was closed before the end of the response',
    });
  });

  it('is reported to speak no HTTP', async () => {
    const url = await tcpServer((socket) => socket.once('data', () => socket.end('SSH-2.0-whatever\r\n')));
    const sent = await senderWith(['127.0.0.0/8']).send(request(url));
    expect(sent).toMatchObject({ statusCode: null, error: 'the response is not well-formed HTTP' });
  });

  it('is reported as unreachable', async () => {
    const { url, close } = await startReceiver();
    await close();
    const sent = await senderWith(['127.0.0.0/8']).send(request(url));
    expect(sent).toMatchObject({ statusCode: null, error: 'the connection was refused' });
  });

  it('delays nobody else, also on the same host', async () => {
    const receiver = await receiverWith((one, response) => {
      if (one.url !== '/hang') response.end();
    });
    const sender = senderWith(['127.0.0.0/8']);
    const hanging = Array.from({ length: 100 }, () => sender.send(request(`${receiver.url}/hang`)));
    await receiver.waitFor(() => true, 100);
    expect(await sender.send(request(`${receiver.url}/quick`))).toMatchObject({ statusCode: 200 });
    await Promise.all(hanging);
  });
});

describe('a forbidden address', () => {
  const refusal = 'the address is private, loopback, link-local or otherwise not public';

  it('is rejected in a URL', async () => {
    const receiver = await receiverWith();
    for (const url of [receiver.url, receiver.url.replace('127.0.0.1', '[::ffff:127.0.0.1]')]) {
      expect(await senderWith([]).send(request(url))).toMatchObject({ statusCode: null, error: refusal });
    }
    expect(receiver.received).toEqual([]);
  });

  it('is rejected when a name resolves to it', async () => {
    const receiver = await receiverWith();
    const url = receiver.url.replace('127.0.0.1', 'localhost');
    expect(await senderWith([]).send(request(url))).toMatchObject({ statusCode: null, error: refusal });
    expect(receiver.received).toEqual([]);
  });

  it('is rejected when a name resolves to it the second time only', async () => {
    const inside = await receiverWith();
    const port = new URL(inside.url).port;
    let count = 0;
    const rebinding: Resolve = (_name, _options, callback) => {
      count += 1;
      // An address of this machine, which the test exempts, represents a public one. Nothing listens there.
      callback(null, [{ address: count === 1 ? '127.0.0.9' : '127.0.0.1', family: 4 }]);
    };
    const sender = senderWith(['127.0.0.9/32'], rebinding);
    const url = `http://rebinding.example:${port}/`;
    expect(await sender.send(request(url))).toMatchObject({ error: 'the connection was refused' });
    expect(await sender.send(request(url))).toMatchObject({ error: refusal });
    expect([count, inside.received]).toEqual([2, []]);
  });

  it('is the one that was checked: a name is not looked up again to connect', async () => {
    const receiver = await receiverWith();
    let count = 0;
    const resolve: Resolve = (_name, _options, callback) => {
      count += 1;
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    };
    const url = `http://hooks.example:${new URL(receiver.url).port}/`;
    expect(await senderWith(['127.0.0.1/32'], resolve).send(request(url))).toMatchObject({ statusCode: 200 });
    expect(count).toBe(1);
  });

  it('is reported for an unknown name', async () => {
    const unknown: Resolve = (_name, _options, callback) =>
      callback(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }), []);
    const sent = await senderWith([], unknown).send(request('http://nowhere.example/'));
    expect(sent).toMatchObject({ statusCode: null, error: 'the name is not known' });
  });

  it('is looked up within the timeout', async () => {
    const sent = await senderWith([], () => {}).send(request('http://hanging.example/'));
    expect(sent.error).toMatch(/^no (response within 1 s|connection in time)$/);
  });
});

describe('TLS to a receiver', () => {
  const read = (name: string) => readFileSync(join(import.meta.dirname, 'certificates', name), 'utf8');

  async function responseOver(
    certificate: string,
    sender = senderWith(['127.0.0.0/8']),
  ): Promise<WebhookResponse> {
    const trusted = getCACertificates('default');
    setDefaultCACertificates([...trusted, read('authority.pem')]);
    cleanUps.push(() => setDefaultCACertificates(trusted));
    const server = createTlsServer(
      { key: read('server.key'), cert: read(certificate) },
      (_request, response) => {
        response.end('secret');
      },
    );
    server.on('tlsClientError', () => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUps.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    return sender.send(request(`https://127.0.0.1:${port}/`));
  }

  it('is accepted with a certificate of a known authority, also through a forward proxy', async () => {
    const proxy = await startTunnelProxy();
    cleanUps.push(proxy.close);
    const proxyUrl = `http://127.0.0.1:${proxy.port}`;
    const guard = createAddressGuard(['127.0.0.0/8']);
    const sender = createWebhookSender({ guard, userAgent: 'x', timeoutMs: TIMEOUT_MS, proxyUrl });
    cleanUps.push(sender.close);
    expect(await responseOver('valid.pem', sender)).toMatchObject({
      statusCode: 200,
      responseBody: 'secret',
    });
    expect(proxy.connects).toHaveLength(1);
  });

  it('is accepted with a certificate of a known authority', async () => {
    expect(await responseOver('valid.pem')).toMatchObject({ statusCode: 200, responseBody: 'secret' });
  });

  it.each([
    ['expired', 'expired.pem', 'CERT_HAS_EXPIRED'],
    ['for another name', 'other-name.pem', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('is rejected with a certificate that is %s', async (_kind, certificate, code) => {
    const error = `the TLS certificate or handshake is not valid (${code})`;
    expect(await responseOver(certificate)).toMatchObject({ statusCode: null, responseBody: null, error });
  });

  it('is rejected with a certificate of an unknown authority, with the remedy', async () => {
    expect(await responseOver('self-signed.pem')).toMatchObject({
      statusCode: null,
      error:
        'the TLS certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); name an authority of your own in NODE_EXTRA_CA_CERTS of the service',
    });
  });

  it('is rejected when the receiver speaks plain HTTP', async () => {
    const { url } = await receiverWith();
    const sent = await senderWith(['127.0.0.0/8']).send(request(url.replace('http:', 'https:')));
    expect(sent.statusCode).toBe(null);
    expect(sent.error).toMatch(/^the TLS certificate or handshake is not valid \(\w+\)$/);
  });
});

describe('a receiver behind a forward proxy', () => {
  async function proxied(allowed: readonly string[], path = '', resolve?: Resolve) {
    const proxy = await startTunnelProxy();
    cleanUps.push(proxy.close);
    const guard = createAddressGuard(allowed, resolve);
    const proxyUrl = `http://${path}127.0.0.1:${proxy.port}`;
    const sender = createWebhookSender({
      guard,
      userAgent: 'rtc-service/test',
      timeoutMs: TIMEOUT_MS,
      proxyUrl,
    });
    cleanUps.push(sender.close);
    return { proxy, sender };
  }
  const PUBLIC: Resolve = (_name, _options, callback) => callback(null, [{ address: '1.1.1.1', family: 4 }]);

  it('gets the delivery through a tunnel, with the credentials of the proxy', async () => {
    const receiver = await receiverWith(respondWith(200, 'thanks'));
    const { port } = new URL(receiver.url);
    const { proxy, sender } = await proxied([], 'user:p%40ss@', PUBLIC);
    const sent = await sender.send(request(`http://hooks.example:${port}/hook`));
    expect(sent).toMatchObject({ statusCode: 200, responseBody: 'thanks', error: null });
    expect(receiver.received[0]).toMatchObject({ path: '/hook' });
    const authorization = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
    expect(proxy.connects).toEqual([{ target: `hooks.example:${port}`, authorization }]);
  });

  it('is not handed to the proxy when its address is forbidden', async () => {
    const { proxy, sender } = await proxied([]);
    for (const url of [
      'http://127.0.0.1:9/',
      'http://localhost:9/',
      'https://10.0.0.1/',
      'http://[::1]:9/',
    ]) {
      expect((await sender.send(request(url))).error).toContain('the address is private');
    }
    expect(proxy.connects).toEqual([]);
  });

  it('is handed over by a name that only the proxy knows', async () => {
    const unknown: Resolve = (_name, _options, callback) =>
      callback(Object.assign(new Error('x'), { code: 'ENOTFOUND' }), []);
    const receiver = await receiverWith();
    const { sender } = await proxied([], '', unknown);
    const url = `http://inside.example:${new URL(receiver.url).port}/`;
    expect(await sender.send(request(url))).toMatchObject({ statusCode: 200 });
  });

  it.each([
    ['HTTP/1.1 403 Forbidden\r\n\r\n', 'the proxy refused to connect, with 403'],
    ['SSH-2.0-whatever\r\n\r\n', 'the proxy does not speak HTTP'],
    ['', 'the proxy closed the connection'],
  ])('is reported with what the proxy did: %j', async (text, error) => {
    const { proxy, sender } = await proxied([], '', PUBLIC);
    proxy.behave({ text });
    expect(await sender.send(request('https://hooks.example/'))).toMatchObject({ statusCode: null, error });
  });

  it('is reported when the proxy does nothing or is not there', async () => {
    const { proxy, sender } = await proxied([], '', PUBLIC);
    proxy.behave('silence');
    expect((await sender.send(request('https://hooks.example/'))).error).toMatch(
      /^(no response within 1 s|the proxy did not open a connection in time)$/,
    );
    await proxy.close();
    cleanUps.splice(cleanUps.indexOf(proxy.close), 1);
    expect((await sender.send(request('https://other.example/'))).error).toBe('the proxy cannot be reached');
  });

  it('is verified by its own certificate within the tunnel', async () => {
    const { sender } = await proxied([], '', PUBLIC);
    const { url } = await receiverWith();
    const sent = await sender.send(request(`https://hooks.example:${new URL(url).port}/`));
    expect(sent.error).toMatch(/^the TLS certificate or handshake is not valid \(\w+\)$/);
  });
});
