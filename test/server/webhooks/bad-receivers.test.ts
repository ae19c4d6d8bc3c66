import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createAddressGuard, type Resolve } from '../../../src/server/webhooks/sender/address-guard.ts';
import { createWebhookSender } from '../../../src/server/webhooks/sender/webhook-sender.ts';
import { openStage, type Stage } from './dispatcher/support/stage.ts';
import { type Behaviour, type Receiver, respondWith, startReceiver } from './support/receiver.ts';

/*
 * All errors of receivers at the same time. The log of each delivery names the error, and a good receiver gets its own
 * deliveries without delay.
 */

/** Long enough that a good receiver on a busy machine does not have to wait for a bad one. */
const TIMEOUT_MS = 4_000;
const PRIVATE = 'the address is private, loopback, link-local or otherwise not public';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function receiverFor(behaviour?: Behaviour): Promise<Receiver> {
  const receiver = await startReceiver(behaviour);
  cleanUps.push(receiver.close);
  return receiver;
}

async function readPort(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Returns a port on which nobody listens. */
async function closedPort(): Promise<number> {
  const server = createTcpServer();
  const port = await readPort(server);
  server.close();
  await once(server, 'close');
  return port;
}

function tlsServer(): Server {
  const certificates = join(import.meta.dirname, 'sender/certificates');
  const read = (name: string) => readFileSync(join(certificates, name));
  const server = createTlsServer({ key: read('server.key'), cert: read('self-signed.pem') });
  server.on('tlsClientError', () => {});
  cleanUps.push(() => server.closeAllConnections());
  return server;
}

/** Sends one byte a second and never ends. */
const drip: Behaviour = (_request, response) => {
  response.writeHead(200).flushHeaders();
  const timer = setInterval(() => response.write('.'), 1_000);
  response.on('close', () => clearInterval(timer));
};

/**
 * Loopback addresses represent public ones. rebinding.example first resolves to the exempt address, then to another one.
 */
function rebinding(): Resolve {
  let count = 0;
  return (_name, _options, callback) => {
    count += 1;
    callback(null, [{ address: count === 1 ? '127.0.0.1' : '127.0.0.99', family: 4 }]);
  };
}

async function stageWith(resolve: Resolve): Promise<Stage> {
  const stage = await openStage();
  cleanUps.push(stage.close);
  const guard = createAddressGuard(['127.0.0.1/32'], resolve);
  const sender = createWebhookSender({ guard, userAgent: 'test', timeoutMs: TIMEOUT_MS });
  cleanUps.push(sender.close);
  const instance = stage.instance({ sender });
  return { ...stage, instance: () => instance };
}

/** Returns the status and error of every attempt to deliver to a webhook. */
async function readLog({ store }: Stage, webhookId: string) {
  const deliveries = await store.deliveries.list({ webhookId, limit: 10 });
  return deliveries.flatMap(({ log }) => log.map(({ statusCode, error }) => [statusCode, error]));
}

describe('misbehaving receivers', () => {
  it('are distinguished in the log of deliveries, and delay no others', async () => {
    const inside = await receiverFor();
    const stage = await stageWith(rebinding());
    const good = await receiverFor();
    const huge = Buffer.alloc(10 * 1024 * 1024, 'x');
    const insidePort = new URL(inside.url).port;
    const kinds: Readonly<
      Record<string, readonly [url: string, status: number | null, error: string | null]>
    > = {
      hangs: [(await receiverFor(() => {})).url, null, 'no response within 4 s'],
      resets: [
        (await receiverFor((request) => void request.socket.resetAndDestroy())).url,
        null,
        'the connection was reset',
      ],
      drips: [(await receiverFor(drip)).url, 200, 'the response did not end within 4 s'],
      'answers 10 MB': [(await receiverFor((_, response) => void response.end(huge))).url, 200, null],
      fails: [(await receiverFor(respondWith(503, 'busy'))).url, 503, 'the receiver responded with 503'],
      'redirects to a private address': [
        (await receiverFor((_, response) => void response.writeHead(302, { location: inside.url }).end()))
          .url,
        302,
        `redirects to ${inside.url}/: register that address`,
      ],
      'is a private address': [`http://127.0.0.99:${insidePort}/`, null, PRIVATE],
      'has bad TLS': [
        `https://127.0.0.1:${await readPort(tlsServer())}/`,
        null,
        'the TLS certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); name an authority of your own in NODE_EXTRA_CA_CERTS of the service',
      ],
      'is absent': [`http://127.0.0.1:${await closedPort()}/`, null, 'the connection was refused'],
    };
    const instance = stage.instance();
    const ids = new Map<string, string>();
    for (const [kind, [url]] of Object.entries(kinds)) ids.set(kind, await stage.webhook(url));
    await stage.webhook(good.url);
    await instance.append('one');
    await good.waitFor(() => true, 1);
    // The good receiver did not wait for the end of the attempt at the hanging one.
    expect(await readLog(stage, ids.get('hangs') ?? '')).toEqual([]);
    for (const [kind, [, status, error]] of Object.entries(kinds)) {
      const findFirst = async () => ({ kind, log: (await readLog(stage, ids.get(kind) ?? ''))[0] });
      await expect.poll(findFirst).toEqual({ kind, log: [status, error] });
    }
    expect(inside.received).toEqual([]);
  }, 120_000);

  it('are rejected when their name resolves to a private address the second time', async () => {
    const stage = await stageWith(rebinding());
    // Closes the connection, so that the retry resolves the name again.
    const outside = await receiverFor(
      (_, response) => void response.writeHead(500, { connection: 'close' }).end(),
    );
    const id = await stage.webhook(`http://rebinding.example:${new URL(outside.url).port}/`);
    await stage.instance().append('one');
    await expect
      .poll(() => readLog(stage, id), { timeout: 60_000 })
      .toEqual([
        [500, 'the receiver responded with 500'],
        [null, PRIVATE],
      ]);
    expect(outside.received).toHaveLength(1);
  }, 120_000);
});
