import { describe, expect, it } from 'vitest';
import type { UnitOfWork } from '../../../src/server/platform/storage/unit-of-work.ts';
import type { Observation } from '../../../src/server/recordings/lifecycle.ts';
import { applyObservation, storeToldChange } from '../../../src/server/recordings/recording-events.ts';
import type { RecordingStores } from '../../../src/server/recordings/store.ts';
import { observeRecording } from '../../support/observe-recording.ts';
import { createMigratedDatabase } from '../../support/parts/migrated-database.ts';
import { type EventStage, NOW, openEventStage } from '../media-events/support/event-stage.ts';

/* The end of a recording and its event. The process is killed between the two. */

const STAGES = {
  SQLite: async () => await openEventStage(),
  PostgreSQL: async () => {
    const database = await createMigratedDatabase();
    const stage = await openEventStage(database.url);
    const close = async (): Promise<void> => {
      await stage.close();
      await database.close();
    };
    return { ...stage, close };
  },
};

/** Returns the stores of a process that is killed before it stores an event. What its transaction wrote is rolled back. */
function killedBeforeEvents(store: UnitOfWork<RecordingStores>): UnitOfWork<RecordingStores> {
  const killed = async (): Promise<never> => {
    throw new Error('killed');
  };
  return {
    ...store,
    transaction: (work) =>
      // Stores are built when they are first used, so that a spread of the object would have none of them.
      store.transaction((stores) => {
        const { recordings, presence, webhooks, deliveries, fanOuts, events, usage } = stores;
        return work({
          ...{ recordings, presence, webhooks, deliveries, fanOuts, usage },
          transaction: (nested) => stores.transaction(nested),
          events: { ...events, insertAll: killed },
        });
      }),
  };
}

async function addRunning({ store }: EventStage): Promise<void> {
  const claim = {
    id: 'rec1',
    room: 'demo',
    filepath: 'a.mp4',
    bucket: null,
    owner: 'me',
    claimUntil: NOW + 1,
  };
  await store.recordings.claim(claim, NOW);
  await observeRecording(store, 'rec1', { type: 'egress-created', egressId: 'EG_1', at: NOW });
}

async function observe(
  { deps, store }: EventStage,
  observation: Observation,
  stores: UnitOfWork<RecordingStores> = store,
): Promise<void> {
  const recording = await store.recordings.find('rec1');
  if (recording === undefined) throw new Error('the recording is not there');
  const storeTold: Parameters<typeof applyObservation>[0]['storeTold'] = (end) =>
    storeToldChange({ ...deps, store: stores }, end);
  await applyObservation({ store: stores, storeTold }, recording, observation);
}

const LOST: Observation = { type: 'recorder-gone', reason: 'lost', file: undefined, at: NOW + 60_000 };
const COMPLETE: Observation = {
  type: 'egress',
  at: NOW + 120_000,
  egress: {
    egressId: 'EG_1',
    room: 'demo',
    status: 'EGRESS_COMPLETE',
    startedAt: NOW,
    endedAt: NOW + 110_000,
    mediaStartedAt: NOW + 1000,
    error: undefined,
    startId: undefined,
    streams: [],
    file: { filename: 'a.mp4', location: 'a.mp4', sizeBytes: 77, durationMs: 9000 },
  },
};

describe.each(Object.entries(STAGES))('the end of a recording on %s', (_name, open) => {
  it('is stored with its event or not at all, and so is its correction', async () => {
    const stage = await open();
    try {
      await addRunning(stage);
      const killed = killedBeforeEvents(stage.store);
      await expect(observe(stage, LOST, killed)).rejects.toThrow('killed');
      expect(await stage.store.recordings.find('rec1')).toMatchObject({ status: 'recording', endedAt: null });
      await observe(stage, LOST);

      await expect(observe(stage, COMPLETE, killed)).rejects.toThrow('killed');
      expect(await stage.store.recordings.find('rec1')).toMatchObject({ status: 'failed', sizeBytes: null });
      await observe(stage, COMPLETE);
      expect(await stage.store.recordings.find('rec1')).toMatchObject({ status: 'stopped', sizeBytes: 77 });

      // A stored end is not published again.
      await observe(stage, COMPLETE);
      expect((await stage.storedEvents()).map(({ recording }) => recording)).toMatchObject([
        { egressId: 'EG_1', status: 'failed' },
        { egressId: 'EG_1', status: 'stopped', sizeBytes: 77, corrected: true },
      ]);
    } finally {
      await stage.close();
    }
  });
});
