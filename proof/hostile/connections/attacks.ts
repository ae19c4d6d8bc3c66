import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import type { Signing } from '../../../test/support/sign.ts';
import { runOnThread } from '../../support/thread.ts';

/* Attacks by connections that are expensive for the service. They run on a thread of their own, which loads this file. */

type AttackOptions = {
  readonly url: string;
  readonly keys: Omit<Signing, 'timestamp'>;
  readonly connections: number;
  readonly seconds: number;
};

/** Counters of an attack. */
export type AttackReport = {
  readonly opened: number;
  /** Connections that the service closed before the attack did. */
  readonly closed: number;
  readonly sent: number;
  readonly answered: number;
};

class Crowd {
  sockets: Socket[] = [];
  opened = 0;
  closed = 0;
  sent = 0;
  answered = 0;
  readonly #url: URL;

  constructor(url: string) {
    this.#url = new URL(url);
  }

  /** Opens connections until `count` are open, at most 200 at a time. */
  async fill(count: number): Promise<void> {
    this.sockets = this.sockets.filter((socket) => !socket.destroyed);
    while (this.sockets.length < count) {
      const missing = Math.min(200, count - this.sockets.length);
      const opened = await Promise.all(Array.from({ length: missing }, () => this.#open()));
      this.sockets.push(...opened.filter((socket) => socket !== undefined));
      if (opened.includes(undefined)) return;
    }
  }

  /** Opens one more connection. Resolves to undefined if the service refuses it. */
  async openOne(): Promise<Socket | undefined> {
    const socket = await this.#open();
    if (socket !== undefined) this.sockets.push(socket);
    return socket;
  }

  sendToAll(text: string): void {
    for (const socket of this.sockets) {
      if (socket.destroyed) continue;
      socket.write(text);
      this.sent += 1;
    }
  }

  end(): void {
    for (const socket of this.sockets) socket.removeAllListeners('close').destroy();
  }

  #open(): Promise<Socket | undefined> {
    const { hostname, port } = this.#url;
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => socket.destroy());
    return new Promise((resolve) => {
      socket.once('close', () => resolve(undefined));
      socket.once('connect', () => {
        this.opened += 1;
        socket.on('close', () => {
          this.closed += 1;
        });
        socket.on('data', (chunk: Buffer) => {
          this.answered += chunk.toString('latin1').split('HTTP/1.1 ').length - 1;
        });
        resolve(socket);
      });
    });
  }
}

const ATTACKS = { slowHeaders, slowBodies, refusedFlood, unreadAnswers, idle } as const;

export type AttackName = keyof typeof ATTACKS;

/** Sends one byte of a header every second, and never the end of the headers. */
function slowHeaders(options: AttackOptions): Promise<AttackReport> {
  const begin = 'GET /v1/webhooks HTTP/1.1\r\nHost: x\r\nX-Slow: ';
  return withConnections(options, async (crowd) => await drip(crowd, options.seconds, begin));
}

/** Sends one byte of a body every second. The API key is valid, so the service has to read the body. */
function slowBodies(options: AttackOptions): Promise<AttackReport> {
  const begin =
    `POST /v1/webhooks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n` +
    `X-Api-Key: ${options.keys.apiKey}\r\nX-Service-Timestamp: ${Math.floor(Date.now() / 1000)}\r\n` +
    `X-Service-Signature: ${'0'.repeat(64)}\r\n\r\n`;
  return withConnections(options, async (crowd) => await drip(crowd, options.seconds, begin));
}

async function drip(crowd: Crowd, seconds: number, begin: string): Promise<void> {
  crowd.sendToAll(begin);
  for (let second = 0; second < seconds; second += 1) {
    await delay(1_000);
    crowd.sendToAll('x');
  }
}

/**
 * Pipelines requests without a signature, and takes the answers as fast as they come. A connection that the service closes
 * is opened again.
 */
function refusedFlood(options: AttackOptions): Promise<AttackReport> {
  const refused = 'POST /v1/rooms HTTP/1.1\r\nHost: x\r\nX-Api-Key: wrong\r\n\r\n'.repeat(10);
  return withConnections(options, async (crowd) => {
    const until = performance.now() + options.seconds * 1_000;
    const flood = async (first: Socket): Promise<void> => {
      let socket: Socket | undefined = first;
      while (performance.now() < until) {
        if (socket === undefined || socket.destroyed) socket = await crowd.openOne();
        else {
          crowd.sent += 10;
          // The service may reset a connection while it is written to.
          if (!socket.write(refused)) {
            await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
          }
        }
        await delay(1);
      }
    };
    await Promise.all(crowd.sockets.map(flood));
  });
}

/** Pipelines requests for the largest document of the service, and reads nothing. */
function unreadAnswers(options: AttackOptions): Promise<AttackReport> {
  return withConnections(options, async (crowd) => {
    for (const socket of crowd.sockets) socket.pause();
    crowd.sendToAll('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(200));
    await delay(options.seconds * 1_000);
  });
}

/** Opens connections and sends nothing. Replaces each connection that the service closes. */
function idle(options: AttackOptions): Promise<AttackReport> {
  return withConnections(options, async (crowd) => {
    const until = performance.now() + options.seconds * 1_000;
    while (performance.now() < until) {
      await delay(500);
      await crowd.fill(options.connections);
    }
  });
}

async function withConnections(
  { url, connections }: AttackOptions,
  attack: (crowd: Crowd) => Promise<void>,
): Promise<AttackReport> {
  const crowd = new Crowd(url);
  await crowd.fill(connections);
  await attack(crowd);
  const { opened, closed, sent, answered } = crowd;
  crowd.end();
  return { opened, closed, sent, answered };
}

export function attack(name: AttackName, options: AttackOptions): Promise<AttackReport> {
  return runOnThread(import.meta.url, { name, options });
}

if (!isMainThread && parentPort !== null && workerData?.name in ATTACKS) {
  const { name, options }: { readonly name: AttackName; readonly options: AttackOptions } = workerData;
  parentPort.postMessage(await ATTACKS[name](options));
}
