import { findParticipant, type ParticipantDeps } from './find-participant.ts';

/** Throws room-not-found or participant-not-found. */
export async function removeParticipant(
  deps: ParticipantDeps,
  room: string,
  identity: string,
): Promise<void> {
  await findParticipant(deps, room, identity);
  await deps.mediaServer.removeParticipant(room, identity);
}
