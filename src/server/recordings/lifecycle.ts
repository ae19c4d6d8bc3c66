import { EVENT_ARRIVAL_MS } from '../platform/livekit/media-event.ts';
import type { Egress } from '../platform/livekit/media-server.ts';
import type { FileFacts } from './files/recording-files.ts';
import type { Recording, RecordingChange, RecordingState } from './store.ts';

/*
 * The life of a recording as a pure function of its row and one observation:
 *
 *                    egress-created               egress ENDING, stop-accepted
 *   (claim) starting ──────────────> recording ────────────────────────────────> stopped, endedAt null ("pending")
 *              │                         │                                            │
 *              │ start-refused: deleted  │ egress over, recorder-gone                 │ egress over, recorder-gone
 *              │ start-given-up: failed  └───────────────┬────────────────────────────┘
 *              v                                         v
 *            failed                     stopped, aborted or failed, endedAt set
 *
 * A state never goes back to `starting` or `recording`. A row that has ended still takes the facts of an egress that is
 * over: the file of a recording that was believed lost may come after all. store.ts says what each state means.
 */

export type Observation =
  /** The media server answered the start of the claim's owner with an egress. */
  | {
      readonly type: 'egress-created';
      readonly owner: string;
      readonly egressId: string;
      readonly at: number;
    }
  /** The start of the claim's owner failed, and nothing runs. */
  | { readonly type: 'start-refused'; readonly owner: string }
  /** The claim's owner gives up its start; an egress may still come. */
  | { readonly type: 'start-given-up'; readonly owner: string; readonly error: string; readonly at: number }
  /** Nothing runs of a start that was given up, and nothing can come any more. */
  | { readonly type: 'late-start-over' }
  /** The recorder was told to stop, or will be told as soon as it is up. */
  | { readonly type: 'stop-accepted'; readonly at: number }
  /** The egress as the media server shows it. */
  | { readonly type: 'egress'; readonly egress: Egress; readonly at: number }
  /** No end will ever be reported. `file` is what the storage has; it is looked for once the recording was stopped. */
  | {
      readonly type: 'recorder-gone';
      readonly reason: string;
      readonly file: FoundFile | undefined;
      readonly at: number;
    };

type FoundFile = FileFacts & { readonly durationMs?: number | undefined };

export type EndedState = Exclude<RecordingState, 'starting' | 'recording'>;

/** An end that has to be published by this service, because the media server's own event may never come. */
export type EndEvent = {
  readonly status: EndedState;
  readonly error: string | undefined;
  readonly file: { readonly sizeBytes: number; readonly durationMs: number | undefined } | undefined;
  /** Another end was published before, which was wrong. */
  readonly isCorrection?: true;
};

export type Transition = {
  /** `delete` removes the row; undefined leaves it as it is. */
  readonly change: RecordingChange | 'delete' | undefined;
  readonly event?: EndEvent;
};

const UNCHANGED: Transition = { change: undefined };
const NO_CLAIM = { claimOwner: null, claimUntil: null } as const;

export function nextState(recording: Recording, observation: Observation): Transition {
  switch (observation.type) {
    case 'egress-created': {
      const { owner, egressId, at } = observation;
      if (!holdsClaim(recording, owner)) return UNCHANGED;
      return { change: { status: 'recording', egressId, startedAt: at, ...NO_CLAIM } };
    }
    case 'start-refused':
      return holdsClaim(recording, observation.owner) ? { change: 'delete' } : UNCHANGED;
    case 'start-given-up': {
      const { owner, error, at } = observation;
      if (!holdsClaim(recording, owner)) return UNCHANGED;
      return { change: { status: 'failed', stoppedAt: at, error, ...NO_CLAIM } };
    }
    case 'late-start-over':
      return isLateStartPossible(recording) ? { change: { endedAt: recording.stoppedAt } } : UNCHANGED;
    case 'stop-accepted':
      return { change: differing(recording, stopped(recording, observation.at)) };
    case 'egress':
      return afterEgress(recording, observation.egress, observation.at);
    case 'recorder-gone':
      return afterLoss(recording, observation);
  }
}

/** Whether the row is the room's lock: its recording runs, or is being started. */
export function isActive({ status }: Pick<Recording, 'status'>): boolean {
  return status === 'recording' || status === 'starting';
}

/** Whether another instance may give the start up: its own instance was lost, or stood still for too long. */
export function hasClaimRunOut({ status, claimUntil }: Recording, now: number): boolean {
  return status === 'starting' && claimUntil !== null && claimUntil <= now;
}

/** Whether an egress may still come of a start that was given up. */
export function isLateStartPossible({ status, egressId, endedAt }: Recording): boolean {
  return status === 'failed' && egressId === null && endedAt === null;
}

/** Whether the recording was stopped and its end is not known yet: the file may still be written. */
export function isPending({ status, endedAt }: Pick<Recording, 'status' | 'endedAt'>): boolean {
  return status === 'stopped' && endedAt === null;
}

const STATE_OF_STATUS: Readonly<Record<Egress['status'], EndedState | undefined>> = {
  EGRESS_STARTING: undefined,
  EGRESS_ACTIVE: undefined,
  EGRESS_ENDING: undefined,
  EGRESS_COMPLETE: 'stopped',
  EGRESS_LIMIT_REACHED: 'stopped',
  EGRESS_ABORTED: 'aborted',
  EGRESS_FAILED: 'failed',
};

/** The final state of a recording whose egress has ended; undefined while it has not. */
export function endedStateOf(status: Egress['status']): EndedState | undefined {
  return STATE_OF_STATUS[status];
}

export function isOver(egress: Egress): boolean {
  return endedStateOf(egress.status) !== undefined;
}

function holdsClaim({ status, claimOwner }: Recording, owner: string): boolean {
  return status === 'starting' && claimOwner === owner;
}

function stopped({ status }: Recording, at: number): RecordingChange {
  return status === 'recording' ? { status: 'stopped', stoppedAt: at } : {};
}

function afterEgress(recording: Recording, egress: Egress, at: number): Transition {
  if (recording.egressId === null) return UNCHANGED;
  const status = endedStateOf(egress.status);
  const media = mediaStartOf(recording, egress);
  if (status === undefined) {
    // The egress_ended event comes when the file is complete.
    const stop = egress.status === 'EGRESS_ENDING' ? stopped(recording, at) : {};
    return { change: differing(recording, { ...stop, ...media }) };
  }
  const { error } = egress;
  const endedAt = egress.endedAt ?? at;
  const file = egress.file && {
    sizeBytes: egress.file.sizeBytes,
    // The first one that was stored may have been published. The recorder counts nanoseconds.
    durationMs: recording.durationMs ?? Math.round(egress.file.durationMs),
  };
  const change = differing(recording, {
    status,
    endedAt,
    // A stop by a caller keeps its time.
    ...(recording.status === 'recording' ? { stoppedAt: endedAt } : {}),
    error: error ?? null,
    ...media,
    ...file,
  });
  if (change === undefined) return { change };
  if (correctsEnd(recording, egress)) return { change, event: { status, error, file, isCorrection: true } };
  return isReportedSoon(egress, at) ? { change } : { change, event: { status, error, file } };
}

/**
 * Whether a recording that was reported as failed is complete after all: its recorder was believed lost, and stored the
 * file nevertheless.
 */
export function correctsEnd({ status, endedAt }: Recording, egress: Egress): boolean {
  return status === 'failed' && endedAt !== null && endedStateOf(egress.status) === 'stopped';
}

/** The first report counts: the time of the first frame does not change. */
function mediaStartOf(recording: Recording, { mediaStartedAt }: Egress): RecordingChange {
  if (recording.mediaStartedAt !== null || mediaStartedAt === undefined) return {};
  return { mediaStartedAt };
}

/**
 * Whether the egress ended so recently that the media server's own event is on its way. An event of ours would count
 * as a missed one; where theirs never comes, publishMissedEnds finds the row.
 */
function isReportedSoon({ endedAt }: Egress, at: number): boolean {
  return endedAt !== undefined && Math.abs(at - endedAt) < EVENT_ARRIVAL_MS;
}

type RecorderGone = Extract<Observation, { readonly type: 'recorder-gone' }>;

function afterLoss(recording: Recording, { reason, file, at }: RecorderGone): Transition {
  const { status } = recording;
  if (status !== 'recording' && !isPending(recording)) return UNCHANGED;
  const stop = status === 'recording' ? { stoppedAt: at } : {};
  if (file !== undefined) {
    const { sizeBytes, durationMs, modifiedAt: endedAt } = file;
    const length = durationMs === undefined ? {} : { durationMs };
    return {
      change: { status: 'stopped', endedAt, sizeBytes, ...length, ...stop },
      event: { status: 'stopped', error: undefined, file: { sizeBytes, durationMs } },
    };
  }
  const error = status === 'recording' ? reason : `${reason}, and it has no file`;
  return {
    change: { status: 'failed', endedAt: at, error, ...stop },
    event: { status: 'failed', error, file: undefined },
  };
}

/** The members of `facts` that the row does not have yet; undefined when it has them all. */
function differing(recording: Recording, facts: RecordingChange): RecordingChange | undefined {
  const known = new Map<string, unknown>(Object.entries(recording));
  const changed = Object.entries(facts).filter(([name, value]) => known.get(name) !== value);
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}
