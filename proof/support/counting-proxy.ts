import { startForwardingServer } from '../../test/support/forwarding-server.ts';

/** Traffic between an instance and its PostgreSQL. */
export type Traffic = {
  /** Number of executed statements, BEGIN and COMMIT included. */
  readonly statements: number;
  /** How often the instance sent something after a response: the times that it waited for the network. */
  readonly roundTrips: number;
  readonly bytes: number;
};

export type CountingProxy = {
  /** Returns `url` with the address of this proxy. */
  readonly through: (url: string) => string;
  readonly traffic: () => Traffic;
  readonly close: () => Promise<void>;
};

/** Message types of PostgreSQL's protocol that execute a statement: Query and Execute. */
const EXECUTING = new Set(['Q'.charCodeAt(0), 'E'.charCodeAt(0)]);
const HEADER_BYTES = 5;

/** Starts a proxy between an instance and its database that counts messages. */
export async function startCountingProxy(target: string): Promise<CountingProxy> {
  const counts = { statements: 0, roundTrips: 0, bytes: 0 };
  const { through, cut } = await startForwardingServer({
    target: () => ({ port: Number(new URL(target).port) }),
    forward: (client, server) => {
      const messages = new MessageReader((type) => {
        if (EXECUTING.has(type)) counts.statements += 1;
      });
      let hasResponded = true;
      client.on('data', (bytes) => {
        if (hasResponded) counts.roundTrips += 1;
        hasResponded = false;
        counts.bytes += bytes.length;
        messages.push(bytes);
        server.write(bytes);
      });
      server.on('data', (bytes) => {
        hasResponded = true;
        counts.bytes += bytes.length;
        client.write(bytes);
      });
    },
  });
  return { through, traffic: () => ({ ...counts }), close: cut };
}

/** Splits the bytes of an instance into messages. Each has a type and a length, except the first one, which has no type. */
class MessageReader {
  readonly #onMessage: (type: number) => void;
  #buffered: Buffer = Buffer.alloc(0);
  /** Bytes of the current message that have not arrived yet. */
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
