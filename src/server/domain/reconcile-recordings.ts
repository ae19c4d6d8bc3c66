import { isOver, isStillRecording, type SettleDeps, settleEgress } from './settle-recording.ts';

/** Recordings looked at in one round. */
const LIMIT = 500;
/** The media server forgets an egress after a day. */
const REMEMBERED_MS = 24 * 3_600_000;

/** Ends what ended unseen, and fetches what is not known yet of stopped recordings: file, size, duration. */
export async function reconcileRecordings(deps: SettleDeps): Promise<void> {
  for (const recording of await deps.store.recordings.list({ status: 'recording', limit: LIMIT })) {
    await isStillRecording(deps, recording);
  }
  const stopped = await deps.store.recordings.list({ status: 'stopped', limit: LIMIT });
  const since = deps.clock.now() - REMEMBERED_MS;
  for (const recording of stopped.filter(({ endedAt, createdAt }) => endedAt === null && createdAt > since)) {
    const [egress] = await deps.mediaServer.listEgress({ egressId: recording.egressId ?? '' });
    if (egress !== undefined && isOver(egress)) await settleEgress(deps, recording, egress);
  }
}
