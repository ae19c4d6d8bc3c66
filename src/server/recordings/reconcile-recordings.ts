import { ServiceError } from '../../contract/errors.ts';
import { isStillRecording } from './apply-egress-state.ts';
import { settleUnfinished } from './apply-unfinished-file.ts';
import { isPending, type RefreshDeps, refreshPending } from './refresh-recording.ts';
import type { Recording, RecordingState } from './store.ts';

/** Rows read at a time. */
const PAGE = 200;
/** The media server forgets an egress after a day; a recording may have run for one before it was stopped. */
const LOOKED_AT_MS = 48 * 3_600_000;

/** Ends what ended unseen, and fetches what is not known yet of stopped recordings: file, size, duration. */
export async function reconcileRecordings(deps: RefreshDeps): Promise<void> {
  for await (const recording of eachRecording(deps, 'recording', 0)) {
    await tolerating(deps, recording, () => isStillRecording(deps, recording));
  }
  const since = deps.clock.now() - LOOKED_AT_MS;
  for await (const recording of eachRecording(deps, 'stopped', since)) {
    const { egressId } = recording;
    if (!isPending(recording) || egressId === null) continue;
    await tolerating(deps, recording, async () => {
      const refreshed = await refreshPending(deps, recording, egressId);
      if (isPending(refreshed)) await settleUnfinished(deps, refreshed, egressId);
    });
  }
}

/** In pages, as the round may change the state of what it looks at. */
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

/** One recording that cannot be looked at must not hide the others; without the media server none can. */
async function tolerating(deps: RefreshDeps, { id }: Recording, look: () => Promise<unknown>): Promise<void> {
  try {
    await look();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code === 'media-server-unavailable') throw error;
    deps.log.warn({ recordingId: id, err: error }, 'a recording could not be compared with the media server');
  }
}
