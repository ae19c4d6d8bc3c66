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
  const { values, livekit, databaseUrl } = config;
  const { store, clock } = deps;
  const beforeDays = (days: number): number => clock.now() - days * DAY_MS;
  const { RECORDING_RETENTION, TRANSCRIPT_RETENTION, AUDIT_RETENTION, USAGE_RETENTION } = values;
  const purgesOfRecordings = (days: number): Readonly<Record<string, Purge>> => ({
    recordings: (limit, signal) => purgeRecordings(deps, { before: beforeDays(days), limit, signal }),
  });
  const purgesOfTranscriptions = (days: number): Readonly<Record<string, Purge>> => ({
    transcriptions: (limit, signal) =>
      purgeTranscriptions(store, { before: beforeDays(days), limit, signal }),
  });
  const purge = startPurge({
    ...deps,
    isOtherMachineAsked: [livekit.url, databaseUrl].some(isOnOtherMachine),
    retention: {
      eventsMs: values.EVENT_RETENTION * DAY_MS,
      deliveriesMs: values.DELIVERY_RETENTION * DAY_MS,
      sessionsMs: values.SESSION_RETENTION * DAY_MS,
    },
    purgeOthers: {
      idempotentRequests: (limit) => store.idempotency.purge(clock.now(), limit),
      auditEntries: (limit) => store.audit.purge(beforeDays(AUDIT_RETENTION), limit),
      failedReads: (limit) => store.audit.purgeExpired(clock.now(), limit),
      turnSounds: (limit) => purgeSounds(store, { now: clock.now(), limit }),
      blocks: (limit) => store.blocks.purge(clock.now() - ENDED_KEPT_MS, limit),
      rooms: (limit) => store.rooms.purge(clock.now() - ENDED_KEPT_MS, limit),
      plans: (limit) => store.plans.purge(clock.now() - ENDED_KEPT_MS, limit),
      entryDecisions: (limit) => store.entryDecisions.purge(clock.now(), limit),
      keys: (limit) => store.keys.purge(beforeDays(AUDIT_RETENTION), limit),
      usage: (limit) => store.usage.purge(beforeDays(USAGE_RETENTION), limit),
      ...(TRANSCRIPT_RETENTION === undefined ? {} : purgesOfTranscriptions(TRANSCRIPT_RETENTION)),
      ...(RECORDING_RETENTION === undefined ? {} : purgesOfRecordings(RECORDING_RETENTION)),
    },
  });
  deps.metrics?.watchRefusedPurge(() => purge.refusal()?.since);
  return purge;
}
