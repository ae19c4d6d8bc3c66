import { ServiceError } from '../../contract/errors.ts';
import type { Egress } from '../platform/livekit/media-server.ts';
import type { RecordingDeps } from './recording-deps.ts';
import type { Recording } from './store.ts';

/*
 * Starts that nobody will finish: their answer was lost, or the instance that made them is gone. What they may have
 * started is known by the path that they asked for.
 */

export type DiscardDeps = Pick<RecordingDeps, 'mediaServer' | 'store' | 'clock' | 'log' | 'instanceId'>;

/** Recordings looked at in one round, and how long one of them may take. */
const LIMIT = 500;
const CLAIM_MS = 60_000;

/**
 * Stops what a start of ours that failed has started, and frees its room. One whose answer was lost may still start:
 * its row stays, for stopLateStarts. Rejects, the claim kept, when it cannot be known what runs.
 */
export async function discardFailedStart(
  deps: DiscardDeps,
  recording: Recording,
  error: unknown,
): Promise<void> {
  await stopStarted(deps, recording);
  if (isAnswerLost(error)) {
    await giveUpStart(deps, recording, 'the answer of the media server to the start was lost');
  } else {
    await deps.store.recordings.release(recording.id, deps.instanceId);
  }
}

/** Frees the room, and keeps the row as failed: what was started is known by it, should it still run or start. */
export async function giveUpStart(deps: DiscardDeps, { id }: Recording, error: string): Promise<void> {
  const stoppedAt = deps.clock.now();
  await deps.store.recordings.end(id, { status: 'failed', stoppedAt, owner: deps.instanceId, error });
}

function isAnswerLost(error: unknown): boolean {
  return !(error instanceof ServiceError) || error.code === 'media-server-unavailable';
}

/** The media server looks for a recorder for 24 s, whether anyone waits for it or not. */
const MAY_START_MS = 120_000;

/** Stops what started when nobody waited for it any more. */
export async function stopLateStarts(deps: DiscardDeps): Promise<void> {
  const since = deps.clock.now() - MAY_START_MS;
  const failed = await deps.store.recordings.list({ status: 'failed', limit: LIMIT });
  for (const recording of failed) {
    if (recording.egressId === null && recording.createdAt > since) await stopStarted(deps, recording);
  }
}

async function stopStarted(deps: DiscardDeps, { room, filepath }: Recording): Promise<void> {
  const running = await deps.mediaServer.listEgress({ room, active: true });
  await stopByPath(deps, running, filepath);
}

/**
 * Gives up the starts whose claim ran out, so that no one has to start again for it. What they asked for may still
 * come, as with a lost answer.
 */
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
    if (!claim.claimed) continue;
    await stopStarted(deps, claim.recording);
    await giveUpStart(deps, claim.recording, 'the instance that started it was lost');
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
