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
    deliveries: afterDays(values.DELIVERY_RETENTION, store.deliveries.purge),
    events: afterDays(values.EVENT_RETENTION, store.events.purge),
    tracks: afterDays(values.EVENT_RETENTION, store.presence.purgeTracks),
    sessions: afterDays(values.SESSION_RETENTION, store.presence.purge),
    idempotentRequests: afterDays(0, store.idempotency.purge),
    auditEntries: afterDays(values.AUDIT_RETENTION, store.audit.purge),
    failedReads: afterDays(0, store.audit.purgeExpired),
    turnSounds: (batch) => purgeSounds(store, batch),
    blocks: ({ now, limit }) => store.blocks.purge(now - ENDED_KEPT_MS, limit),
    rooms: ({ now, limit }) => store.rooms.purge(now - ENDED_KEPT_MS, limit),
    plans: ({ now, limit }) => store.plans.purge(now - ENDED_KEPT_MS, limit),
    entryDecisions: afterDays(0, store.entryDecisions.purge),
    keys: afterDays(values.AUDIT_RETENTION, store.keys.purge),
    usage: afterDays(values.USAGE_RETENTION, store.usage.purge),
    ...(transcriptDays === undefined ? {} : { transcriptions: transcriptions(transcriptDays) }),
    ...(recordingDays === undefined ? {} : { recordings: recordings(recordingDays) }),
  };
}

/** Deletes what is older than so many days, by the purge of a store. */
function afterDays(days: number, purge: (before: number, limit: number) => Promise<number>): Purge {
  return ({ now, limit }) => purge(now - days * DAY_MS, limit);
}
