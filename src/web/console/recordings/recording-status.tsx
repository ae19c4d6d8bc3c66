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

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** `7.3 MB`. */
export function describeBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1);
  const value = bytes / 1000 ** power;
  return `${value >= 100 || power === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}

/** The path under which the command line serves the file of a recording. */
export function filePath(recordingId: string): string {
  return `/api/v1/recordings/${encodeURIComponent(recordingId)}/file`;
}
