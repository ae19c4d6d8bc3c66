import { ServiceError } from '../../contract/errors.ts';
import { Batcher } from '../platform/jobs/batcher.ts';
import type { MediaEvent } from '../platform/livekit/media-event.ts';

/** Under heavy load a durable commit costs more than the events in it. Usual traffic never reaches this number. */
export const MAX_EVENTS_PER_COMMIT = 250;

export type EventRecorder = {
  /** Stores events, except those of rooms that another instance is working on, and returns those exceptions. */
  readonly recordFree: (events: readonly MediaEvent[]) => Promise<readonly MediaEvent[]>;
  /** Stores all of the events, and waits for the locks of their rooms. */
  readonly record: (events: readonly MediaEvent[]) => Promise<void>;
};

export type EventBatcher = {
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
    splitsAfter: (error: unknown) => !(error instanceof ServiceError && error.code === 'storage-unavailable'),
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
