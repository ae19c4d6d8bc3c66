import { ServiceError } from '../../contract/errors.ts';
import { type EndEvent, nextState, type Observation } from './lifecycle.ts';
import type { Recording, RecordingChange, RecordingStores } from './store.ts';

/** An end that this service must publish, with the change of the row that belongs to it. */
export type RecordingEnd = {
  /** The row as it was read. */
  readonly recording: Recording;
  readonly change: RecordingChange;
  readonly event: EndEvent;
};

export type ApplyDeps = {
  readonly store: Pick<RecordingStores, 'recordings'>;
  /**
   * Stores an end that the media server may never report, together with its event, in one transaction. Returns undefined,
   * like update, when the row has changed since it was read.
   */
  readonly storeEnd?: ((end: RecordingEnd) => Promise<Recording | undefined>) | undefined;
  /** Cleans up after a recording that has no file and will get none. */
  readonly releaseFolder?: ((recording: Recording) => void) | undefined;
};

export type Applied = {
  /** The current row; undefined when it was deleted. */
  readonly recording: Recording | undefined;
  readonly hasChanged: boolean;
};

/** Maximum attempts at a row that other instances change at the same time. */
const ROUNDS = 5;

/**
 * The only writer of a recording's state. When another instance has changed the row in the meantime, the observation is
 * applied to the changed row.
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
      const updated =
        event === undefined || deps.storeEnd === undefined
          ? await recordings.update(current, change)
          : await deps.storeEnd({ recording: current, change, event });
      if (updated !== undefined) {
        if (hasEndedWithoutFile(updated)) deps.releaseFolder?.(updated);
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

/** The egress of a start that was given up may still begin. */
function hasEndedWithoutFile({ status, egressId, sizeBytes }: Recording): boolean {
  return egressId !== null && sizeBytes === null && (status === 'failed' || status === 'aborted');
}
