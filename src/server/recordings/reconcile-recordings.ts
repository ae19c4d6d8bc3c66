import { ServiceError } from '../../contract/errors.ts';
import type { AppendEventsDeps } from '../events/append-events.ts';
import { isMediaServerAway } from '../platform/livekit/errors.ts';
import { EVENT_ARRIVAL_MS } from '../platform/livekit/media-event.ts';
import { endUnfinished, isStillRecording, type RefreshDeps, refreshPending } from './egress-state.ts';
import { type EndedState, isPending } from './lifecycle.ts';
import { endSourceId, publishRecordingEnd } from './recording-events.ts';
import type { Recording, RecordingState, RecordingStores } from './store.ts';

/** Rows read at a time. */
const PAGE = 200;
/** The media server forgets an egress after a day; a recording may have run for one before it was stopped. */
const REFRESHED_FOR_MS = 48 * 3_600_000;

/** Ends what ended unnoticed, and completes stopped recordings with their file, size and duration. */
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

/** Reads in pages, as the round may change the state of what it reads. */
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

/** One recording that fails must not hide the others; without the media server all of them would. */
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

/** Recordings of each state that one round checks: fewer end within a day on one media server. */
const LIMIT = 500;
/** An older end was published, or no longer matters; events are kept for longer. */
const PUBLISHED_FOR_MS = 24 * 3_600_000;

const ENDED: readonly EndedState[] = ['stopped', 'aborted', 'failed'];

/**
 * Publishes the ends that were stored and of which no event came: the media server's own was expected, and
 * never came.
 */
export async function publishMissedEnds(deps: AppendEventsDeps<RecordingStores>): Promise<void> {
  for (const status of ENDED) await publishMissedEndsOf(deps, status);
}

async function publishMissedEndsOf(
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
    const file = sizeBytes === null ? undefined : fileOf(recording, sizeBytes);
    await publishRecordingEnd(deps, recording, { status, file, error: error ?? undefined });
  }
}

function fileOf({ durationMs }: Recording, sizeBytes: number) {
  return { sizeBytes, durationMs: durationMs ?? undefined };
}
