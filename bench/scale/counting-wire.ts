import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { portOf } from '../../test/server/platform/storage/network.ts';

/** What went between an instance and its PostgreSQL. */
export type Traffic = {
  /** Statements that were executed, BEGIN and COMMIT included. */
  readonly statements: number;
  /** How often the instance sent something after an answer: times that it waited for the network. */
  readonly roundTrips: number;
  readonly bytes: number;
};

export type CountingWire = {
  /** `url`, through this wire. */
  readonly through: (url: string) => string;
  readonly traffic: () => Traffic;
  readonly close: () => Promise<void>;
};

/** Messages of PostgreSQL's protocol that execute a statement: Query and Execute. */
const EXECUTING = new Set(['Q'.charCodeAt(0), 'E'.charCodeAt(0)]);
const HEADER_BYTES = 5;

/** Lies between an instance and its database, and counts. */
export async function startCountingWire(target: string): Promise<CountingWire> {
  const counts = { statements: 0, roundTrips: 0, bytes: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(new URL(target).port), '127.0.0.1');
    const messages = new MessageReader((type) => {
      if (EXECUTING.has(type)) counts.statements += 1;
    });
    let hasAnswered = true;
    near.on('data', (bytes) => {
      if (hasAnswered) counts.roundTrips += 1;
      hasAnswered = false;
      counts.bytes += bytes.length;
      messages.push(bytes);
      far.write(bytes);
    });
    far.on('data', (bytes) => {
      hasAnswered = true;
      counts.bytes += bytes.length;
      near.write(bytes);
    });
    for (const [socket, other] of [[near, far] as const, [far, near] as const]) {
      sockets.add(socket);
      socket.setNoDelay();
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    through: (url) => {
      const changed = new URL(url);
      changed.port = `${portOf(server)}`;
      return changed.href;
    },
    traffic: () => ({ ...counts }),
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** Splits what an instance sends into messages: a type and a length, but for the first one, which has no type. */
class MessageReader {
  readonly #onMessage: (type: number) => void;
  #buffered: Buffer = Buffer.alloc(0);
  /** Bytes of the current message that are still to come. */
  #skip = 0;
  #isFirst = true;

  constructor(onMessage: (type: number) => void) {
    this.#onMessage = onMessage;
  }

  push(bytes: Buffer): void {
    let rest = this.#buffered.length === 0 ? bytes : Buffer.concat([this.#buffered, bytes]);
    for (;;) {
      const skipped = Math.min(this.#skip, rest.length);
      this.#skip -= skipped;
      rest = rest.subarray(skipped);
      if (this.#skip > 0 || rest.length < HEADER_BYTES) break;
      if (this.#isFirst) {
        this.#skip = rest.readUInt32BE(0);
        this.#isFirst = false;
      } else {
        this.#onMessage(rest[0] ?? 0);
        this.#skip = 1 + rest.readUInt32BE(1);
      }
    }
    this.#buffered = rest;
  }
}
