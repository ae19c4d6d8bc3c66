import type { MediaEvent } from '../platform/livekit/media-event.ts';
import { type MeasureDeps, measureEgress } from '../recordings/measure-file.ts';
import type { RecordingStores } from '../recordings/store.ts';

type Deps = MeasureDeps & {
  readonly store: { readonly recordings: Pick<RecordingStores['recordings'], 'findByEgressId'> };
};

/**
 * Returns the event with the duration of the file, if it reports the end of a recording. The file is read before the
 * transaction begins.
 */
export async function measureRecording(deps: Deps, event: MediaEvent): Promise<MediaEvent> {
  const { egress, type } = event;
  if (type !== 'egress_ended' || egress?.file === undefined) return event;
  const recording = await deps.store.recordings.findByEgressId(egress.egressId);
  return recording === undefined ? event : { ...event, egress: await measureEgress(deps, recording, egress) };
}
