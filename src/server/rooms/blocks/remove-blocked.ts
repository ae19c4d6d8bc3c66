import { ServiceError } from '../../../contract/errors.ts';
import { nameFault } from '../../../contract/names.ts';
import { forEachConcurrently } from '../../platform/jobs/concurrently.ts';
import type { MediaEvent } from '../../platform/livekit/media-event.ts';
import type { MediaServer } from '../../platform/livekit/media-server.ts';
import type { Log } from '../../platform/log.ts';
import type { BlockSubject } from '../store.ts';
import type { BlockDeps } from './blocks.ts';

export type RemoveBlockedDeps = BlockDeps & {
  readonly mediaServer: Pick<MediaServer, 'removeParticipant'>;
  readonly log: Log;
};

/**
 * Removes a participant who has just joined with a token from before the block. Never rejects: sweepBlocks repeats what
 * failed.
 */
export async function removeWhenBlocked(deps: RemoveBlockedDeps, event: MediaEvent): Promise<void> {
  const { type, room, participant } = event;
  if (type !== 'participant_joined' || room === undefined || participant === undefined) return;
  // Recorders and hidden agents are not participants for our callers.
  if (participant.kind === 'EGRESS' || participant.isHidden) return;
  const subject = { room: room.name, identity: participant.identity };
  // Tokens that another program issued may have names that we reject and that no PostgreSQL column can hold.
  if ((nameFault(subject.room) ?? nameFault(subject.identity)) !== undefined) return;
  try {
    const block = await deps.store.blocks.find(subject, deps.clock.now());
    if (block !== undefined) await remove(deps, subject);
  } catch (err) {
    deps.log.warn({ err }, 'removing a blocked participant failed; the next comparison tries again');
  }
}

const REQUESTS_AT_ONCE = 8;
const PURGE_BATCH = 500;

/**
 * Removes blocked participants who are in a room nevertheless, because the event of their join was lost or the media server
 * did not respond. Deletes blocks that have ended. Runs after the comparison with the media server has updated presence.
 */
export async function sweepBlocks(deps: RemoveBlockedDeps, signal: AbortSignal): Promise<void> {
  const { store, clock } = deps;
  const present = await store.blocks.listPresent(clock.now());
  await forEachConcurrently(present, REQUESTS_AT_ONCE, (subject) => remove(deps, subject));
  while (!signal.aborted && (await store.blocks.purge(clock.now(), PURGE_BATCH)) === PURGE_BATCH);
}

async function remove({ mediaServer, log }: RemoveBlockedDeps, subject: BlockSubject): Promise<void> {
  const { room, identity } = subject;
  try {
    await mediaServer.removeParticipant(room, identity);
    log.info({ room }, 'removed a blocked participant');
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'participant-not-found') return;
    throw error;
  }
}
