import { type Purge, startPurge } from '../events/purge.ts';
import type { Loop } from '../platform/jobs/loop.ts';
import { type LibraryDeps, purgeRecordings } from '../recordings/recordings.ts';

import { purgeTranscriptions } from '../transcription/purge-transcriptions.ts';
import { purgeSounds } from '../transcription/turns/purge-sounds.ts';
import type { Config } from './config/config.ts';
import type { Store } from './store.ts';

const DAY_MS = 86_400_000;

type StartPurgesDeps = Omit<LibraryDeps, 'store'> & { readonly store: Store };

/** Starts to delete records whose retention has ended. */
export function startPurges({ values }: Config, deps: StartPurgesDeps): Pick<Loop, 'close'> {
  const { store, clock } = deps;
  const beforeDays = (days: number): number => clock.now() - days * DAY_MS;
  const { RECORDING_RETENTION, TRANSCRIPT_RETENTION, AUDIT_RETENTION } = values;
  const purgesOfRecordings = (days: number): Readonly<Record<string, Purge>> => ({
    recordings: (limit, signal) => purgeRecordings(deps, { before: beforeDays(days), limit, signal }),
  });
  const purgesOfTranscriptions = (days: number): Readonly<Record<string, Purge>> => ({
    transcriptions: (limit, signal) =>
      purgeTranscriptions(store, { before: beforeDays(days), limit, signal }),
  });
  return startPurge({
    ...deps,
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
      keys: (limit) => store.keys.purge(beforeDays(AUDIT_RETENTION), limit),
      ...(TRANSCRIPT_RETENTION === undefined ? {} : purgesOfTranscriptions(TRANSCRIPT_RETENTION)),
      ...(RECORDING_RETENTION === undefined ? {} : purgesOfRecordings(RECORDING_RETENTION)),
    },
  });
}
