import { createHash, createHmac } from 'node:crypto';
import {
  type EgressInfo,
  type IngressInfo,
  ParticipantInfo,
  Room,
  type TrackInfo,
  type WebhookConfig,
  WebhookEvent,
} from '@livekit/protocol';
import type { SimulatorContext } from './settings.ts';

/** The events of the media server, named as in LiveKit's webhooks. */
export type MediaEvent =
  | { readonly event: 'room_started' | 'room_finished'; readonly room: Room }
  | {
      readonly event: 'participant_joined' | 'participant_left';
      readonly room: Room;
      readonly participant: ParticipantInfo;
    }
  | {
      readonly event: 'track_published' | 'track_unpublished';
      readonly room: Room;
      readonly participant: ParticipantInfo;
      readonly track: TrackInfo;
    }
  | {
      readonly event: 'egress_started' | 'egress_updated' | 'egress_ended';
      readonly egressInfo: EgressInfo;
    }
  | { readonly event: 'ingress_started' | 'ingress_ended'; readonly ingressInfo: IngressInfo };

type EventListener = (event: MediaEvent) => void;

/** Calls its listeners synchronously, in the order of their subscription. Listeners must copy what they keep. */
export type EventStream = {
  readonly emit: EventListener;
  readonly subscribe: (listener: EventListener) => void;
};

export function createEventStream(): EventStream {
  const listeners: EventListener[] = [];
  return {
    emit: (event) => {
      for (const listener of listeners) listener(event);
    },
    subscribe: (listener) => {
      listeners.push(listener);
    },
  };
}

/*
 * Sends LiveKit's webhooks, https://docs.livekit.io/home/server/webhooks/. Each receiver has one queue per subject (egress,
 * ingress or room), which keeps the order and is independent of the other queues. A delivery is tried again after 1, 2, 4
 * and 8 s on a broken connection, 429, or 5xx other than 501, with the same body and signature; any other response counts as
 * delivered. A delivery that waited longer than 30 s, or behind 200 others, is dropped. The queues are lost in a restart.
 */
const MAX_AGE_MS = 30_000;
const MAX_DEPTH = 200;
const RETRY_WAITS_MS = [1_000, 2_000, 4_000, 8_000];
const TOKEN_TTL_SECONDS = 300;

type WebhookSettings = {
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly urls: readonly string[];
  readonly tokenTime: () => number;
};

type Webhooks = {
  readonly notify: (event: MediaEvent) => void;
  /** Resolves when every queue is empty. */
  readonly settled: () => Promise<void>;
};

type Queue = { tail: Promise<void>; depth: number };

export function createWebhooks(context: SimulatorContext, settings: WebhookSettings): Webhooks {
  const queues = new Map<string, Queue>();

  const enqueue = (url: string, subject: string, body: string) => {
    const key = `${url} ${subject}`;
    const queue = queues.get(key) ?? { tail: Promise.resolve(), depth: 0 };
    queues.set(key, queue);
    if (queue.depth >= MAX_DEPTH) return logDropped(context, 'depth');
    queue.depth += 1;
    const queuedAt = context.clock.now();
    queue.tail = queue.tail.then(async () => {
      if (!context.closing.aborted) await deliver(context, settings, { url, body, queuedAt });
      queue.depth -= 1;
      if (queue.depth === 0) queues.delete(key);
    });
  };

  return {
    notify: (event) => {
      const id = `EV_${context.ids.next()}`;
      const body = toMessage(event, id, context.clock.now()).toJsonString();
      for (const url of settings.urls) enqueue(url, toSubject(event), body);
      for (const webhook of requestWebhooks(event)) {
        // An egress names a signing key, and the simulator has the secret of its own key only.
        if (webhook.signingKey !== '' && webhook.signingKey !== settings.apiKey) {
          context.log?.warn({ event: event.event }, 'webhook names an unknown signing key');
          continue;
        }
        enqueue(webhook.url, toSubject(event), body);
      }
    },
    settled: async () => {
      while (queues.size > 0) await Promise.all([...queues.values()].map(({ tail }) => tail));
    },
  };
}

type Delivery = { readonly url: string; readonly body: string; readonly queuedAt: number };

async function deliver(
  context: SimulatorContext,
  settings: WebhookSettings,
  delivery: Delivery,
): Promise<void> {
  const { clock, closing } = context;
  if (clock.now() - delivery.queuedAt > MAX_AGE_MS) return logDropped(context, 'age');
  const headers = {
    'content-type': 'application/webhook+json',
    authorization: signBody(delivery.body, settings),
  };
  const request = { method: 'POST', headers, body: delivery.body, signal: closing };
  for (const waitMs of [...RETRY_WAITS_MS, undefined]) {
    const delivered = await fetch(delivery.url, request).then(isFinal, () => false);
    if (delivered || closing.aborted) return;
    if (waitMs === undefined) return logDropped(context, 'attempts');
    await clock.sleep(waitMs, closing).catch(() => undefined);
    if (closing.aborted) return;
  }
}

async function isFinal(response: Response): Promise<boolean> {
  await response.body?.cancel();
  return response.status !== 429 && (response.status < 500 || response.status === 501);
}

function logDropped({ log }: SimulatorContext, reason: 'age' | 'depth' | 'attempts'): void {
  log?.warn({ reason }, 'webhook dropped');
}

/** Returns a JWT (sent without Bearer) whose `sha256` is the hash of the body in base64. */
function signBody(body: string, { apiKey, apiSecret, tokenTime }: WebhookSettings): string {
  const now = Math.floor(tokenTime() / 1000);
  const claims = {
    iss: apiKey,
    exp: now + TOKEN_TTL_SECONDS,
    nbf: now,
    iat: now,
    sha256: createHash('sha256').update(body).digest('base64'),
  };
  const signed = [{ alg: 'HS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${createHmac('sha256', apiSecret).update(signed).digest('base64url')}`;
}

function toMessage(event: MediaEvent, id: string, now: number): WebhookEvent {
  return new WebhookEvent({ id, createdAt: BigInt(Math.floor(now / 1000)), ...withShortForms(event) });
}

/** Track events carry only the names and sids of their room and participant. */
function withShortForms(event: MediaEvent): MediaEvent {
  if (event.event !== 'track_published' && event.event !== 'track_unpublished') return event;
  return {
    ...event,
    room: new Room({ sid: event.room.sid, name: event.room.name }),
    participant: new ParticipantInfo({ sid: event.participant.sid, identity: event.participant.identity }),
  };
}

function toSubject(event: MediaEvent): string {
  if ('egressInfo' in event) return event.egressInfo.egressId;
  if ('ingressInfo' in event) return event.ingressInfo.ingressId;
  return `room ${event.room.name}`;
}

function requestWebhooks(event: MediaEvent): readonly WebhookConfig[] {
  return 'egressInfo' in event ? readEgressWebhooks(event.egressInfo) : [];
}

function readEgressWebhooks({ request }: EgressInfo): readonly WebhookConfig[] {
  return request.case === 'roomComposite' ? request.value.webhooks : [];
}
