import type { Recording } from '../../../contract/recordings.ts';
import { Status, type Tone } from '../parts/status.tsx';

export const RECORDING_STATES: readonly Recording['status'][] = ['recording', 'stopped', 'aborted', 'failed'];

const TONES: Readonly<Record<Recording['status'], Tone>> = {
  recording: 'active',
  stopped: 'good',
  aborted: 'neutral',
  failed: 'bad',
};

export function RecordingStatus({ status }: Pick<Recording, 'status'>) {
  return <Status tone={TONES[status]}>{status}</Status>;
}
