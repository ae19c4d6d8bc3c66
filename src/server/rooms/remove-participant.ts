import { findParticipant } from './find-participant.ts';
import type { MediaDeps } from './rooms.ts';

/** Throws room-not-found or participant-not-found. */
export async function removeParticipant(deps: MediaDeps, room: string, identity: string): Promise<void> {
  await findParticipant(deps, room, identity);
  await deps.mediaServer.removeParticipant(room, identity);
}
