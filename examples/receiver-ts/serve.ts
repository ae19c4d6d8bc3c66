import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import type { Delivery } from './verify.ts';

/** What every event has; see docs/webhooks.md for the rest. */
export type RoomEvent = {
  readonly event: string;
  readonly id: string;
  readonly timestamp: string;
  readonly room: { readonly name: string } | null;
};

export type Receiver = {
  readonly isGenuine: (delivery: Delivery) => boolean;
  /** Called once for each event. What it throws is answered 500, so that the event comes again. */
  readonly handle: (event: RoomEvent) => void;
};

/** Deliveries of the service are far smaller. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Settings: PORT (default 4000), HOST, and HANDLED_FILE, where the ids of handled events are kept: a file of its own for
 * each receiver, as what one has handled another has not.
 */
export function serve(receiver: Receiver): void {
  const { PORT = '4000', HOST = '127.0.0.1', HANDLED_FILE = `handled-${PORT}.sqlite` } = process.env;
  const once = openOnce(HANDLED_FILE);
  const server = createServer((request, response) => {
    receive(request, receiver, once).then(
      (status) => finish(response, status),
      (error) => {
        console.error(error);
        finish(response, 500);
      },
    );
  });
  server.listen(Number(PORT), HOST, () => {
    const { port } = server.address() as AddressInfo;
    console.log(`Listening on http://${HOST}:${port}`);
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => server.close());
}

/** The status to answer: 2xx means that the event is handled for good, anything else that it must come again. */
async function receive(
  request: IncomingMessage,
  { isGenuine, handle }: Receiver,
  once: Once,
): Promise<number> {
  if (request.method !== 'POST') return 405;
  const body = await readBody(request);
  if (body === undefined) return 413;
  if (!isGenuine({ body, headers: request.headers })) return 401;
  const event = JSON.parse(body.toString('utf8')) as RoomEvent;
  once(event.id, () => handle(event));
  return 204;
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function finish(response: ServerResponse, status: number): void {
  if (status === 413) response.setHeader('connection', 'close');
  response.writeHead(status).end();
}

type Once = (id: string, act: () => void) => void;

/**
 * Deliveries come at least once: an answer that is lost on its way brings the event again, with the same id. The id is
 * kept in the transaction in which the event is handled, so that neither is there without the other. A service of
 * your own keeps it in the database in which it keeps the effect.
 */
function openOnce(file: string): Once {
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE IF NOT EXISTS handled (id TEXT PRIMARY KEY, at TEXT NOT NULL) STRICT');
  const insert = database.prepare('INSERT OR IGNORE INTO handled (id, at) VALUES (?, ?)');
  return (id, act) => {
    database.exec('BEGIN IMMEDIATE');
    try {
      if (insert.run(id, new Date().toISOString()).changes === 1) act();
      database.exec('COMMIT');
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  };
}
