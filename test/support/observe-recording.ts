import type { Store } from '../../src/server/app/store.ts';
import type { Observation } from '../../src/server/recordings/lifecycle.ts';
import { applyObservation } from '../../src/server/recordings/recording-events.ts';

/** Applies an observation to a recording, as the service does. Resolves to whether its row changed. */
export async function observeRecording(
  store: Pick<Store, 'recordings'>,
  id: string,
  observation: Observation,
): Promise<boolean> {
  const recording = await store.recordings.find(id);
  if (recording === undefined) return false;
  return (await applyObservation({ store }, recording, observation)).hasChanged;
}
