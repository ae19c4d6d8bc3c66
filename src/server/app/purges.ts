import { type Purge, startPurge } from '../events/purge.ts';
import { type LibraryDeps, purgeRecordings } from '../recordings/recordings.ts';
import { ENDED_KEPT_MS } from '../rooms/blocks/blocks.ts';
import { purgeSounds } from '../transcription/post/post-transcriber.ts';
import { purgeTranscriptions } from '../transcription/transcriptions.ts';
import type { Config } from './config/config.ts';
import { isOnOtherMachine } from './config/warnings.ts';
import type { Adapters } from './open-adapters.ts';
import type { Store } from './store.ts';

export const DAY_MS = 86_400_000;

type StartPurgesDeps = Omit<LibraryDeps, 'store'> &
  Pick<Adapters, 'machineClock' | 'mediaClock' | 'metrics'> & { readonly store: Store };

/** Starts to delete records whose retention has ended. */
export function startPurges(config: Config, deps: StartPurgesDeps): ReturnType<typeof startPurge> {
  const purge = startPurge({
    ...deps,
    isOtherMachineAsked: [config.livekit.url, config.databaseUrl].some(isOnOtherMachine),
    purges: listPurges(config.values, deps),
  });
  deps.metrics?.watchRefusedPurge(() => purge.refusal()?.since);
  return purge;
}

function listPurges(values: Config['values'], deps: StartPurgesDeps): Readonly<Record<string, Purge>> {
  const { store } = deps;
  const { RECORDING_RETENTION: recordingDays, TRANSCRIPT_RETENTION: transcriptDays } = values;
  const transcriptions = (days: number): Purge => {
    return ({ now, ...batch }) => purgeTranscriptions(store, { ...batch, before: now - days * DAY_MS });
  };
  const recordings = (days: number): Purge => {
    return ({ now, ...batch }) => purgeRecordings(deps, { ...batch, before: now - days * DAY_MS });
  };
  return {
    deliveries: olderThan(values.DELIVERY_RETENTION * DAY_MS, store.deliveries.purge),
    events: olderThan(values.EVENT_RETENTION * DAY_MS, store.events.purge),
    tracks: olderThan(values.EVENT_RETENTION * DAY_MS, store.presence.purgeTracks),
    sessions: olderThan(values.SESSION_RETENTION * DAY_MS, store.presence.purge),
    idempotentRequests: olderThan(0, store.idempotency.purge),
    auditEntries: olderThan(values.AUDIT_RETENTION * DAY_MS, store.audit.purge),
    failedReads: olderThan(0, store.audit.purgeExpired),
    turnSounds: (batch) => purgeSounds(store, batch),
    blocks: olderThan(ENDED_KEPT_MS, store.blocks.purge),
    rooms: olderThan(ENDED_KEPT_MS, store.rooms.purge),
    plans: olderThan(ENDED_KEPT_MS, store.plans.purge),
    entryDecisions: olderThan(0, store.entryDecisions.purge),
    keys: olderThan(values.AUDIT_RETENTION * DAY_MS, store.keys.purge),
    usage: olderThan(values.USAGE_RETENTION * DAY_MS, store.usage.purge),
    ...(transcriptDays === undefined ? {} : { transcriptions: transcriptions(transcriptDays) }),
    ...(recordingDays === undefined ? {} : { recordings: recordings(recordingDays) }),
  };
}

/** Deletes by the purge of a store. With 0, rows whose own end has passed. */
function olderThan(ms: number, purge: (before: number, limit: number) => Promise<number>): Purge {
  return ({ now, limit }) => purge(now - ms, limit);
}
