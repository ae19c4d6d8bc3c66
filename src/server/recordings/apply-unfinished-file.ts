import type { ErrorCode } from '../../contract/errors.ts';
import { ServiceError } from '../../contract/errors.ts';
import { hasRecorder, isOver, settleEgress } from './apply-egress-state.ts';
import { type RefreshDeps, settleByFile } from './refresh-recording.ts';
import type { Recording } from './store.ts';

/*
 * A recording that was stopped, and whose end does not come. Its recorder still stores the file, which may take hours;
 * or it was busy starting and never heard of the stop; or it died, and then the media server shows its egress as it was
 * for ever. Another stop tells which of them: a recorder that lives answers it in whatever state, and obeys. Where none
 * answers, LiveKit says failed_precondition of an egress that is ending, and times out on one that is not.
 */
const ASK_AFTER_MS = 60_000;
const UNANSWERED: readonly ErrorCode[] = ['conflict', 'media-worker-unavailable'];

/** Ends a recording that was stopped a while ago and whose recorder is lost; its file, if there is one, is kept. */
export async function settleUnfinished(
  deps: RefreshDeps,
  recording: Recording,
  egressId: string,
): Promise<void> {
  if (deps.clock.now() - (recording.stoppedAt ?? recording.createdAt) < ASK_AFTER_MS) return;
  try {
    await settleEgress(deps, recording, await deps.mediaServer.stopEgress(egressId));
  } catch (error) {
    if (!(error instanceof ServiceError && UNANSWERED.includes(error.code))) throw error;
    await settleUnanswered(deps, recording, egressId);
  }
}

async function settleUnanswered(deps: RefreshDeps, recording: Recording, egressId: string): Promise<void> {
  const [egress] = await deps.mediaServer.listEgress({ egressId });
  // It ended while it was asked.
  if (egress !== undefined && isOver(egress)) return await settleEgress(deps, recording, egress);
  // The media server puts out whoever is lost after some 20 s: who is there may only be slow.
  if (await hasRecorder(deps.mediaServer, recording)) return;
  await settleByFile(deps, recording, 'the recorder was lost');
}
