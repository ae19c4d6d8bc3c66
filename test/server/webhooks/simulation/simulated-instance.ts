import type { WebhookOrdering } from '../../../../src/contract/webhooks.ts';
import { dispatchJobs, planDeliveries } from '../../../../src/server/events/plan-deliveries.ts';
import type { NewEvent } from '../../../../src/server/events/store.ts';
import { createSecretBox } from '../../../../src/server/platform/secrets/encryption-keys.ts';
import {
  type ClosableDispatcher,
  startDeliveryDispatcher,
} from '../../../../src/server/webhooks/dispatcher/delivery-dispatcher.ts';
import type { Webhook } from '../../../../src/server/webhooks/store.ts';
import type { Schedule } from '../../../support/simulation/schedule.ts';
import type { SimulatedDeliveries } from './simulated-deliveries.ts';
import type { SimulatedReceivers } from './simulated-receivers.ts';

export const NOW = 1_700_000_000_000;

export type World = {
  readonly schedule: Schedule;
  readonly deliveries: SimulatedDeliveries;
  readonly receivers: SimulatedReceivers;
  readonly webhooks: readonly Webhook[];
};

export type Instance = {
  readonly name: string;
  readonly dispatcher: ClosableDispatcher;
  isClosed: boolean;
  readonly append: (event: NewEvent) => void;
  /** Resolves when every event that it appends is stored, or is known not to be. */
  readonly appended: () => Promise<unknown>;
};

/** The real dispatcher of one instance on the simulated parts. Its clock is off by `offsetMs`. */
export function createInstance(
  name: string,
  { schedule, deliveries, receivers, webhooks }: World,
  offsetMs: number,
): Instance {
  const clock = schedule.createClock(name, offsetMs);
  const ignore = (): void => {};
  let ids = 0;
  const nextId = (): string => {
    ids += 1;
    return `${name}-${ids}`;
  };
  const dispatcher = startDeliveryDispatcher({
    clock,
    timer: clock,
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    instanceId: name,
    deliveries: deliveries.createStore(name),
    webhooks: {
      find: async (id) => {
        await schedule.turn(name);
        return webhooks.find((webhook) => webhook.id === id);
      },
    },
    changes: {
      subscribe: (_topic, listener) => deliveries.subscribe(name, listener),
    },
    sender: receivers.createSender(name),
    secretBox: { ...createSecretBox([Buffer.alloc(32)]), open: () => SECRET },
    fileUrls: { findUrl: async () => undefined },
  });
  const append = async (event: NewEvent): Promise<void> => {
    const planDeps = { ids: { next: nextId }, clock, dispatcher, instanceId: name };
    const { jobs } = planDeliveries(planDeps, webhooks, [{ event, after: undefined }]);
    dispatchJobs(dispatcher, jobs, await deliveries.insert(name, event, jobs));
  };
  const appending: Promise<void>[] = [];
  return {
    name,
    dispatcher,
    isClosed: false,
    append: (event) => void appending.push(append(event).catch(ignore)),
    appended: () => Promise.all(appending),
  };
}

const SECRET = 'whsec_c2ltdWxhdGVkIHNlY3JldCBvZiB0aGUgdGVzdHM=';

export function pickWebhook(number: number, ordering: WebhookOrdering): Webhook {
  const id = `wh-${number}`;
  return {
    id,
    url: `https://receiver.example/${id}`,
    events: ['*'],
    secret: id,
    previousSecret: null,
    previousSecretUntil: null,
    ordering,
    createdBy: 'root',
    rooms: null,
    pausedAt: null,
    createdAt: NOW + number,
    updatedAt: NOW,
  };
}

type EventTime = { readonly isFirst: boolean; readonly now: number };

export function makeEvent(number: number, roomSid: string, { isFirst, now }: EventTime): NewEvent {
  return {
    id: `evt-${number}`,
    sourceId: `source-${number}`,
    type: isFirst ? 'room_started' : 'participant_joined',
    room: roomSid,
    roomSid,
    sequence: number,
    payload: '{"id":"x"}',
    occurredAt: now,
    createdAt: now,
    traceparent: null,
  };
}
