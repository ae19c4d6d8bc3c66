import { openStore } from '../../../src/server/app/create-store.ts';
import type { Store } from '../../../src/server/app/store.ts';
import type { Log } from '../../../src/server/platform/log.ts';
import { systemClock, systemIds } from '../../../src/server/platform/system.ts';
import type { Database } from '../webhooks/stage.ts';

/* The service's store without a service, and what the benches put into it. */

export const WEBHOOK_ID = 'whk_bench';

const log: Log = { debug() {}, info() {}, warn: console.warn, error: console.error };

export function openBenchStore({ options }: Database): Promise<Store> {
  return openStore({ database: options, clock: systemClock, log });
}

export async function registerWebhook({ webhooks }: Store): Promise<void> {
  await webhooks.insert({
    ...{
      id: WEBHOOK_ID,
      url: 'https://receiver.example',
      events: ['*'],
      ordering: 'none',
      createdBy: 'root',
    },
    ...{ secret: 'sealed', previousSecret: null, previousSecretUntil: null },
    ...{ createdAt: 1, updatedAt: 1 },
  });
}

export function newEvent() {
  const id = systemIds.next();
  const now = Date.now();
  const participant = { sid: 'PA_4bPp8Vi9S6Dd', identity: 'ada', name: 'Ada Lovelace' };
  const room = { id: 'RM_hycBMAjmt6Ub', name: 'demo', numParticipants: 3 };
  return {
    ...{ id: `evt_${id}`, sourceId: `EV_${id}`, type: 'participant_joined', room: 'demo', roomSid: room.id },
    ...{
      sequence: 1,
      payload: JSON.stringify({ timestamp: new Date(now).toISOString(), room, participant }),
    },
    ...{ occurredAt: now, createdAt: now, traceparent: null },
  };
}

export function newDelivery(eventId: string) {
  const now = Date.now();
  return {
    ...{ id: `dlv_${systemIds.next()}`, webhookId: WEBHOOK_ID, eventId, eventName: 'participant_joined' },
    ...{ dueAt: now, createdAt: now, leaseOwner: 'bench', leaseUntil: now + 15_000 },
    ...{ orderingKey: null, sequence: null },
  };
}
