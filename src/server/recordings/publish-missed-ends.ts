import type { AppendEventsDeps } from '../events/append-events.ts';
import { TOLD_WITHIN_MS } from './apply-egress-state.ts';
import { tellFoundEnd } from './recording-events.ts';
import type { Recording, RecordingState, RecordingStores } from './store.ts';

/** Recordings looked at in one round, of each state: more do not end within a day on one media server. */
const LIMIT = 500;
/** Longer ago than this it was told of, or is of no interest any more; and events are kept for longer. */
const LOOKED_AT_MS = 24 * 3_600_000;

const ENDED = ['stopped', 'aborted', 'failed'] as const satisfies readonly RecordingState[];

/**
 * Tells of recordings whose end was stored, but of which no event came: neither the media server's own, nor that of
 * the instance that found it, which may have been killed.
 */
export async function tellMissedEnds(deps: AppendEventsDeps<RecordingStores>): Promise<void> {
  for (const status of ENDED) await tellMissedOf(deps, status);
}

async function tellMissedOf(
  deps: AppendEventsDeps<RecordingStores>,
  status: (typeof ENDED)[number],
): Promise<void> {
  const now = deps.clock.now();
  const ended = await deps.store.recordings.list({ status, limit: LIMIT });
  const recent = ended.filter(
    ({ egressId, endedAt }) =>
      egressId !== null && endedAt !== null && endedAt > now - LOOKED_AT_MS && endedAt < now - TOLD_WITHIN_MS,
  );
  if (recent.length === 0) return;
  const told = await deps.store.events.findKnown(recent.map(sourceIdOf));
  for (const recording of recent.filter((one) => !told.has(sourceIdOf(one)))) {
    const { error, sizeBytes } = recording;
    const file = sizeBytes === null ? undefined : fileOf(recording, sizeBytes);
    await tellFoundEnd(deps, { recording, status, file, error: error ?? undefined });
  }
}

function sourceIdOf({ egressId }: Recording): string {
  return `egress_ended:${egressId}`;
}

function fileOf({ durationMs }: Recording, sizeBytes: number) {
  return { sizeBytes, durationMs: durationMs ?? undefined };
}
