import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WebhookCreate } from '../../../../../src/contract/webhooks.ts';
import { openStore, type StoreOptions } from '../../../../../src/server/app/create-store.ts';
import type { Store } from '../../../../../src/server/app/store.ts';
import { type AppendEventsDeps, appendEvents } from '../../../../../src/server/events/append-events.ts';
import type { DomainEvent } from '../../../../../src/server/events/event-payload.ts';
import { startFanOut } from '../../../../../src/server/events/fan-out.ts';
import { type Clock, systemClock, systemIds } from '../../../../../src/server/platform/clock.ts';
import { ROOT_CALLER } from '../../../../../src/server/platform/http/route.ts';
import { createSecretBox } from '../../../../../src/server/platform/secrets/encryption-keys.ts';
import {
  type ClosableDispatcher,
  startDeliveryDispatcher,
} from '../../../../../src/server/webhooks/dispatcher/delivery-dispatcher.ts';
import { NO_DISPATCHER } from '../../../../../src/server/webhooks/dispatcher/dispatcher.ts';
import { createAddressGuard } from '../../../../../src/server/webhooks/sender/address-guard.ts';
import type { WebhookSender } from '../../../../../src/server/webhooks/sender/sender.ts';
import { createWebhookSender } from '../../../../../src/server/webhooks/sender/webhook-sender.ts';
import { createWebhook, type WebhookDeps } from '../../../../../src/server/webhooks/webhooks.ts';
import { collectingLog, type LogLine } from '../../../../support/app.ts';
import { NO_KEY_LIMITS } from '../../../../support/no-key-limits.ts';

/** A store on its own database, with as many dispatchers as the test needs. */
export type Stage = {
  readonly store: Store;
  readonly logLines: readonly LogLine[];
  readonly webhookDeps: Omit<WebhookDeps, 'dispatcher'>;
  readonly webhook: (url: string, options?: Omit<WebhookCreate, 'url'>) => Promise<string>;
  /** Starts an instance with the real sender, or with the test's sender. */
  readonly instance: (options?: InstanceOptions) => Instance;
  /** Stores events over its own connection, like a process without a dispatcher, for example a worker. */
  readonly appendElsewhere: (...names: readonly string[]) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type InstanceOptions = {
  readonly sender?: WebhookSender;
  readonly timeoutMs?: number;
  /** Wraps the store, to cause faults. */
  readonly deliveries?: (deliveries: Store['deliveries']) => Store['deliveries'];
};

export type Instance = {
  readonly id: string;
  readonly dispatcher: ClosableDispatcher;
  /** Stores events in one transaction, like an instance that received them. */
  readonly append: (...names: readonly string[]) => Promise<void>;
  /** Stores events of one session of a room, in which they have sequence numbers. */
  readonly appendTo: (roomSid: string, ...names: readonly string[]) => Promise<void>;
};

export type StageOptions = {
  readonly database?: StoreOptions['database'];
  readonly clock?: Clock;
};

export async function openStage({ database, clock = systemClock }: StageOptions = {}): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-stage-'));
  const logLines: LogLine[] = [];
  const log = collectingLog(logLines);
  const place = database ?? { sqlitePath: join(folder, 'store.sqlite') };
  const store = await openStore({ database: place, clock: systemClock, log });
  const addressGuard = createAddressGuard(['127.0.0.0/8']);
  const secretBox = createSecretBox([randomBytes(32)]);
  const deps = {
    ...{ store, clock, log, secretBox, addressGuard, ids: systemIds, randomBytes },
    maxWebhooks: 10_000,
    keyLimits: NO_KEY_LIMITS,
  };
  const instances: ClosableDispatcher[] = [];
  const senders: WebhookSender[] = [];
  const fanOuts: ReturnType<typeof startFanOut>[] = [];
  return {
    store,
    logLines,
    webhookDeps: deps,
    webhook: async (url, options) => (await createWebhook(deps, ROOT_CALLER, { url, ...options })).id,
    instance: (options = {}) => {
      const { timeoutMs } = options;
      const sender =
        options.sender ??
        createWebhookSender({
          guard: addressGuard,
          userAgent: 'test',
          ...(timeoutMs === undefined ? {} : { timeoutMs }),
        });
      const instanceId = systemIds.next();
      const dispatcher = startDeliveryDispatcher({
        ...deps,
        instanceId,
        sender,
        changes: store.changes,
        webhooks: store.webhooks,
        deliveries: options.deliveries?.(store.deliveries) ?? store.deliveries,
        fileUrls: { findUrl: async () => undefined },
      });
      instances.push(dispatcher);
      senders.push(sender);
      const appendDeps = { ...deps, instanceId, dispatcher };
      fanOuts.push(startFanOut({ ...appendDeps, changes: store.changes }));
      return {
        id: instanceId,
        dispatcher,
        append: (...names) => appendNamed(appendDeps, names),
        appendTo: (roomSid, ...names) => appendToRoom(appendDeps, roomSid, names),
      };
    },
    appendElsewhere: async (...names) => {
      const other = await openStore({ database: place, clock: systemClock, log });
      await appendNamed({ ...deps, store: other, dispatcher: NO_DISPATCHER }, names);
      await other.close();
    },
    close: async () => {
      await Promise.all(fanOuts.map((fanOut) => fanOut.close()));
      await Promise.all(instances.map((dispatcher) => dispatcher.close().catch(() => {})));
      await Promise.all(senders.map((sender) => sender.close()));
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function appendNamed(deps: AppendEventsDeps, names: readonly string[]): Promise<void> {
  await appendEvents(deps, async (_store, appender) => {
    const scope = { session: undefined, roomName: 'a room', present: 0 };
    await appender.append(scope, domainEvents(deps, names));
  });
}

async function appendToRoom(deps: AppendEventsDeps, sid: string, names: readonly string[]): Promise<void> {
  const opened = { createdAt: deps.clock.now(), startedAt: null, endedAt: null, metadata: null };
  await appendEvents(deps, async ({ presence }, appender) => {
    const session = (await presence.lockRoom(sid)) ?? { sid, name: sid, ...opened, sequence: 0 };
    const scope = { session, roomName: sid, present: 0 };
    const updated = await appender.append(scope, domainEvents(deps, names));
    if (updated !== undefined) await presence.saveRoom(updated);
  });
}

function domainEvents({ clock }: AppendEventsDeps, names: readonly string[]): readonly DomainEvent[] {
  return names.map((name) => ({
    type: 'room_finished',
    sourceId: name,
    occurredAt: clock.now(),
    subject: {},
    isReconciled: false,
  }));
}
