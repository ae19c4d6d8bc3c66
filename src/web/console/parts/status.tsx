import type { ReactNode } from 'react';
import type { SessionStatus as StatusValue } from '../../../contract/choices.ts';
import type { Delivery } from '../../../contract/deliveries.ts';
import type { SessionTranscription } from '../../../contract/sessions.ts';
import type { PostTranscription } from '../../../contract/transcription.ts';
import type { Check } from '../api/console-calls.ts';

export type Tone = 'good' | 'bad' | 'warning' | 'active' | 'neutral';

export const CHECK_TONES: Readonly<Record<Check['status'], Tone>> = {
  ok: 'good',
  fault: 'bad',
  warning: 'warning',
  note: 'neutral',
  skipped: 'neutral',
};

/** A state: never by its colour alone. */
export function Status({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <span className={`status status-${tone}`}>
      <span className="dot" aria-hidden />
      {children}
    </span>
  );
}

export function SessionStatus({ status }: { readonly status: StatusValue }) {
  return <Status tone={status === 'open' ? 'good' : 'neutral'}>{status}</Status>;
}

const TRANSCRIPTION_TONES: Readonly<Record<SessionTranscription['status'], Tone>> = {
  active: 'active',
  stopped: 'neutral',
  queued: 'neutral',
  processing: 'warning',
  completed: 'good',
  failed: 'bad',
};

type TranscriptionProps = { readonly status: SessionTranscription['status']; readonly progress?: number };

/** The state of a live transcription, or of one of a recording. */
export function TranscriptionStatus({ status, progress }: TranscriptionProps) {
  return (
    <Status tone={TRANSCRIPTION_TONES[status]}>
      {status}
      {status === 'processing' && progress !== undefined && ` ${Math.round(progress * 100)} %`}
    </Status>
  );
}

/** Returns whether the transcription changes without an event. */
export function isUnderWay(transcription: Pick<PostTranscription, 'status'> | null | undefined): boolean {
  return transcription?.status === 'queued' || transcription?.status === 'processing';
}

const DELIVERY_TONES: Readonly<Record<Delivery['status'], Tone>> = {
  delivered: 'good',
  failed: 'bad',
  pending: 'warning',
  cancelled: 'neutral',
};

/** The state of a delivery, with the receiver's last response. */
export function DeliveryStatus({ delivery }: { readonly delivery: Delivery }) {
  const { status, attempts } = delivery;
  const statusCode = attempts.at(-1)?.statusCode;
  const isWaiting = status === 'pending' && attempts.length > 0;
  return (
    <Status tone={DELIVERY_TONES[status]}>
      {isWaiting ? 'waiting' : status}
      {typeof statusCode === 'number' && <span className="faint"> {statusCode}</span>}
    </Status>
  );
}
