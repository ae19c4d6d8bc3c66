import { ServiceError } from '../../contract/errors.ts';
import type { Clock } from '../platform/clock.ts';
import type { Egress, MediaServer } from '../platform/livekit/media-server.ts';
import type { Recording, RecordingEnd, RecordingFacts, RecordingStores } from './store.ts';

/*
 * What the media server knows of a recording, brought into its row. A dead recorder leaves its egress ACTIVE for
 * ever; what gives it away is that the recorder, a participant whose identity is the egress id, is gone from the
 * room. A recorder that is still on its way in is given time.
 */
const RECORDER_JOIN_MS = 60_000;

const END_OF_STATUS: Readonly<Partial<Record<Egress['status'], RecordingEnd['status']>>> = {
  EGRESS_COMPLETE: 'stopped',
  EGRESS_LIMIT_REACHED: 'stopped',
  EGRESS_ABORTED: 'aborted',
  EGRESS_FAILED: 'failed',
};

export type SettleDeps = {
  readonly store: Pick<RecordingStores, 'recordings'>;
  readonly clock: Clock;
  readonly mediaServer: MediaServer;
  /** Told of an end that we found by ourselves; the media server's own event may never come. */
  readonly onEnded?: ((end: FoundEnd) => Promise<void>) | undefined;
};

export type FoundEnd = {
  readonly recording: Recording;
  readonly status: RecordingEnd['status'];
  readonly error: string | undefined;
  readonly file: { readonly sizeBytes: number; readonly durationMs: number | undefined } | undefined;
};

/**
 * Whether the recording of an active row still runs; ends the row when it does not. A recorder that is not in the
 * room counts as lost once the recording is older than `joinMs`.
 */
export async function isStillRecording(
  deps: SettleDeps,
  recording: Recording,
  joinMs = RECORDER_JOIN_MS,
): Promise<boolean> {
  if (recording.egressId === null) return false;
  const [egress] = await deps.mediaServer.listEgress({ egressId: recording.egressId });
  if (egress === undefined) {
    await failRecording(deps, recording, 'the media server no longer knows this recording');
    return false;
  }
  if (isOver(egress)) {
    await settleEgress(deps, recording, egress);
    return false;
  }
  if (egress.status === 'EGRESS_ENDING') {
    // Its event comes when the file is complete.
    await deps.store.recordings.end(recording.id, { status: 'stopped', stoppedAt: deps.clock.now() });
    return false;
  }
  if (await isRecorderLost(deps, recording, joinMs)) {
    await failRecording(deps, recording, 'the recorder was lost');
    return false;
  }
  return true;
}

/** Whether its recorder may still be starting: a browser, which takes its time on a busy machine. */
export function mayBeStarting(deps: SettleDeps, recording: Recording, egress: Egress): boolean {
  return egress.status === 'EGRESS_STARTING' && isYoungerThan(deps, recording, RECORDER_JOIN_MS);
}

/** What a recording becomes when its egress is over; undefined while it is not. */
export function endStatusOf(status: Egress['status']): RecordingEnd['status'] | undefined {
  return END_OF_STATUS[status];
}

export function isOver(egress: Egress): boolean {
  return endStatusOf(egress.status) !== undefined;
}

/** Whether the row is the room's lock: its recording runs, or is being started. */
export function isActive({ status }: Recording): boolean {
  return status === 'recording' || status === 'starting';
}

/** The media server's webhooks come within a second; its retries end after 15 s. */
export const TOLD_WITHIN_MS = 20_000;

/** An end so recent that the media server's own event is surely on its way: nobody has to find it. */
function isToldSoon(egress: Egress, now: number): boolean {
  return egress.endedAt !== undefined && Math.abs(now - egress.endedAt) < TOLD_WITHIN_MS;
}

/** What an egress that is over says of its recording. */
function factsOf(egress: Egress, now: number): RecordingFacts {
  const { file } = egress;
  return {
    status: endStatusOf(egress.status),
    endedAt: egress.endedAt ?? now,
    error: egress.error === '' ? undefined : egress.error,
    sizeBytes: file?.sizeBytes,
    // Counted in nanoseconds there, in whole milliseconds here.
    durationMs: file && Math.round(file.durationMs),
  };
}

/**
 * Ends the row if it is active, and keeps what is known of an egress that is over: file, duration, error. Of a recent
 * end the media server's own event tells; told by us, it would count as one that was missed. Where that event never
 * comes, tellMissedEnds finds the row.
 */
export async function settleEgress(deps: SettleDeps, recording: Recording, egress: Egress): Promise<void> {
  const status = endStatusOf(egress.status);
  if (status === undefined) return;
  const now = deps.clock.now();
  const facts = factsOf(egress, now);
  const { error, sizeBytes, durationMs } = facts;
  await deps.store.recordings.end(recording.id, { status, error, stoppedAt: facts.endedAt ?? now });
  await deps.store.recordings.complete(recording.id, facts);
  if (isToldSoon(egress, now)) return;
  const file = sizeBytes === undefined ? undefined : { sizeBytes, durationMs };
  await deps.onEnded?.({ recording, status, error, file });
}

async function isRecorderLost(deps: SettleDeps, recording: Recording, joinMs: number): Promise<boolean> {
  if (isYoungerThan(deps, recording, joinMs)) return false;
  return !(await hasRecorder(deps.mediaServer, recording));
}

function isYoungerThan({ clock }: SettleDeps, { startedAt, createdAt }: Recording, ms: number): boolean {
  return clock.now() - (startedAt ?? createdAt) < ms;
}

/** Whether its recorder is in the room, or was until a moment ago. */
export async function hasRecorder(mediaServer: MediaServer, recording: Recording): Promise<boolean> {
  try {
    await mediaServer.getParticipant(recording.room, recording.egressId ?? '');
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'participant-not-found') return false;
    throw error;
  }
}

async function failRecording(deps: SettleDeps, recording: Recording, error: string): Promise<void> {
  const now = deps.clock.now();
  await deps.store.recordings.end(recording.id, { status: 'failed', stoppedAt: now, error });
  await deps.store.recordings.complete(recording.id, { endedAt: now });
  await deps.onEnded?.({ recording, status: 'failed', error, file: undefined });
}
