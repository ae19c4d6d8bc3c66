import type { Egress } from '../ports/media-server.ts';
import type { Recording } from '../ports/store.ts';
import type { RecordingDeps } from './recording-deps.ts';

/*
 * Starts that nobody will finish: their answer was lost, or the instance that made them is gone. What they may have
 * started is known by the path that they asked for.
 */

export type DiscardDeps = Pick<RecordingDeps, 'mediaServer' | 'store' | 'clock' | 'log' | 'instanceId'>;

/** Recordings looked at in one round, and how long one of them may take. */
const LIMIT = 500;
const CLAIM_MS = 60_000;

/** Stops what a start of ours has started, and frees its room. Rejects, the claim kept, when that cannot be known. */
export async function discardStart(deps: DiscardDeps, recording: Recording): Promise<void> {
  const running = await deps.mediaServer.listEgress({ room: recording.room, active: true });
  await stopByPath(deps, running, recording.filepath);
  await deps.store.recordings.release(recording.id, deps.instanceId);
}

/** Does that for the starts whose claim ran out, so that no one has to start again for it. */
export async function discardAbandonedStarts(deps: DiscardDeps): Promise<void> {
  for (const recording of await deps.store.recordings.list({ status: 'starting', limit: LIMIT })) {
    const now = deps.clock.now();
    if ((recording.claimUntil ?? now) > now) continue;
    const { id, room, filepath, bucket } = recording;
    const owner = deps.instanceId;
    // The same path, so that whoever takes this claim over in turn still knows what to look for.
    const claim = await deps.store.recordings.claim(
      { id, room, filepath, bucket, owner, claimUntil: now + CLAIM_MS },
      now,
    );
    if (claim.claimed) await discardStart(deps, claim.recording);
  }
}

export async function stopByPath(
  deps: DiscardDeps,
  running: readonly Egress[],
  filepath: string,
): Promise<void> {
  const started = running.filter((egress) => egress.requestedFilepath === filepath);
  for (const { egressId } of started) await stopQuietly(deps, egressId);
}

/** A recorder that is dead cannot be stopped; that must not keep the room. */
export async function stopQuietly(
  deps: Pick<DiscardDeps, 'mediaServer' | 'log'>,
  egressId: string,
): Promise<void> {
  try {
    await deps.mediaServer.stopEgress(egressId);
  } catch (error) {
    deps.log.warn({ egressId, err: error }, 'stopping an unclaimed egress failed');
  }
}
