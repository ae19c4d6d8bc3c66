import { ServiceError } from '../../contract/errors.ts';
import type { RoomMute, RoomMuted } from '../../contract/participants.ts';
import { forEachConcurrently } from '../platform/jobs/concurrently.ts';
import { listParticipants, type ParticipantDeps } from './find-participant.ts';

type Target = RoomMuted['muted'][number];

const REQUESTS_AT_ONCE = 8;

/**
 * Mutes all published tracks that are not muted. Tracks that end in the meantime are left out. After an error some tracks
 * may be muted: the same request again mutes the others. Throws room-not-found.
 */
export async function muteRoom(
  deps: ParticipantDeps,
  room: string,
  { except = [], sources }: RoomMute,
): Promise<RoomMuted> {
  const excluded = new Set(except);
  const wanted = sources && new Set<string>(sources.map((source) => source.toUpperCase()));
  const participants = await listParticipants(deps, room);
  const targets = participants
    .filter(({ identity }) => !excluded.has(identity))
    .flatMap(({ identity, tracks }) =>
      tracks
        .filter(({ muted, source }) => !muted && (wanted === undefined || wanted.has(source)))
        .map(({ sid }): Target => ({ identity, trackSid: sid })),
    );
  const muted = new Set<Target>();
  await forEachConcurrently(targets, REQUESTS_AT_ONCE, async (target) => {
    if (await mute(deps, room, target)) muted.add(target);
  });
  return { muted: targets.filter((target) => muted.has(target)) };
}

/** Returns false when the track or its publisher is gone. */
async function mute({ mediaServer }: ParticipantDeps, room: string, target: Target): Promise<boolean> {
  const { identity, trackSid } = target;
  try {
    await mediaServer.muteTrack(room, identity, trackSid);
    return true;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.code === 'track-not-found') return false;
    if (error.code !== 'media-server-unavailable') throw error;
    // The media server responds with this error also for a participant who has left.
    const present = await mediaServer.listParticipants(room);
    if (present.some((participant) => participant.identity === identity)) throw error;
    return false;
  }
}
