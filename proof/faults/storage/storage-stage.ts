import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fleet, FleetInstance } from '../../../test/server/webhooks/support/instance.ts';
import {
  type MediaKeys,
  mediaWebhook,
  roomFinished,
} from '../../../test/server/webhooks/support/media-webhook.ts';
import type { Random } from '../../../test/support/random.ts';
import type { ProofContext } from '../../part.ts';
import { callUntil, type Ledger, MEDIA_KEY, STORED_OPERATIONS } from '../../support/callers.ts';
import { type SignedClient, startService } from '../../support/signed-client.ts';
import { startWitness, type Witness } from '../chaos/witness.ts';
import { CHECK_FISCAL_CODE, keepWebhooks, WebhookBook } from './storage-operations.ts';

const STORED_CALLERS = 8;
const FREE_CALLERS = 2;
const PAUSE_MS = 40;
const WEBHOOKS = 2;

/** One instance of the service, callers, and a receiver of its webhooks. */
export type StorageStage = {
  readonly fleet: Fleet;
  readonly instance: FleetInstance;
  readonly client: SignedClient;
  readonly witness: Witness;
  readonly book: WebhookBook;
  /** Runs callers that need the database and callers that do not, until the signal. */
  readonly call: (signal: AbortSignal, name: string) => Promise<Calls>;
  /** Resolves to the milliseconds until the service accepts writes again. */
  readonly untilWritten: () => Promise<number>;
};

export type Calls = { readonly name: string; readonly stored: Ledger; readonly free: Ledger };

export async function startStorageStage(
  { cleanUp }: Pick<ProofContext, 'cleanUp'>,
  environment: Readonly<Record<string, string>>,
  random: Random,
): Promise<StorageStage> {
  const media: MediaKeys = { apiKey: MEDIA_KEY, apiSecret: randomBytes(24).toString('hex') };
  const mediaKeys = { LIVEKIT_API_KEY: media.apiKey, LIVEKIT_API_SECRET: media.apiSecret };
  const { fleet, instance, client } = await startService(
    { cleanUp },
    { environment: { ...mediaKeys, ...environment }, connections: STORED_CALLERS + FREE_CALLERS + 2 },
  );
  const witness = await startWitness({ fleet, instance, webhooks: WEBHOOKS });
  cleanUp(witness.close);
  const book = new WebhookBook();
  const shared = { outside: client, inside: client, random, pauseMs: PAUSE_MS, mediaSecret: media.apiSecret };
  return {
    ...{ fleet, instance, client, witness, book },
    call: async (signal, name) => {
      const prefix = name.replaceAll(/[^a-z0-9]+/g, '-');
      const operations = [...STORED_OPERATIONS, keepWebhooks(book)];
      const [stored, free] = await Promise.all([
        callUntil(signal, { ...shared, prefix, operations, callers: STORED_CALLERS }),
        callUntil(signal, { ...shared, prefix, operations: [CHECK_FISCAL_CODE], callers: FREE_CALLERS }),
      ]);
      return { name, stored, free };
    },
    untilWritten: () => untilWritten(client, media),
  };
}

const POLL_INTERVAL_MS = 50;

async function untilWritten(client: SignedClient, media: MediaKeys): Promise<number> {
  const startedAt = performance.now();
  for (let count = 0; ; count += 1) {
    const name = `look-${startedAt}-${count}`;
    const { status } = await client.post('/livekit/webhook', mediaWebhook(roomFinished(name), media));
    if (status === 200) return performance.now() - startedAt;
    await delay(POLL_INTERVAL_MS);
  }
}
