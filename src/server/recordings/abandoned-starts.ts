import { hasCode, ServiceError } from '../../contract/errors.ts';
import type { Clock } from '../platform/clock.ts';
import type { Egress, MediaServer } from '../platform/livekit/media-server.ts';
import type { Log } from '../platform/log.ts';
import { hasClaimRunOut, hasPassed, isLateStartPossible } from './lifecycle.ts';
import { applyObservation } from './recording-events.ts';
import type { Recording, RecordingStores } from './store.ts';

/*
 * Cleans up starts that nobody will finish, because their response was lost or because their instance died. An egress that
 * such a start may have created is recognised by its requested file path, and that of a broadcast by its id.
 */

export type AbandonedStartDeps = {
  readonly mediaServer: MediaServer;
  readonly store: Pick<RecordingStores, 'recordings'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Identifies this process as the owner of its claims. */
  readonly instanceId: string;
};

/** Maximum recordings that one round reads. */
const LIMIT = 500;
/** Time for cleaning up after one start. */
const CLAIM_MS = 60_000;

/**
 * Stops the egress that a failed start of this instance created, and frees its room. When the response of the start was
 * lost, an egress may still begin: then the row stays, for stopLateStarts. Rejects and keeps the claim when the running
 * egresses cannot be listed.
 */
export async function cleanUpFailedStart(
  deps: AbandonedStartDeps,
  recording: Recording,
  error: unknown,
): Promise<void> {
  await stopCreatedEgress(deps, recording);
  const isResponseLost = !(error instanceof ServiceError) || isMediaServerAway(error);
  if (isResponseLost) {
    await giveUpStart(deps, recording, 'the response of the media server to the start was lost');
  } else {
    await applyObservation(deps, recording, { type: 'start-refused', owner: deps.instanceId });
  }
}

/** Frees the room and keeps the row as failed. Its path or id identifies the egress of the start, if it runs or starts later. */
export async function giveUpStart(
  deps: AbandonedStartDeps,
  recording: Recording,
  error: string,
): Promise<void> {
  const { instanceId: owner, clock } = deps;
  await applyObservation(deps, recording, { type: 'start-given-up', owner, error, at: clock.now() });
}

/**
 * Time in which an egress may still start: the media server looks for a recorder for 24 s, whether its caller still waits or
 * not.
 */
const MAY_START_MS = 120_000;
/** Starts without a stored end, from an earlier version of the service, are checked for this long. */
const REMEMBERED_FOR_MS = 24 * 3_600_000;

/**
 * Stops every egress that began after its start was given up. A start is checked until no egress of it can begin any more
 * and none runs, however long that takes: a stop may be lost, and the service may have been down.
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

/** Gives up the starts whose claim has expired, so that their rooms are free without another start. */
export async function giveUpAbandonedStarts(deps: AbandonedStartDeps): Promise<void> {
  for (const recording of await deps.store.recordings.list({ status: 'starting', limit: LIMIT })) {
    if (hasClaimRunOut(recording, deps.clock.now())) await giveUpAbandonedStart(deps, recording);
  }
}

/** Frees the room of a start whose claim has expired. As after a lost response, an egress may still begin. */
export async function giveUpAbandonedStart(deps: AbandonedStartDeps, recording: Recording): Promise<void> {
  const { id, kind, room, roomSid, filepath, bucket } = recording;
  const now = deps.clock.now();
  // The path stays the same, so that an instance that takes over this claim too knows which egress to stop.
  const claim = await deps.store.recordings.claim(
    { id, kind, room, roomSid, filepath, bucket, owner: deps.instanceId, claimUntil: now + CLAIM_MS },
    now,
  );
  if (!claim.claimed) return;
  await stopCreatedEgress(deps, claim.recording);
  await giveUpStart(deps, claim.recording, 'the instance that started it was lost');
}

/** Stops the egresses of the start and returns them. */
async function stopCreatedEgress(
  deps: AbandonedStartDeps,
  { id, kind, room, filepath }: Pick<Recording, 'id' | 'kind' | 'room' | 'filepath'>,
): Promise<readonly Egress[]> {
  const running = await deps.mediaServer.listEgress({ room, active: true });
  const created = running.filter(({ requestedFilepath, startId }) =>
    kind === 'broadcast' ? startId === id : requestedFilepath === filepath,
  );
  for (const { egressId } of created) await stopQuietly(deps, egressId);
  return created;
}

/** Stops an egress and logs an error: a dead recorder cannot be stopped, and must not keep the room occupied. */
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

/** Returns whether the media server did not respond. The call may have had its effect, and the next one would fail too. */
export function isMediaServerAway(error: unknown): boolean {
  return hasCode(error, 'media-server-unavailable');
}
