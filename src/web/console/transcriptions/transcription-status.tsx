import type { PostTranscription } from '../../../contract/transcription.ts';
import { Status, type Tone } from '../parts/status.tsx';

const TONES: Readonly<Record<PostTranscription['status'], Tone>> = {
  queued: 'neutral',
  processing: 'warning',
  completed: 'good',
  failed: 'bad',
};

type Props = Pick<PostTranscription, 'status' | 'progress'>;

export function TranscriptionStatus({ status, progress }: Props) {
  return (
    <Status tone={TONES[status]}>
      {status}
      {status === 'processing' && ` ${Math.round(progress * 100)} %`}
    </Status>
  );
}

/** Whether the transcription changes without an event. */
export function isUnderWay(transcription: Pick<PostTranscription, 'status'> | null | undefined): boolean {
  return transcription?.status === 'queued' || transcription?.status === 'processing';
}
