import { ServiceError } from '../../contract/errors.ts';
import type { AppendEventsDeps } from '../events/append-events.ts';
import { EVENT_ARRIVAL_MS } from '../events/event-times.ts';
import { isMediaServerAway } from './abandoned-starts.ts';
import { endUnfinished, isStillRecording, type RefreshDeps, refreshPending } from './egress-state.ts';
import { type EndedState, isPending } from './lifecycle.ts';
import { endSourceId, publishRecordingEnd } from './recording-events.ts';
import type { Recording, RecordingState, RecordingStores } from './store.ts';

/** Number of rows that are read at a time. */
const PAGE = 200;
/**
 * Ended recordings are updated for this long: the media server forgets an egress after a day, and a recording may have run
 * for a day before it was stopped.
 */
const REFRESHED_FOR_MS = 48 * 3_600_000;

/** Ends recordings whose end was not noticed, and completes stopped recordings with their file, size and duration. */
export async function reconcileRecordings(deps: RefreshDeps): Promise<void> {
  for await (const recording of eachRecording(deps, 'recording', 0)) {
    await logFailure(deps, recording, () => isStillRecording(deps, recording));
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
