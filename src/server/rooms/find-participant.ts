import { ServiceError } from '../../contract/errors.ts';
import type { Participant } from '../../contract/participants.ts';
import { findRoom, type MediaDeps } from './rooms.ts';

export type ParticipantDeps = MediaDeps & {
  /** Which of these sids have left: a media server goes on listing the participants of a process that died. */
  readonly findLeft: (sids: readonly string[]) => Promise<ReadonlySet<string>>;
};

/** Recorders and hidden agents are system participants, and not listed; other agents are. */
function isListed(participant: Participant): boolean {
  return participant.kind !== 'EGRESS' && participant.permission?.hidden !== true;
}

/** Everyone in the room except system participants. Throws room-not-found. */
export async function listParticipants(deps: ParticipantDeps, room: string): Promise<readonly Participant[]> {
  const all = await deps.mediaServer.listParticipants(room);
  // For an unknown room the media server returns an empty list.
  if (all.length === 0) await findRoom(deps, room);
  const listed = all.filter(isListed);
  const left = await deps.findLeft(listed.map(({ sid }) => sid));
  return listed.filter(({ sid }) => !left.has(sid));
}

/** Throws room-not-found or participant-not-found. */
export async function findParticipant(
  deps: ParticipantDeps,
  room: string,
  identity: string,
): Promise<Participant> {
  try {
    const participant = await deps.mediaServer.getParticipant(room, identity);
    const isPresent = isListed(participant) && !(await deps.findLeft([participant.sid])).has(participant.sid);
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

/** As the media server makes the sids of participants. */
const SID = /^PA_\w{6,}$/;
