import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type StoreOptions } from '../../../src/server/app/create-store.ts';
import { appendEvents } from '../../../src/server/events/append-events.ts';
import { startFanOut } from '../../../src/server/events/fan-out.ts';
import type { RoomSession } from '../../../src/server/events/store.ts';
import { systemClock, systemIds } from '../../../src/server/platform/clock.ts';
import { ROOT_CALLER } from '../../../src/server/platform/http/route.ts';
import type { Log } from '../../../src/server/platform/log.ts';
import {
  createSecretBox,
  ENCRYPTION_KEY_BYTES,
} from '../../../src/server/platform/secrets/encryption-keys.ts';
import { startDeliveryDispatcher } from '../../../src/server/webhooks/dispatcher/delivery-dispatcher.ts';
import { createAddressGuard } from '../../../src/server/webhooks/sender/address-guard.ts';
import type { WebhookRequest } from '../../../src/server/webhooks/sender/sender.ts';
import { createWebhookSender } from '../../../src/server/webhooks/sender/webhook-sender.ts';
import { createWebhook } from '../../../src/server/webhooks/webhooks.ts';
import { NO_KEY_LIMITS } from '../../../test/support/no-key-limits.ts';
import { createDatabase, startPostgres } from '../../../test/support/parts/postgres.ts';
import { openFiller } from '../../support/fill.ts';
import { sum } from '../../support/statistics.ts';
import type { BenchReceiver } from './receiver.ts';

export type Database = {
  readonly name: string;
  readonly options: StoreOptions['database'];
  /** Shared by everybody who opens the database, because one delivers what another one stored. */
  readonly encryptionKey: Buffer;
  readonly close: () => Promise<void>;
};

/** A database, and the receiver of the deliveries that are stored in it. */
export type Place = { readonly database: Database; readonly receiver: BenchReceiver };

export async function sqliteDatabase(): Promise<Database> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-bench-'));
  return {
    name: 'SQLite',
    options: { sqlitePath: join(folder, 'rtc.sqlite') },
    encryptionKey: randomBytes(ENCRYPTION_KEY_BYTES),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Creates a database on the server of DATABASE_URL, or on one that is started and whose commits wait for the disk. */
export async function postgresDatabase(): Promise<Database> {
  const given = process.env.DATABASE_URL;
  const cluster =
    given === undefined ? await startPostgres({ isDurable: true }) : { url: given, close: async () => {} };
  const database = await createDatabase(cluster);
  return {
    name: 'PostgreSQL',
    options: { databaseUrl: database.url },
    encryptionKey: randomBytes(ENCRYPTION_KEY_BYTES),
    close: async () => {
      await database.close();
      await cluster.close();
    },
  };
}

/** The size of a database: rows of all tables, and bytes with its indexes. */
export type Stored = { readonly rows: number; readonly bytes: number };

export async function measureStored({ options }: Database): Promise<Stored> {
  const filler = await openFiller(options);
  const rows: number[] = [];
  for (const { name } of await filler.listTables()) rows.push(await filler.count(name));
  const bytes = await filler.measureBytes();
  await filler.close();
  return { rows: sum(rows), bytes };
}

const USER_AGENT = 'rtc-service/bench';
const SESSION: RoomSession = {
  sid: 'RM_hycBMAjmt6Ub',
  name: 'demo',
  createdAt: Date.now(),
  startedAt: Date.now(),
  endedAt: null,
  sequence: 0,
  metadata: null,
};

const log: Log = { debug() {}, info() {}, warn: console.warn, error: console.error };

export type WebhookStage = Awaited<ReturnType<typeof openStage>>;

/** Opens a database with the webhook code of one instance: dispatcher, sender and outcome writer. */
export async function openStage({ name, options, encryptionKey }: Database) {
  const store = await openStore({ database: options, clock: systemClock, log });
  const guard = createAddressGuard(['127.0.0.0/8']);
  const sender = createWebhookSender({ guard, userAgent: USER_AGENT });
  let sample: WebhookRequest | undefined;
  const secretBox = createSecretBox([encryptionKey]);
  const deps = { store, log, secretBox, randomBytes, clock: systemClock, ids: systemIds };
  const instanceId = 'bench';
  const dispatcher = startDeliveryDispatcher({
    ...deps,
    instanceId,
    sender: {
      ...sender,
      send: (request) => {
        sample ??= request;
        return sender.send(request);
      },
    },
    deliveries: store.deliveries,
    changes: store.changes,
    webhooks: store.webhooks,
    fileUrls: { findUrl: async () => undefined },
  });
  const appendDeps = { ...deps, instanceId, dispatcher };
  const fanOut = startFanOut({ ...appendDeps, changes: store.changes });
  return {
    name,
    database: options,
    store,
    addWebhooks: async (url: string, count: number): Promise<readonly string[]> => {
      const ids: string[] = [];
      for (let index = 0; index < count; index += 1) {
        ids.push(
          (
            await createWebhook(
              { ...deps, addressGuard: guard, maxWebhooks: 100_000, keyLimits: NO_KEY_LIMITS },
              ROOT_CALLER,
              { url: `${url}/${index}` },
            )
          ).id,
        );
      }
      return ids;
    },
    /** Stores `count` events in one transaction, with their deliveries. */
    append: (count: number) =>
      appendEvents(appendDeps, async (_store, appender) => {
        const domainEvents = Array.from({ length: count }, () => domainEvent());
        await appender.append({ session: SESSION, roomName: SESSION.name, present: 0 }, domainEvents);
      }),
    /** Returns a delivery that was sent. */
    sample: (): WebhookRequest => {
      if (sample === undefined) throw new Error('nothing was delivered yet');
      return { ...sample, headers: { 'user-agent': USER_AGENT, ...sample.headers } };
    },
    close: async () => {
      await fanOut.close();
      await dispatcher.close();
      await sender.close();
      await store.close();
    },
  };
}

function domainEvent() {
  const sourceId = systemIds.next();
  const occurredAt = Date.now();
  const joinedAt = new Date(occurredAt).toISOString();
  return {
    type: 'participant_joined',
    sourceId,
    occurredAt,
    subject: { participant: { sid: 'PA_4bPp8Vi9S6Dd', identity: 'ada', name: 'Ada Lovelace', joinedAt } },
    isReconciled: false,
  } as const;
}
