import { ServiceError } from '../../contract/errors.ts';
import { findParticipant, type ParticipantDeps } from './find-participant.ts';

export type MuteRequest = { readonly room: string; readonly identity: string; readonly trackSid: string };

/**
 * Reads the participant first: for an unknown participant the media server responds only after 3 s, and for an unknown
 * track it reports success. Throws room-not-found, participant-not-found or track-not-found.
 */
export async function muteParticipant(deps: ParticipantDeps, request: MuteRequest): Promise<void> {
  const { room, identity, trackSid } = request;
  const participant = await findParticipant(deps, room, identity);
  if (!participant.tracks.some((track) => track.sid === trackSid)) {
    throw new ServiceError(
      'track-not-found',
      `The participant publishes no track ${JSON.stringify(trackSid)}.`,
    );
  }
  await deps.mediaServer.muteTrack(room, identity, trackSid);
}
