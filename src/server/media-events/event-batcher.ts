import { ServiceError } from '../../contract/errors.ts';
import { Batcher } from '../platform/jobs/batcher.ts';
import type { MediaEvent } from '../platform/livekit/media-event.ts';

/** In a flood a durable commit costs more than the events in it. Usual traffic never reaches this. */
export const MAX_EVENTS_PER_COMMIT = 250;

/**
 * Events that arrive while a commit is under way share the next one; each is acknowledged when it is durable. When a
 * batch fails, each of its events is tried alone, so that one cannot hold up the others. A store that is away fails
 * the whole batch at once: each try would wait as long, and the media server sends all of them again.
 */
export function createEventBatcher(
  store: (events: readonly MediaEvent[]) => Promise<void>,
): Batcher<MediaEvent> {
  return new Batcher({
    maxSize: MAX_EVENTS_PER_COMMIT,
    flush: store,
    splitsAfter: (error) => !(error instanceof ServiceError && error.code === 'storage-unavailable'),
  });
}
