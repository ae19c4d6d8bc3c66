import { ServiceError } from '../../contract/errors.ts';
import type { Participant } from '../../contract/participants.ts';
import { findRoom, type MediaDeps } from './rooms.ts';

/** Recorders and hidden agents are system participants, and not listed; other agents are. */
function isListed(participant: Participant): boolean {
  return participant.kind !== 'EGRESS' && participant.permission?.hidden !== true;
}

/** Everyone in the room except system participants. Throws room-not-found. */
export async function listParticipants(deps: MediaDeps, room: string): Promise<readonly Participant[]> {
  const all = await deps.mediaServer.listParticipants(room);
  // For an unknown room the media server returns an empty list.
  if (all.length === 0) await findRoom(deps, room);
  return all.filter(isListed);
}

/** Throws room-not-found or participant-not-found. */
export async function findParticipant(deps: MediaDeps, room: string, identity: string): Promise<Participant> {
  try {
    const participant = await deps.mediaServer.getParticipant(room, identity);
    if (isListed(participant)) return participant;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'participant-not-found') throw error;
  }
  await findRoom(deps, room);
  throw new ServiceError(
    'participant-not-found',
    `There is no participant ${JSON.stringify(identity)} in this room.`,
  );
}
