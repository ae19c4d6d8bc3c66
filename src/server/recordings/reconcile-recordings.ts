import { ServiceError } from '../../contract/errors.ts';
import type { AppendEventsDeps } from '../events/append-events.ts';
import { EVENT_ARRIVAL_MS } from '../events/event-times.ts';
import { startLoop } from '../platform/jobs/loop.ts';
import { fingerprintStreamUrl } from '../platform/livekit/stream-urls.ts';
import { isMediaServerAway, stopQuietly } from './abandoned-starts.ts';
import { isConnectingAgain, readOutputs } from './broadcast-outputs.ts';
import {
  endStuck,
  endUnfinished,
  hasKeptRecorder,
  isStillRecording,
  type RefreshDeps,
  refreshPending,
} from './egress-state.ts';
import { type EndedState, isPending } from './lifecycle.ts';
import { applyObservation, endSourceId, publishRecordingEnd } from './recording-events.ts';
import type { Recording, RecordingState, RecordingStores } from './store.ts';

/** Number of rows that are read at a time. */
const PAGE = 200;
/**
 * Ended recordings are updated for this long: the media server forgets an egress after a day, and a recording may have run
 * for a day before it was stopped.
 */
const REFRESHED_FOR_MS = 48 * 3_600_000;

type ReconcileDeps = RefreshDeps & { readonly recorderWatch?: Pick<RecorderWatch, 'note'> | undefined };

/** Ends recordings whose end was not noticed, and completes stopped recordings with their file, size and duration. */
export async function reconcileRecordings(deps: ReconcileDeps): Promise<void> {
  for await (const recording of eachRecording(deps, 'recording', 0)) {
    await logFailure(deps, recording, () => isStillRecording(deps, recording));
    // The instance that watched it may be gone.
    if (recording.egressId !== null && hasConnectingAgain(recording))
      deps.recorderWatch?.note(recording.egressId, 'connects-again');
  }
  const since = deps.clock.now() - REFRESHED_FOR_MS;
  for await (const recording of eachRecording(deps, 'stopped', since)) {
    const { egressId } = recording;
    if (!isPending(recording) || egressId === null) continue;
    await logFailure(deps, recording, async () => {
      const refreshed = await refreshPending(deps, recording, egressId);
      if (isPending(refreshed)) await endUnfinished(deps, refreshed, egressId);
    });
  }
}

/** Reads in pages, because the round may change the state of the rows. */
async function* eachRecording(
  { store }: RefreshDeps,
  status: RecordingState,
  createdSince: number,
): AsyncGenerator<Recording> {
  let after: Recording | undefined;
  for (;;) {
    const page: readonly Recording[] = await store.recordings.list({ status, after, limit: PAGE });
    for (const recording of page) {
      if (recording.createdAt < createdSince) return;
      yield recording;
    }
    after = page.at(-1);
    if (page.length < PAGE) return;
  }
}

/**
 * Logs an error of one recording and continues with the others. Without the media server all of them would fail, so that
 * error is thrown.
 */
async function logFailure(
  deps: RefreshDeps,
  { id }: Recording,
  compare: () => Promise<unknown>,
): Promise<void> {
  try {
    await compare();
  } catch (error) {
    if (!(error instanceof ServiceError) || isMediaServerAway(error)) throw error;
    deps.log.warn({ recordingId: id, err: error }, 'a recording could not be compared with the media server');
  }
}

/** Maximum recordings of each state in one round: fewer end within a day on one media server. */
const LIMIT = 500;
/** Older ends were published, or no longer matter. Events are kept for longer. */
const PUBLISHED_FOR_MS = 24 * 3_600_000;

const ENDED: readonly EndedState[] = ['stopped', 'aborted', 'failed'];

/** Publishes stored ends that have no event, because the media server's own event was expected and never arrived. */
export async function publishMissedEnds(deps: AppendEventsDeps<RecordingStores>): Promise<void> {
  for (const status of ENDED) await publishMissedEndsInStatus(deps, status);
}

async function publishMissedEndsInStatus(
  deps: AppendEventsDeps<RecordingStores>,
  status: EndedState,
): Promise<void> {
  const now = deps.clock.now();
  const ended = await deps.store.recordings.list({ status, limit: LIMIT });
  const recent = ended.filter(
    ({ egressId, endedAt }) =>
      egressId !== null &&
      endedAt !== null &&
      endedAt > now - PUBLISHED_FOR_MS &&
      endedAt < now - EVENT_ARRIVAL_MS,
  );
  if (recent.length === 0) return;
  const published = await deps.store.events.findKnown(recent.map(endSourceId));
  for (const recording of recent.filter((one) => !published.has(endSourceId(one)))) {
    const { error, sizeBytes } = recording;
    const file = sizeBytes === null ? undefined : toFile(recording, sizeBytes);
    await publishRecordingEnd(deps, recording, { status, file, error: error ?? undefined });
  }
}

function toFile({ durationMs }: Recording, sizeBytes: number) {
  return { sizeBytes, durationMs: durationMs ?? undefined };
}

/** A recorder has left its room, or has lost the receiver of a stream. */
export type RecorderSign = 'left' | 'connects-again';

/** A recorder whose connection broke comes back at once, and a receiver that restarts in some seconds. */
const LOOK_AFTER_MS: Readonly<Record<RecorderSign, number>> = { left: 3_000, 'connects-again': 5_000 };

export type RecorderWatch = {
  /** Looks at the recorder soon. */
  readonly note: (egressId: string, sign: RecorderSign) => void;
  readonly close: () => Promise<void>;
};

/** Looks at recorders whose loss the next comparison would find much later. */
export function startRecorderWatch(deps: RefreshDeps): RecorderWatch {
  const { clock, log } = deps;
  const looks = new Map<string, Look>();
  const lookAt = async (egressId: string, look: Look): Promise<void> => {
    const next = await lookAtRecorder(deps, egressId, look);
    if (looks.get(egressId) !== look) return;
    if (next === undefined) looks.delete(egressId);
    else looks.set(egressId, { isAsked: next === 'asked', at: clock.monotonic() + ANSWER_MS });
  };
  const loop = startLoop({
    clock,
    log,
    failureMessage: 'looking at recorders failed; trying again',
    round: async () => {
      const now = clock.monotonic();
      await Promise.all([...looks].map(([id, look]) => (look.at <= now ? lookAt(id, look) : undefined)));
      const next = Math.min(...[...looks.values()].map(({ at }) => at));
      return Number.isFinite(next) ? Math.max(0, next - clock.monotonic()) : undefined;
    },
  });
  return {
    note: (egressId, sign) => {
      const at = clock.monotonic() + LOOK_AFTER_MS[sign];
      const known = looks.get(egressId);
      // A recorder that this watch asks to connect also reports that it connects again.
      if (known !== undefined && (known.at <= at || sign === 'connects-again')) return;
      looks.set(egressId, { at, isAsked: false });
      loop.wakeWithin(LOOK_AFTER_MS[sign]);
    },
    close: loop.close,
  };
}

/** `isAsked`: whether the recorder was asked to connect where nobody listens. */
type Look = { readonly at: number; readonly isAsked: boolean };

async function lookAtRecorder(
  deps: RefreshDeps,
  egressId: string,
  { isAsked }: Look,
): Promise<'asked' | 'again' | undefined> {
  const recording = await deps.store.recordings.findByEgressId(egressId);
  if (recording?.status !== 'recording') return undefined;
  try {
    if (!(await hasKeptRecorder(deps, recording))) return undefined;
    const current = await deps.store.recordings.find(recording.id);
    if (current?.status !== 'recording' || !hasConnectingAgain(current)) return undefined;
    return await (isAsked ? readAnswer : ask)(deps, current, egressId);
  } catch (error) {
    if (!(error instanceof ServiceError) || isMediaServerAway(error)) throw error;
    deps.log.warn({ recordingId: recording.id, err: error }, 'a recorder could not be looked at');
    return undefined;
  }
}

function hasConnectingAgain(recording: Recording): boolean {
  return readOutputs(recording).streams.some(isConnectingAgain);
}

/*
 * A receiver that closes can stop the whole recorder (egress 1.14): it is in its room, takes URLs and a stop, and sends nothing
 * to anybody any more, while LiveKit lists every stream as active. A recorder that works reports a refused connection within
 * a second. So it gets one more URL, at which nobody listens: the port `discard` of its own machine.
 */
const REFUSED_URL = 'rtmp://127.0.0.1:9/rtc/refused';
const REFUSED = fingerprintStreamUrl(REFUSED_URL);
const ANSWER_MS = 10_000;

async function ask(deps: RefreshDeps, broadcast: Recording, egressId: string): Promise<'asked'> {
  const egress = await deps.mediaServer.updateStream(egressId, { add: [REFUSED_URL], remove: [] });
  await applyObservation(deps, broadcast, { type: 'egress', egress, at: deps.clock.now() });
  return 'asked';
}

async function readAnswer(
  deps: RefreshDeps,
  broadcast: Recording,
  egressId: string,
): Promise<'again' | undefined> {
  // The recorder responds itself. What LiveKit lists is up to a minute old.
  const egress = await deps.mediaServer.updateStream(egressId, { add: [], remove: [] });
  const answer = egress.streams.findLast(({ fingerprint }) => fingerprint === REFUSED);
  if (answer?.status === 'ACTIVE') {
    await endStuck(deps, broadcast);
    await stopQuietly(deps, egressId);
    return undefined;
  }
  const observation = { type: 'egress', egress, at: deps.clock.now(), isAnswer: true } as const;
  const { recording } = await applyObservation(deps, broadcast, observation);
  return recording !== undefined && hasConnectingAgain(recording) ? 'again' : undefined;
}
