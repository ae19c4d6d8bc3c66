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
    listPurges: (now) => listPurges(config.values, deps, now),
  });
  deps.metrics?.watchRefusedPurge(() => purge.refusal()?.since);
  return purge;
}

function listPurges(
  values: Config['values'],
  deps: StartPurgesDeps,
  now: number,
): Readonly<Record<string, Purge>> {
  const { store } = deps;
  const beforeDays = (days: number): number => now - days * DAY_MS;
  const endedBefore = now - ENDED_KEPT_MS;
  const { RECORDING_RETENTION, TRANSCRIPT_RETENTION, AUDIT_RETENTION } = values;
  const purgesOfRecordings = (before: number): Readonly<Record<string, Purge>> => ({
    recordings: (limit, signal) => purgeRecordings(deps, { before, limit, signal }),
  });
  const purgesOfTranscriptions = (before: number): Readonly<Record<string, Purge>> => ({
    transcriptions: (limit, signal) => purgeTranscriptions(store, { before, limit, signal }),
  });
  return {
    deliveries: (limit) => store.deliveries.purge(beforeDays(values.DELIVERY_RETENTION), limit),
    events: (limit) => store.events.purge(beforeDays(values.EVENT_RETENTION), limit),
    tracks: (limit) => store.presence.purgeTracks(beforeDays(values.EVENT_RETENTION), limit),
    sessions: (limit) => store.presence.purge(beforeDays(values.SESSION_RETENTION), limit),
    idempotentRequests: (limit) => store.idempotency.purge(now, limit),
    auditEntries: (limit) => store.audit.purge(beforeDays(AUDIT_RETENTION), limit),
    failedReads: (limit) => store.audit.purgeExpired(now, limit),
    turnSounds: (limit) => purgeSounds(store, { now, limit }),
    blocks: (limit) => store.blocks.purge(endedBefore, limit),
    rooms: (limit) => store.rooms.purge(endedBefore, limit),
    plans: (limit) => store.plans.purge(endedBefore, limit),
    entryDecisions: (limit) => store.entryDecisions.purge(now, limit),
    keys: (limit) => store.keys.purge(beforeDays(AUDIT_RETENTION), limit),
    usage: (limit) => store.usage.purge(beforeDays(values.USAGE_RETENTION), limit),
    ...(TRANSCRIPT_RETENTION === undefined ? {} : purgesOfTranscriptions(beforeDays(TRANSCRIPT_RETENTION))),
    ...(RECORDING_RETENTION === undefined ? {} : purgesOfRecordings(beforeDays(RECORDING_RETENTION))),
  };
}
