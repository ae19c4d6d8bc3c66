import { ServiceError } from '../../contract/errors.ts';
import { type Clock, hasPassed } from '../platform/clock.ts';
import { isMediaServerAway } from '../platform/livekit/errors.ts';
import type { Egress, MediaServer } from '../platform/livekit/media-server.ts';
import type { Log } from '../platform/log.ts';
import { applyObservation } from './apply-observation.ts';
import { hasClaimRunOut, isLateStartPossible } from './lifecycle.ts';
import type { Recording, RecordingStores } from './store.ts';

/*
 * Starts that nobody will finish: their response was lost, or the instance that made them is gone. An egress that such
 * a start may have created is recognised by the path that it was asked to write.
 */

export type AbandonedStartDeps = {
  readonly mediaServer: MediaServer;
  readonly store: Pick<RecordingStores, 'recordings'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Identifies this process: it owns the claims that it makes. */
  readonly instanceId: string;
};

/** Recordings read in one round. */
const LIMIT = 500;
/** Time for cleaning up after one start. */
const CLAIM_MS = 60_000;

/**
 * Stops what a failed start of this instance created, and frees its room. Where the response was lost an egress may
 * still come: then the row stays, for stopLateStarts. Rejects, and the claim stays, when it cannot be known what runs.
 */
export async function cleanUpFailedStart(
  deps: AbandonedStartDeps,
  recording: Recording,
  error: unknown,
): Promise<void> {
  await stopCreatedEgress(deps, recording);
  const isResponseLost = !(error instanceof ServiceError) || isMediaServerAway(error);
  if (isResponseLost) {
    await giveUpStart(deps, recording, 'the answer of the media server to the start was lost');
  } else {
    await applyObservation(deps, recording, { type: 'start-refused', owner: deps.instanceId });
  }
}

/** Frees the room and keeps the row as failed: its path identifies what was started, should it run or start later. */
export async function giveUpStart(
  deps: AbandonedStartDeps,
  recording: Recording,
  error: string,
): Promise<void> {
  const { instanceId: owner, clock } = deps;
  await applyObservation(deps, recording, { type: 'start-given-up', owner, error, at: clock.now() });
}

/** The media server looks for a recorder for 24 s, whether its caller still waits or not. */
const MAY_START_MS = 120_000;
/** An older start was given up by a version of the service that did not note its end. */
const REMEMBERED_FOR_MS = 24 * 3_600_000;

/**
 * Stops every egress that started after its start was given up. A start is looked after until nothing can come of it any
 * more and nothing runs, however long that takes: a stop may be lost, and the service may have been away.
 */
export async function stopLateStarts(deps: AbandonedStartDeps): Promise<void> {
  const since = deps.clock.now() - REMEMBERED_FOR_MS;
  for (const recording of await deps.store.recordings.list({ status: 'failed', limit: LIMIT })) {
    if (!isLateStartPossible(recording) || recording.createdAt < since) continue;
    const givenUpAt = recording.stoppedAt ?? recording.createdAt;
    const isTooLate = hasPassed(MAY_START_MS, { since: givenUpAt, now: deps.clock.now() });
    const created = await stopCreatedEgress(deps, recording);
    if (isTooLate && created.length === 0)
      await applyObservation(deps, recording, { type: 'late-start-over' });
  }
}

/** Gives up the starts whose claim ran out, so that their rooms are free without another start. */
export async function giveUpAbandonedStarts(deps: AbandonedStartDeps): Promise<void> {
  for (const recording of await deps.store.recordings.list({ status: 'starting', limit: LIMIT })) {
    if (hasClaimRunOut(recording, deps.clock.now())) await giveUpAbandonedStart(deps, recording);
  }
}

/** Frees the room of a start whose claim ran out. As with a lost response, an egress may still come. */
export async function giveUpAbandonedStart(deps: AbandonedStartDeps, recording: Recording): Promise<void> {
  const { id, room, roomSid, filepath, bucket } = recording;
  const now = deps.clock.now();
  // The path stays the same: whoever takes this claim over in turn still knows which egress to stop.
  const claim = await deps.store.recordings.claim(
    { id, room, roomSid, filepath, bucket, owner: deps.instanceId, claimUntil: now + CLAIM_MS },
    now,
  );
  if (!claim.claimed) return;
  await stopCreatedEgress(deps, claim.recording);
  await giveUpStart(deps, claim.recording, 'the instance that started it was lost');
}

/** Returns the egresses that it found and stopped. */
async function stopCreatedEgress(
  deps: AbandonedStartDeps,
  { room, filepath }: Pick<Recording, 'room' | 'filepath'>,
): Promise<readonly Egress[]> {
  const running = await deps.mediaServer.listEgress({ room, active: true });
  const created = running.filter((egress) => egress.requestedFilepath === filepath);
  for (const { egressId } of created) await stopQuietly(deps, egressId);
  return created;
}

/** Logs a stop that fails: a dead recorder cannot be stopped, and that must not keep the room. */
export async function stopQuietly(
  deps: Pick<AbandonedStartDeps, 'mediaServer' | 'log'>,
  egressId: string,
): Promise<void> {
  try {
    await deps.mediaServer.stopEgress(egressId);
  } catch (error) {
    deps.log.warn({ egressId, err: error }, 'stopping an unclaimed egress failed');
  }
}
