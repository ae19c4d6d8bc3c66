import { Type } from 'typebox';
import { hasCode, ServiceError } from '../../contract/errors.ts';
import { isWaitingRoom } from '../../contract/names.ts';
import { removeUnplanned } from '../plans/follow-plan.ts';
import { receiveWaiting, type WaitingDeps } from '../plans/waiting.ts';
import type { Clock } from '../platform/clock.ts';
import { defineRoute, type Route } from '../platform/http/route.ts';
import { Batcher } from '../platform/jobs/batcher.ts';
import type { MediaClock } from '../platform/livekit/media-clock.ts';
import type { MediaEvent, MediaEventReader } from '../platform/livekit/media-event.ts';
import type { RejectedWebhooks } from '../platform/livekit/media-event-reader.ts';
import type { Tracing } from '../platform/tracing/tracing.ts';
import { type MeasureDeps, measureEgress } from '../recordings/measure-file.ts';
import type { RecorderWatch } from '../recordings/reconcile-recordings.ts';
import {
  type FindBlock,
  isBlockedJoin,
  type RemoveBlockedDeps,
  removeWhenBlocked,
} from '../rooms/blocks/blocks.ts';
import { type EnforceDeps, enforceEntry } from '../rooms/room-records.ts';
import { type RecordMediaDeps, recordMediaEvents } from './record-media-events.ts';

export type MediaEventDeps = {
  readonly mediaEventReader: MediaEventReader;
  readonly rejectedWebhooks: Pick<RejectedWebhooks, 'accept'>;
  readonly mediaClock: Pick<MediaClock, 'observeWebhook'>;
  /** Resolves when the event is durable. */
  readonly ingest: (event: MediaEvent) => Promise<void>;
};

/**
 * An event contains the metadata of the room and of a participant, 512 KiB each, which JSON may make six times as long. An
 * event that is refused for its size would be lost.
 */
const MAX_EVENT_BYTES = 8 * 1024 * 1024;

/** The fields that every event has. */
const MediaEventSchema = Type.Object(
  {
    event: Type.String({ description: "LiveKit's name of the event", examples: ['room_started'] }),
    id: Type.String({
      description: 'The same if LiveKit sends the event again',
      examples: ['EV_7vKYhSQX8wZp'],
    }),
    createdAt: Type.String({ description: 'Unix time in seconds', examples: ['1767225600'] }),
  },
  { description: 'A WebhookEvent of the LiveKit protocol, as ProtoJSON', additionalProperties: true },
);

/**
 * Receives the media server's own webhooks. The media server takes any response except 429 and 5xx for success. Therefore
 * the response for an event that could not be stored is 503, whatever the reason, so that it is sent again.
 */
export function mediaEventRoutes(deps: MediaEventDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/livekit/webhook',
      operationId: 'receiveMediaEvent',
      tag: 'events',
      summary: "Receive the media server's own webhooks",
      description:
        "Add this address to LiveKit's `webhook.urls`. The Authorization header carries LiveKit's JWT, which covers the body.",
      security: 'media-server',
      isInternal: true,
      // The URL in LiveKit's configuration may have one, such as a token for a proxy.
      query: Type.Object({}, { additionalProperties: true }),
      rawBody: { contentType: 'application/webhook+json', schema: MediaEventSchema },
      largeBodies: {
        limitBytes: MAX_EVENT_BYTES,
        allowLargeBody: ({ authorization }) => deps.mediaEventReader.isEventToken(authorization),
      },
      success: { 200: { description: 'The event is stored' } },
      errors: ['missing-credentials', 'invalid-request', 'storage-unavailable'],
      handle: async ({ raw }) => {
        const event = await deps.mediaEventReader.read(raw.body, raw.headers.authorization);
        deps.rejectedWebhooks.accept();
        deps.mediaClock.observeWebhook(event.createdAt);
        await deps.ingest(event).catch((cause: unknown) => {
          throw new ServiceError('storage-unavailable', 'The event could not be stored; send it again.', {
            cause,
            retryable: true,
          });
        });
        return { status: 200 };
      },
    }),
  ];
}

/** The events of the media server on their way into the database. */
type Ingest = {
  /** Resolves when the event is durable. */
  readonly ingest: (event: MediaEvent) => Promise<void>;
  /** Since when events have been refused that no comparison has published yet (Unix milliseconds). */
  readonly refusedSince: () => number | undefined;
  /** See EventIntake. */
  readonly clearRefusedBefore: (startedAt: number) => void;
};

type IngestDeps = RecordMediaDeps &
  WaitingDeps &
  MeasureDeps &
  RemoveBlockedDeps &
  EnforceDeps & {
    readonly findBlock: FindBlock;
    /** Called for each join of somebody who is blocked. */
    readonly onBlockedJoin?: (() => void) | undefined;
    readonly tracing?: Pick<Tracing, 'current'> | undefined;
    /** Takes work that continues after the response. */
    readonly background: (work: Promise<void>) => void;
    /** Called for each refused event. */
    readonly onRefused: () => void;
    readonly recorderWatch?: Pick<RecorderWatch, 'note'> | undefined;
  };

export function createIngest(deps: IngestDeps): Ingest {
  const batcher = createEventBatcher({
    recordFree: (events) => recordMediaEvents(deps, events, 'free'),
    record: async (events) => void (await recordMediaEvents(deps, events, 'all')),
  });
  const intake = new EventIntake({
    clock: deps.clock,
    record: async (event) => {
      if (isWaitingRoom(event.room?.name)) await receiveWaiting(deps, event);
      else await batcher.add(await measureRecording(deps, event));
    },
    onRefused: deps.onRefused,
  });
  return {
    ingest: async (received) => {
      // Read before any wait for a commit: it says where in its second the event lies.
      const event = { ...received, receivedAt: deps.clock.now() };
      if (isWaitingRoom(event.room?.name)) return await intake.ingest(event);
      // Both run at once, without waiting for the commit of the event.
      deps.background(removeWhenBlocked(deps, event));
      deps.background(enforceEntry(deps, event));
      deps.background(removeUnplanned(deps, event));
      // Events of several requests share a commit: each keeps its own trace.
      const traced = { ...event, traceparent: deps.tracing?.current() };
      await intake.ingest(await markBlocked(deps, traced));
      noteRecorder(deps, event);
    },
    refusedSince: () => intake.refusedSince,
    clearRefusedBefore: (startedAt) => intake.clearRefusedBefore(startedAt),
  };
}

function noteRecorder({ recorderWatch }: IngestDeps, { type, participant, egress }: MediaEvent): void {
  if (type === 'participant_left' && participant?.kind === 'EGRESS')
    recorderWatch?.note(participant.identity, 'left');
  if (egress?.streams.some(({ retries }) => retries > 0))
    recorderWatch?.note(egress.egressId, 'connects-again');
}

/** The presence of somebody who is blocked is stored, and no event reports it. */
async function markBlocked(deps: IngestDeps, event: MediaEvent): Promise<MediaEvent> {
  const isBlocked = isBlockedJoin(deps.findBlock, event);
  const { participant } = event;
  if (participant === undefined || !(isBlocked instanceof Promise ? await isBlocked : isBlocked))
    return event;
  deps.onBlockedJoin?.();
  return { ...event, participant: { ...participant, isBlocked: true } };
}

type EventIntakeDeps = {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Resolves when the event is durable. */
  readonly record: (event: MediaEvent) => Promise<void>;
  /** Called for each refused event. */
  readonly onRefused: () => void;
};

/**
 * Receives the media server's events, and remembers since when some were refused because they could not be stored. The
 * media server repeats a refused event for 15 s and then drops it.
 */
export class EventIntake {
  readonly #deps: EventIntakeDeps;
  #refusedSince: number | undefined;
  /** Monotonic milliseconds. */
  #lastRefusedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: EventIntakeDeps) {
    this.#deps = deps;
  }

  /** Since when events have been refused that no comparison has published yet (Unix milliseconds). */
  get refusedSince(): number | undefined {
    return this.#refusedSince;
  }

  async ingest(event: MediaEvent): Promise<void> {
    try {
      await this.#deps.record(event);
    } catch (error) {
      this.#lastRefusedAt = this.#deps.clock.monotonic();
      this.#refusedSince ??= this.#deps.clock.now();
      this.#deps.onRefused();
      throw error;
    }
  }

  /**
   * Called when a comparison with the media server that began at `startedAt` (monotonic clock) has published the events
   * that were refused before.
   */
  clearRefusedBefore(startedAt: number): void {
    if (startedAt >= this.#lastRefusedAt) this.#refusedSince = undefined;
  }
}

/**
 * Returns the event with the duration of the file, if it reports the end of a recording. The file is read before the
 * transaction begins.
 */
async function measureRecording(deps: IngestDeps, event: MediaEvent): Promise<MediaEvent> {
  const { egress, type } = event;
  if (type !== 'egress_ended' || egress?.file === undefined) return event;
  const recording = await deps.store.recordings.findByEgressId(egress.egressId);
  return recording === undefined ? event : { ...event, egress: await measureEgress(deps, recording, egress) };
}

/** Under heavy load a durable commit costs more than the events in it. Usual traffic never reaches this number. */
export const MAX_EVENTS_PER_COMMIT = 250;

type EventRecorder = {
  /** Stores events, and returns those that it leaves out: events of rooms that another instance is working on. */
  readonly recordFree: (events: readonly MediaEvent[]) => Promise<readonly MediaEvent[]>;
  /** Stores all of the events, and waits for the locks of their rooms. */
  readonly record: (events: readonly MediaEvent[]) => Promise<void>;
};

type EventBatcher = {
  /** Resolves when the event is durable. */
  readonly add: (event: MediaEvent) => Promise<void>;
};

type Entry = { readonly event: MediaEvent; isBusy: boolean };

/**
 * Events that arrive during a commit share the next one; each is acknowledged when it is durable. When a batch fails, each
 * of its events is tried alone, so that one cannot block the others. When the database does not respond the whole batch
 * fails at once: every try would wait as long, and the media server sends all of the events again.
 *
 * Events of rooms that another instance has locked, perhaps while it is suspended, wait for them in batches of their own, so
 * that other events do not wait with them.
 */
export function createEventBatcher({ recordFree, record }: EventRecorder): EventBatcher {
  const options = {
    maxSize: MAX_EVENTS_PER_COMMIT,
    splitsAfter: (error: unknown) => !hasCode(error, 'storage-unavailable'),
  };
  const free = new Batcher<Entry>({
    ...options,
    flush: async (entries) => {
      const busy = new Set(await recordFree(entries.map(({ event }) => event)));
      for (const entry of entries) entry.isBusy = busy.has(entry.event);
    },
  });
  const waiting = new Batcher<MediaEvent>({ ...options, flush: record });
  return {
    add: async (event) => {
      const entry: Entry = { event, isBusy: false };
      await free.add(entry);
      if (entry.isBusy) await waiting.add(event);
    },
  };
}
