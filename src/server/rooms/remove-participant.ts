import type { BlockDuration } from '../../contract/blocks.ts';
import { ServiceError } from '../../contract/errors.ts';
import { type BlockDeps, blockIdentity } from './blocks/blocks.ts';
import { findParticipant, type ParticipantDeps } from './find-participant.ts';

export type Removal = {
  readonly room: string;
  readonly identity: string;
  /** How long the identity is also blocked. */
  readonly block?: BlockDuration | undefined;
};

/**
 * Removes a participant. Throws room-not-found or participant-not-found, except with a block, which also applies to somebody
 * who has left or has not joined yet. Returns false when nobody was removed.
 *
 * The block is stored first: a participant who joins before that can be removed now, and one who joins later is removed when
 * the media server reports the join.
 */
export async function removeParticipant(
  deps: ParticipantDeps & BlockDeps,
  { room, identity, block }: Removal,
): Promise<boolean> {
  if (block !== undefined) await blockIdentity(deps, { room, identity }, block);
  try {
    await findParticipant(deps, room, identity);
    await deps.mediaServer.removeParticipant(room, identity);
    return true;
  } catch (error) {
    if (block !== undefined && isAbsence(error)) return false;
    throw error;
  }
}

function isAbsence(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    (error.code === 'participant-not-found' || error.code === 'room-not-found')
  );
}
