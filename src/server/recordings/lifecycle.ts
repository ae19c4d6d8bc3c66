import { hasEventTimePassed } from '../events/event-times.ts';
import type { Egress } from '../platform/livekit/media-server.ts';
import {
  changeStreams,
  endStreams,
  followStreams,
  readOutputs,
  type StreamsChange,
  writeOutputs,
} from './broadcast-outputs.ts';
import type { FileFacts } from './files/recording-files.ts';
import type { Recording, RecordingChange, RecordingState } from './store.ts';

/*
 * The life of a recording or a broadcast as a pure function of its row and one observation:
 *
 *                    egress-created               egress ENDING, stop-accepted
 *   (claim) starting ──────────────> recording ────────────────────────────────> stopped, endedAt null ("pending")
 *              │                         │                                            │
 *              │ start-refused: deleted  │ egress over, recorder-gone                 │ egress over, recorder-gone
 *              │ start-given-up or       │
 *              │ room-deleted: failed    └───────────────┬────────────────────────────┘
 *              v                                         v
 *            failed                     stopped, aborted or failed, endedAt set
 *
 * A state never goes back to `starting` or `recording`. A row that has ended still accepts the facts of an egress that is
 * over: the file of a recording that was considered lost may still be stored. store.ts describes each state.
 *
 * Each URL of a broadcast has a state of its own beside the state of the row: see broadcast-outputs.ts.
 */

export type Observation =
  /** The start has an egress: the media server responded with it, or told of it, whether the claim's owner lives or not. */
  | { readonly type: 'egress-created'; readonly egressId: string; readonly at: number }
  /** The caller of the claim's owner is told that nothing was started: an egress that begins all the same is stopped. */
  | { readonly type: 'start-unwanted'; readonly owner: string; readonly at: number }
  /** The start of the claim's owner failed, and no egress runs. */
  | { readonly type: 'start-refused'; readonly owner: string }
  /** The claim's owner gives up its start; an egress may still begin. */
  | { readonly type: 'start-given-up'; readonly owner: string; readonly error: string; readonly at: number }
  /** The room was deleted while a recorder was looked for, by any instance; an egress may still begin. */
  | { readonly type: 'room-deleted'; readonly at: number }
  /** No egress of a start that was given up runs, and none can begin any more. */
  | { readonly type: 'late-start-over' }
  /** A caller adds and removes URLs of a broadcast, or takes back what the recorder refused. */
  | { readonly type: 'streams-changed'; readonly change: StreamsChange; readonly at: number }
  /** The recorder accepted the stop, or will receive it as soon as it has started. */
  | { readonly type: 'stop-accepted'; readonly at: number }
  /** The egress as the media server lists it, or with `isAnswer` as its recorder itself answers (see StreamsReport). */
  | { readonly type: 'egress'; readonly egress: Egress; readonly at: number; readonly isAnswer?: true }
  /** The end will never be reported. `file` was found in the storage, where it is looked for after the stop of a recording. */
  | {
      readonly type: 'recorder-gone';
      readonly reason: string;
      readonly file: FoundFile | undefined;
      readonly at: number;
    };

type FoundFile = FileFacts & { readonly durationMs?: number | undefined };

export type EndedState = Exclude<RecordingState, 'starting' | 'recording'>;

/**
 * An end that this service must publish, because the media server may never send its event. Each recording has one event of
 * its end, and one of a correction (endSourceId): a later one that is no correction is not stored.
 */
export type EndEvent = {
  readonly status: EndedState;
  readonly error: string | undefined;
  readonly file: { readonly sizeBytes: number; readonly durationMs: number | undefined } | undefined;
  /** Another end was published before, and was wrong. */
  readonly isCorrection?: true;
};

export type Transition = {
  /** `delete` removes the row; undefined leaves it unchanged. */
  readonly change: RecordingChange | 'delete' | undefined;
  readonly event?: EndEvent;
};

const UNCHANGED = { change: undefined } as const;
const NO_CLAIM = { claimOwner: null, claimUntil: null } as const;

export function nextState(recording: Recording, observation: Observation): Transition {
  switch (observation.type) {
    case 'start-refused':
      return holdsClaim(recording, observation.owner) ? { change: 'delete' } : UNCHANGED;
    case 'late-start-over':
      return isLateStartPossible(recording) ? { change: { endedAt: recording.stoppedAt } } : UNCHANGED;
    default: {
      const transition = nextRow(recording, observation);
      const hasStreams = recording.kind === 'broadcast' && recording.endedAt === null;
      return hasStreams ? withStreams(recording, observation, transition) : transition;
    }
  }
}

/** An observation with an instant; none of these deletes the row. */
type LastingObservation = Extract<Observation, { readonly at: number }>;

type RowTransition = Omit<Transition, 'change'> & { readonly change: RecordingChange | undefined };

function nextRow(recording: Recording, observation: LastingObservation): RowTransition {
  switch (observation.type) {
    case 'streams-changed':
      return UNCHANGED;
    case 'egress-created': {
      const { egressId, at } = observation;
      if (recording.status !== 'starting' || recording.stoppedAt !== null) return UNCHANGED;
      return { change: { status: 'recording', egressId, startedAt: at, ...NO_CLAIM } };
    }
    case 'start-unwanted':
      if (!holdsClaim(recording, observation.owner) || recording.stoppedAt !== null) return UNCHANGED;
      return { change: { stoppedAt: observation.at } };
    case 'start-given-up': {
      const { owner, error, at } = observation;
      if (!holdsClaim(recording, owner)) return UNCHANGED;
      return { change: { status: 'failed', stoppedAt: recording.stoppedAt ?? at, error, ...NO_CLAIM } };
    }
    case 'room-deleted': {
      if (recording.status !== 'starting') return UNCHANGED;
      const error = 'the room was deleted before the recorder began';
      const stoppedAt = recording.stoppedAt ?? observation.at;
      return { change: { status: 'failed', stoppedAt, error, ...NO_CLAIM } };
    }
    case 'stop-accepted':
      return { change: findDifferences(recording, changeToStopped(recording, observation.at)) };
    case 'egress':
      return afterEgress(recording, observation.egress, observation.at);
    case 'recorder-gone':
      return afterLoss(recording, observation);
  }
}

/** Adds what the observation changes in the URLs of a broadcast that has not ended. */
function withStreams(
  recording: Recording,
  observation: LastingObservation,
  transition: RowTransition,
): RowTransition {
  const { change } = transition;
  const isOver = change?.endedAt != null || change?.status === 'failed';
  let outputs = readOutputs(recording);
  if (observation.type === 'egress') outputs = followStreams(outputs, observation);
  if (observation.type === 'streams-changed' && recording.status === 'recording')
    outputs = changeStreams(outputs, observation.change, observation.at);
  if (isOver) outputs = endStreams(outputs, observation.at);
  const text = writeOutputs(outputs);
  return text === recording.outputs ? transition : { ...transition, change: { ...change, outputs: text } };
}

/** Returns whether the row locks the room: its recording runs or is being started. */
export function isActive({ status }: Pick<Recording, 'status'>): boolean {
  return status === 'recording' || status === 'starting';
}

/** Returns whether another instance may give up the start: the claiming instance died, or was suspended for too long. */
export function hasClaimRunOut({ status, claimUntil }: Recording, now: number): boolean {
  return status === 'starting' && claimUntil !== null && claimUntil <= now;
}

/**
 * Returns whether `ms` have passed since a stored wall-clock time. A time further ahead than `ms` was stored before the clock
 * was set back; waiting for it would take as long as the clock was set back by.
 */
export function hasPassed(
  ms: number,
  { since, now }: { readonly since: number; readonly now: number },
): boolean {
  return Math.abs(now - since) >= ms;
}

/** Returns whether an egress of a start that was given up may still begin. */
export function isLateStartPossible({ status, egressId, endedAt }: Recording): boolean {
  return status === 'failed' && egressId === null && endedAt === null;
}

/** Returns whether the recording was stopped and its end is not known yet, because the file may still be written. */
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

/** Returns the final state of a recording whose egress has ended; undefined for a running egress. */
export function toEndedState(status: Egress['status']): EndedState | undefined {
  return STATE_OF_STATUS[status];
}

export function isOver(egress: Egress): boolean {
  return toEndedState(egress.status) !== undefined;
}

function holdsClaim({ status, claimOwner }: Recording, owner: string): boolean {
  return status === 'starting' && claimOwner === owner;
}

/** Returns no change for a recording that does not run. */
function changeToStopped(recording: Recording, at: number): RecordingChange {
  return recording.status === 'recording' ? { status: 'stopped', stoppedAt: afterStart(recording, at) } : {};
}

/**
 * Returns the instant, no earlier than the start: recorders, buckets and other instances have clocks of their own, and
 * buckets have whole seconds.
 */
function afterStart(
  { startedAt, mediaStartedAt }: Pick<Recording, 'startedAt' | 'mediaStartedAt'>,
  at: number,
): number {
  return Math.max(at, startedAt ?? at, mediaStartedAt ?? at);
}

function afterEgress(recording: Recording, egress: Egress, at: number): RowTransition {
  if (recording.egressId === null || isOverWithoutFiles(recording)) return UNCHANGED;
  const status = toEndedState(egress.status);
  const media = changeMediaStart(recording, egress);
  if (status === undefined) {
    // The event egress_ended arrives when the file is complete.
    const stop = egress.status === 'EGRESS_ENDING' ? changeToStopped(recording, at) : {};
    return { change: findDifferences(recording, { ...stop, ...media }) };
  }
  const { error } = egress;
  const endedAt = afterStart({ ...recording, ...media }, egress.endedAt ?? at);
  const file = egress.file && {
    sizeBytes: egress.file.sizeBytes,
    // Keeps a stored duration, because it may have been published. The recorder counts nanoseconds.
    durationMs: recording.durationMs ?? Math.round(egress.file.durationMs),
  };
  const change = findDifferences(recording, {
    status,
    endedAt,
    // A recording that a caller has stopped keeps its stop time.
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
 * Returns whether a recording that was reported as failed is complete after all: its recorder was considered lost, and stored
 * the file nevertheless.
 */
export function correctsEnd(recording: Recording, egress: Egress): boolean {
  const { status, endedAt } = recording;
  if (isOverWithoutFiles(recording)) return false;
  return status === 'failed' && endedAt !== null && toEndedState(egress.status) === 'stopped';
}

/** Returns whether the end of a broadcast is final: without HLS it has no file that may still turn out to be complete. */
function isOverWithoutFiles({ kind, filepath, endedAt }: Recording): boolean {
  return kind === 'broadcast' && filepath === '' && endedAt !== null;
}

/** The first report counts, because the time of the first frame does not change. */
function changeMediaStart(recording: Recording, { mediaStartedAt }: Egress): RecordingChange {
  if (recording.mediaStartedAt !== null || mediaStartedAt === undefined) return {};
  return { mediaStartedAt };
}

/**
 * Returns whether the egress ended so recently that the media server's own event will probably arrive. An event of ours would
 * be marked and counted as reconciled. If theirs never arrives, publishMissedEnds finds the row.
 */
function isReportedSoon({ endedAt }: Egress, at: number): boolean {
  return endedAt !== undefined && !hasEventTimePassed(endedAt, at);
}

type RecorderGone = Extract<Observation, { readonly type: 'recorder-gone' }>;

function afterLoss(recording: Recording, { reason, file, at }: RecorderGone): RowTransition {
  const { status } = recording;
  if (status !== 'recording' && !isPending(recording)) return UNCHANGED;
  const stop = status === 'recording' ? { stoppedAt: afterStart(recording, at) } : {};
  if (file !== undefined) {
    const { sizeBytes, durationMs } = file;
    const endedAt = afterStart(recording, file.modifiedAt);
    const length = durationMs === undefined ? {} : { durationMs };
    return {
      change: { status: 'stopped', endedAt, sizeBytes, ...length, ...stop },
      event: { status: 'stopped', error: undefined, file: { sizeBytes, durationMs } },
    };
  }
  if (status !== 'recording' && recording.filepath === '') {
    // A broadcast without HLS was stopped, and has no file that could be missing.
    return {
      change: { endedAt: afterStart(recording, recording.stoppedAt ?? at) },
      event: { status: 'stopped', error: undefined, file: undefined },
    };
  }
  const error = status === 'recording' ? reason : `${reason}, and it has no file`;
  return {
    change: { status: 'failed', endedAt: afterStart(recording, at), error, ...stop },
    event: { status: 'failed', error, file: undefined },
  };
}

/** Returns the members of `facts` that differ from the row; undefined when there are none. */
function findDifferences(recording: Recording, facts: RecordingChange): RecordingChange | undefined {
  const known = new Map<string, unknown>(Object.entries(recording));
  const changed = Object.entries(facts).filter(([name, value]) => known.get(name) !== value);
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}
