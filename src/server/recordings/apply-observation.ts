import { ServiceError } from '../../contract/errors.ts';
import { type EndEvent, nextState, type Observation } from './lifecycle.ts';
import type { Recording, RecordingStores } from './store.ts';

export type RecordingEnd = EndEvent & { readonly recording: Recording };

export type ApplyDeps = {
  readonly store: Pick<RecordingStores, 'recordings'>;
  /** Publishes an end that the media server's own event may never report. */
  readonly publishEnd?: ((end: RecordingEnd) => Promise<void>) | undefined;
  /** Cleans up after a recording that has no file and will get none. */
  readonly releaseFolder?: ((recording: Recording) => void) | undefined;
};

export type Applied = {
  /** The row as it is now; undefined when it is gone. */
  readonly recording: Recording | undefined;
  readonly hasChanged: boolean;
};

/** Attempts at a row that other instances change at the same time. */
const ROUNDS = 5;

/**
 * The one writer of a recording's state. Where another instance changed the row meanwhile, the observation is applied
 * to what that one wrote.
 */
export async function applyObservation(
  deps: ApplyDeps,
  recording: Recording,
  observation: Observation,
): Promise<Applied> {
  const { recordings } = deps.store;
  let current = recording;
  for (let round = 0; round < ROUNDS; round += 1) {
    const { change, event } = nextState(current, observation);
    if (change === undefined) return { recording: current, hasChanged: false };
    if (change === 'delete') {
      if (await recordings.release(current)) {
        deps.releaseFolder?.(current);
        return { recording: undefined, hasChanged: true };
      }
    } else {
      const updated = await recordings.update(current, change);
      if (updated !== undefined) {
        if (hasEndedWithoutFile(updated)) deps.releaseFolder?.(updated);
        if (event !== undefined) await deps.publishEnd?.({ recording: updated, ...event });
        return { recording: updated, hasChanged: true };
      }
    }
    const reloaded = await recordings.find(recording.id);
    if (reloaded === undefined) return { recording: undefined, hasChanged: false };
    current = reloaded;
  }
  throw new ServiceError('storage-unavailable', 'The recording keeps changing; try again.', {
    retryable: true,
  });
}

/** The egress of a start that was given up may still come. */
function hasEndedWithoutFile({ status, egressId, sizeBytes }: Recording): boolean {
  return egressId !== null && sizeBytes === null && (status === 'failed' || status === 'aborted');
}
