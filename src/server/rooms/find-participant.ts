import { ServiceError } from '../../contract/errors.ts';
import type { Participant } from '../../contract/participants.ts';
import { findRoom, type MediaDeps } from './rooms.ts';

export type ParticipantDeps = MediaDeps & {
  /** Returns which of these sids have left: a media server continues to list the participants of a dead process. */
  readonly findDeparted: (sids: readonly string[]) => Promise<ReadonlySet<string>>;
};

/** Recorders and hidden agents are system participants and not listed. Other agents are listed. */
function isListed(participant: Participant): boolean {
  return participant.kind !== 'EGRESS' && participant.permission?.hidden !== true;
}

/** Lists the participants of the room, without system participants. Throws room-not-found. */
export async function listParticipants(deps: ParticipantDeps, room: string): Promise<readonly Participant[]> {
  const all = await deps.mediaServer.listParticipants(room);
  // The media server returns an empty list for an unknown room.
  if (all.length === 0) await findRoom(deps, room);
  const listed = all.filter(isListed);
  const left = await deps.findDeparted(listed.map(({ sid }) => sid));
  return listed.filter(({ sid }) => !left.has(sid));
}

/** Returns a participant. Throws room-not-found or participant-not-found. */
export async function findParticipant(
  deps: ParticipantDeps,
  room: string,
  identity: string,
): Promise<Participant> {
  try {
    const participant = await deps.mediaServer.getParticipant(room, identity);
    const isPresent =
      isListed(participant) && !(await deps.findDeparted([participant.sid])).has(participant.sid);
    if (isPresent) return participant;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'participant-not-found') throw error;
  }
  await findRoom(deps, room);
  throw participantNotFound(identity);
}

export function participantNotFound(identity: string): ServiceError {
  const note = SID.test(identity) ? ' A participant is named by identity here, and not by sid.' : '';
  return new ServiceError(
    'participant-not-found',
    `There is no participant ${JSON.stringify(identity)} in this room.${note}`,
  );
}

/** Form of the sids that the media server generates for participants. */
const SID = /^PA_\w{6,}$/;
