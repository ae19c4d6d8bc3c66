import { ServiceError } from '../../contract/errors.ts';
import { findParticipant, type ParticipantDeps } from './find-participant.ts';

export type MuteRequest = { readonly room: string; readonly identity: string; readonly trackSid: string };

/**
 * Mutes a track. Reads the participant first: the media server responds for an unknown participant only after 3 s, and
 * reports success for an unknown track. Throws room-not-found, participant-not-found or track-not-found.
 */
export async function muteParticipant(deps: ParticipantDeps, request: MuteRequest): Promise<void> {
  await requireTrack(deps, request);
  await deps.mediaServer.muteTrack(request.room, request.identity, request.trackSid);
}

/**
 * Unmutes a track. Throws the errors of muteParticipant, and conflict when the media server lets only participants unmute
 * themselves.
 */
export async function unmuteParticipant(deps: ParticipantDeps, request: MuteRequest): Promise<void> {
  await requireTrack(deps, request);
  try {
    await deps.mediaServer.unmuteTrack(request.room, request.identity, request.trackSid);
  } catch (cause) {
    if (!(cause instanceof ServiceError) || cause.code !== 'conflict') throw cause;
    throw new ServiceError('conflict', 'The media server lets only participants unmute themselves.', {
      cause,
      hint: { text: "set room.enable_remote_unmute in LiveKit's configuration, or ask the participant" },
    });
  }
}

async function requireTrack(deps: ParticipantDeps, { room, identity, trackSid }: MuteRequest): Promise<void> {
  const participant = await findParticipant(deps, room, identity);
  if (participant.tracks.some((track) => track.sid === trackSid)) return;
  throw new ServiceError(
    'track-not-found',
    `The participant publishes no track ${JSON.stringify(trackSid)}.`,
  );
}
