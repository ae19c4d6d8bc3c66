import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Problem } from '../../../../src/contract/problem.ts';
import { openStore } from '../../../../src/server/app/create-store.ts';
import type { Store } from '../../../../src/server/app/store.ts';
import { systemClock } from '../../../../src/server/platform/clock.ts';
import type { FailedModel, StoredSegment, WorkerKind } from '../../../../src/server/transcription/store.ts';
import { collectingLog } from '../../../support/app.ts';
import { type Stage, startStage } from '../../recordings/support/stage.ts';

/** The whole service, and its database, opened as a worker on the same machine does. */
export type TranscriptionStage = Stage & {
  readonly dataDir: string;
  readonly store: Store;
  /** Registers a worker that is alive for an hour, or until `die`. */
  readonly beat: (
    kind: WorkerKind,
    languages?: readonly string[],
    failedModels?: readonly FailedModel[],
  ) => Promise<void>;
  readonly die: (kind: WorkerKind) => Promise<void>;
  /** Opens the room on the media server. */
  readonly open: (room: string) => Promise<void>;
  /** Claims the live transcription, as a worker does, and stores these segments. */
  readonly storeSegments: (transcriptionId: string, segments: readonly StoredSegment[]) => Promise<boolean>;
};

export async function startTranscriptionStage(
  environment: Readonly<Record<string, string>> = {},
): Promise<TranscriptionStage> {
  const dataDir = await mkdtemp(join(tmpdir(), 'rtc-transcription-'));
  const stage = await startStage({ environment: { DATA_DIR: dataDir, ...environment } });
  const database = { sqlitePath: join(dataDir, 'rtc.sqlite') };
  const store = await openStore({ database, clock: systemClock, log: collectingLog([]) });
  const owner = 'the test worker';
  return {
    ...stage,
    dataDir,
    store,
    beat: (kind, languages = ['en'], failedModels = []) =>
      store.transcriptions.beat({
        ...{ kind, workerId: kind, languages, failedModels },
        aliveUntil: Date.now() + 3_600_000,
      }),
    die: (kind) => store.transcriptions.retire(kind),
    open: async (room) => {
      await stage.service.call('POST', '/v1/rooms', { body: { name: room } });
    },
    storeSegments: async (transcriptionId, segments) => {
      const now = Date.now();
      const leaseUntil = now + 3_600_000;
      await store.transcriptions.claimLive({ owner, now, leaseUntil, limit: 100, supports: () => true });
      return await store.transcriptions.addSegments(transcriptionId, owner, segments);
    },
    close: async () => {
      await store.close();
      await stage.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export function readProblem(response: { readonly status: number; readonly json: unknown }) {
  const { type, detail, errors } = response.json as Problem;
  return { status: response.status, code: type.split(':').at(-1), detail, errors };
}

export function segment(id: string, changes: Partial<StoredSegment> = {}): StoredSegment {
  const now = Date.now();
  return {
    id,
    trackId: 'TR_ada',
    identity: 'ada',
    name: 'Ada Lovelace',
    text: `Text of ${id}.`,
    language: 'en-US',
    startedAt: now,
    endedAt: now + 1000,
    confidence: null,
    overlapMs: null,
    ...changes,
  };
}
