import { hasCode, ServiceError } from '../../contract/errors.ts';
import type { Clock } from '../platform/clock.ts';
import type { Egress, MediaServer } from '../platform/livekit/media-server.ts';
import type { Log } from '../platform/log.ts';
import { hasClaimRunOut, hasPassed, isLateStartPossible } from './lifecycle.ts';
import { type ApplyDeps, applyObservation } from './recording-events.ts';
import type { Recording } from './store.ts';

/*
 * Finishes starts whose instance died, and cleans up those that nobody wants any more. The egress of a start is recognised
 * by the id of its recording.
 */

export type AbandonedStartDeps = ApplyDeps & {
  readonly mediaServer: MediaServer;
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

/** Frees the room and keeps the row as failed. Its id identifies the egress of the start, if it runs or starts later. */
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

/**
 * Stops every egress that began after its start was given up. A start is checked until no egress of it can begin any more
 * and none runs, however long that takes: a stop may be lost, and the service may have been down.
 */
export async function stopLateStarts(deps: AbandonedStartDeps): Promise<void> {
  for (const recording of await deps.store.recordings.list({ status: 'failed', limit: LIMIT })) {
    if (!isLateStartPossible(recording)) continue;
    const givenUpAt = recording.stoppedAt ?? recording.createdAt;
    const isTooLate = hasPassed(MAY_START_MS, { since: givenUpAt, now: deps.clock.now() });
    const created = await stopCreatedEgress(deps, recording);
    if (isTooLate && created.length === 0)
      await applyObservation(deps, recording, { type: 'late-start-over' });
  }
}

/** Takes over the starts whose claim has expired, so that their rooms are free without another start. */
export async function endAbandonedStarts(deps: AbandonedStartDeps): Promise<void> {
  for (const recording of await deps.store.recordings.list({ status: 'starting', limit: LIMIT })) {
    if (hasClaimRunOut(recording, deps.clock.now())) await endAbandonedStart(deps, recording);
  }
}

/** `before` is the row as it was found; `recording` is undefined when the start was given up. */
export type Adopted = { readonly before: Recording; readonly recording: Recording | undefined };

/**
 * Finds the recording of an egress that the media server tells of. That is an answer to its start too: the instance that
 * waits for the response may have died.
 */
export async function adoptEgress(
  deps: ApplyDeps & Pick<AbandonedStartDeps, 'clock'>,
  { egressId, startId, isOfOlderBuild }: Egress,
): Promise<Adopted | undefined> {
  const { recordings } = deps.store;
  const known = await recordings.findByEgressId(egressId);
  if (known !== undefined) return { before: known, recording: known };
  const before = startId === undefined ? undefined : await recordings.find(startId);
  if (before === undefined) return undefined;
  if (isOfOlderBuild) return { before, recording: undefined };
  const observation = { type: 'egress-created', egressId, at: deps.clock.now() } as const;
  const { recording } = await applyObservation(deps, before, observation);
  return { before, recording: recording?.egressId === egressId ? recording : undefined };
}

/**
 * Adopts the egress of a start whose claim has expired, if one runs and no event has told of it. Otherwise frees the room; as
 * after a lost response, an egress may still begin.
 */
export async function endAbandonedStart(deps: AbandonedStartDeps, recording: Recording): Promise<void> {
  const { id, kind, room, roomSid, filepath, bucket } = recording;
  const now = deps.clock.now();
  const claim = await deps.store.recordings.claim(
    { id, kind, room, roomSid, filepath, bucket, owner: deps.instanceId, claimUntil: now + CLAIM_MS },
    now,
  );
  if (!claim.claimed) return;
  const created = await listCreatedEgress(deps, recording);
  const [running] = created;
  if (running !== undefined) {
    const { egressId, startedAt: at = now } = running;
    const adopted = await applyObservation(deps, claim.recording, { type: 'egress-created', egressId, at });
    if (adopted.hasChanged) return;
  }
  await stopAll(deps, created);
  await giveUpStart(deps, claim.recording, 'the instance that started it was lost');
}

/** Stops the egresses of the start and returns them. */
async function stopCreatedEgress(
  deps: AbandonedStartDeps,
  start: Pick<Recording, 'id' | 'room'>,
): Promise<readonly Egress[]> {
  const created = await listCreatedEgress(deps, start);
  await stopAll(deps, created);
  return created;
}

async function stopAll(deps: AbandonedStartDeps, created: readonly Egress[]): Promise<void> {
  for (const { egressId } of created) await stopQuietly(deps, egressId);
}

async function listCreatedEgress(
  { mediaServer }: AbandonedStartDeps,
  { id, room }: Pick<Recording, 'id' | 'room'>,
): Promise<readonly Egress[]> {
  return (await mediaServer.listEgress({ room, active: true })).filter(({ startId }) => startId === id);
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
