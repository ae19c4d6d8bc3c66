import { ServiceError } from '../../contract/errors.ts';
import type { Participant } from '../../contract/participants.ts';
import { findRoom, type MediaDeps } from './rooms.ts';

/** Recorders and hidden agents are machinery of the room, not participants of it; other agents are participants. */
function isListed(participant: Participant): boolean {
  return participant.kind !== 'EGRESS' && participant.permission?.hidden !== true;
}

/** Everyone in the room but machinery. Throws room-not-found. */
export async function listParticipants(deps: MediaDeps, room: string): Promise<readonly Participant[]> {
  const all = await deps.mediaServer.listParticipants(room);
  // The media server answers an unknown room with an empty list.
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
