import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../../../src/server/app/create-store.ts';
import type { Store } from '../../../../src/server/app/store.ts';
import { systemClock } from '../../../../src/server/platform/clock.ts';
import { createSegmentWriter } from '../../../../src/server/transcription/live/transcribe-room.ts';
import type { StoredSegment } from '../../../../src/server/transcription/store.ts';
import { collectingLog, type LogLine } from '../../../support/app.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/* Segments of a call are written to a real database, which is unavailable for a while. */

const ID = 'tr_1';
const OWNER = 'worker';
const NOW = 1_000_000;

let folder: string;
let store: Store;
let log: LogLine[];
let clock: ManualClock;
let isUnavailable: boolean;
/** Called when segments are stored, before the writer is told. */
let onStored: () => void;
let refusals: number;
let writer: ReturnType<typeof createSegmentWriter>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-notes-'));
  const database = { sqlitePath: join(folder, 'rtc.sqlite') };
  store = await openStore({ database, clock: systemClock, log: collectingLog([]) });
  await store.transcriptions.startLive({
    ...{ id: ID, room: 'demo', language: 'en', speakers: {}, createdAt: NOW },
    options: { partialResults: false, captions: true, punctuation: true, profanityFilter: false },
  });
  await store.transcriptions.claimLive({
    ...{ owner: OWNER, now: NOW, leaseUntil: NOW + 9_000, limit: 1 },
    supports: () => true,
  });
  log = [];
  clock = new ManualClock(NOW);
  isUnavailable = false;
  onStored = () => {};
  refusals = 0;
  const addSegments: Store['transcriptions']['addSegments'] = async (...segments) => {
    if (isUnavailable) throw new Error('the database is unavailable');
    const isStored = await store.transcriptions.addSegments(...segments);
    onStored();
    return isStored;
  };
  writer = createSegmentWriter(
    { store: { transcriptions: { addSegments } }, clock, log: collectingLog(log) },
    {
      transcriptionId: ID,
      owner: OWNER,
      onRefused: () => {
        refusals += 1;
      },
    },
  );
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

const segment = (index: number): StoredSegment => ({
  ...{
    id: `seg_${index}`,
    trackId: 'TR_1',
    identity: 'ada',
    name: 'Ada',
    text: `word ${index}`,
    language: 'en',
  },
  ...{ startedAt: NOW + index * 1000, endedAt: NOW + index * 1000 + 900, confidence: null },
  overlapMs: null,
});
const storedIds = async () =>
  (await store.transcriptions.listSegments(ID, { limit: 1000 })).map(({ id }) => id);
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe('the segments of a call', () => {
  it('are stored as they are added', async () => {
    for (let index = 0; index < 5; index += 1) void writer.add(segment(index));
    await writer.close();
    expect(await storedIds()).toEqual(['seg_0', 'seg_1', 'seg_2', 'seg_3', 'seg_4']);
    expect(refusals).toBe(0);
  });

  it.each([0, 1, 2, 3, 4, 5])(
    'are stored when they are added %i ticks after the last ones were stored',
    async (turns) => {
      onStored = () => {
        onStored = () => {};
        void (async () => {
          for (let turn = 0; turn < turns; turn += 1) await undefined;
          void writer.add(segment(1));
        })();
      };
      void writer.add(segment(0));
      await settled();
      await settled();
      await writer.close();
      expect(await storedIds()).toEqual(['seg_0', 'seg_1']);
    },
  );

  it('wait in order while the database is unavailable, and the log has none of their text', async () => {
    isUnavailable = true;
    void writer.add(segment(0));
    void writer.add(segment(1));
    await settled();
    clock.advance(500);
    await settled();
    void writer.add(segment(2));
    expect(await storedIds()).toEqual([]);
    isUnavailable = false;
    clock.advance(500);
    await writer.close();
    expect(await storedIds()).toEqual(['seg_0', 'seg_1', 'seg_2']);
    const failures = log.filter(({ level }) => level === 'warn');
    expect(failures.map(({ fields }) => Object.keys(fields).toSorted())).toEqual(
      failures.map(() => ['err', 'transcriptionId', 'waiting']),
    );
    expect(failures.length).toBeGreaterThanOrEqual(2);
    expect(JSON.stringify(log)).not.toContain('word');
  });

  it('are no longer stored once the transcription was stopped', async () => {
    void writer.add(segment(0));
    await writer.close();
    await store.transcriptions.stopLive(ID, NOW + 1);
    void writer.add(segment(1));
    await writer.close();
    void writer.add(segment(2));
    await writer.close();
    expect([await storedIds(), refusals]).toEqual([['seg_0'], 1]);
  });

  it('are dropped on close, including those that wait', async () => {
    isUnavailable = true;
    void writer.add(segment(0));
    await settled();
    writer.abandon();
    isUnavailable = false;
    clock.advance(500);
    await writer.close();
    void writer.add(segment(1));
    await writer.close();
    expect([await storedIds(), refusals]).toEqual([[], 0]);
  });
});
