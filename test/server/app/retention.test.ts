import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/server/app/create-store.ts';
import type { Store } from '../../../src/server/app/store.ts';
import { systemClock } from '../../../src/server/platform/clock.ts';
import { collectingLog } from '../../support/app.ts';
import { observeRecording } from '../../support/observe-recording.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { SkippableClock } from '../../support/skippable-clock.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const DAY_MS = 86_400_000;

let clock: SkippableClock;
beforeEach(() => {
  clock = new SkippableClock();
});

/** Nothing is deleted in the first minutes after a start. */
function afterQuiet<T>(read: () => T): () => T {
  return () => {
    clock.skip(60_000);
    return read();
  };
}

async function prepare() {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-retention-'));
  cleanUps.push(() => rm(folder, { recursive: true }));
  const database = { sqlitePath: join(folder, 'rtc.sqlite') };
  const store = await openStore({ database, clock: systemClock, log: collectingLog([]) });
  cleanUps.push(() => store.close());
  return { folder, store };
}

/** Makes a completed recording with a file, and a completed transcription, of this age in days. */
async function make({ store, folder }: Awaited<ReturnType<typeof prepare>>, name: string, days: number) {
  const at = Date.now() - days * DAY_MS;
  const filepath = join(folder, `${name}.mp4`);
  await writeFile(filepath, name);
  await record(store, name, { filepath, bucket: null, at });
  const options = { partialResults: false, captions: true, punctuation: true, profanityFilter: false };
  await store.transcriptions.startLive({
    ...{ id: `tr_${name}`, room: name, language: 'en', speakers: {}, options, createdAt: at - 1 },
  });
  await store.transcriptions.stopLive(`tr_${name}`, at);
}

type Made = { readonly filepath: string; readonly bucket: string | null; readonly at: number };

async function record(store: Store, id: string, { filepath, bucket, at }: Made): Promise<void> {
  const claim = { id, room: id, filepath, bucket, owner: 'maker', claimUntil: at };
  await store.recordings.claim(claim, at - 2);
  const created = { owner: 'maker', egressId: `EG_${id}`, at: at - 1 };
  await observeRecording(store, id, { type: 'egress-created', ...created });
  await observeRecording(store, id, { type: 'recorder-gone', reason: 'gone', file: undefined, at });
}

async function serve(folder: string, retention: Readonly<Record<string, string>>): Promise<TestService> {
  const environment = { DATA_DIR: folder, RECORDING_DIR: folder, ...retention };
  const service = await startTestService({ environment, clock });
  cleanUps.push(service.close);
  return service;
}

const isKept = async (store: Store, name: string) => [
  (await store.recordings.find(name)) !== undefined,
  (await store.transcriptions.find(`tr_${name}`)) !== undefined,
];

describe('recordings and transcriptions', () => {
  it('are deleted with their files when their retention has ended, and counted in the log', async () => {
    const stage = await prepare();
    const { store, folder } = stage;
    await record(store, 'stuck', { filepath: 'stuck.mp4', bucket: 'elsewhere', at: Date.now() - 9 * DAY_MS });
    await make(stage, 'secret-old', 2.1);
    await make(stage, 'older', 3);
    await make(stage, 'young', 1.9);
    const { logLines } = await serve(folder, { RECORDING_RETENTION: '2', TRANSCRIPT_RETENTION: '2' });
    const logged = () => logLines.filter(({ message }) => message === 'deleted expired data');
    await expect
      .poll(afterQuiet(logged))
      .toEqual([{ level: 'info', message: expect.anything(), fields: { transcriptions: 2, recordings: 2 } }]);
    expect(await isKept(store, 'secret-old')).toEqual([false, false]);
    expect(await isKept(store, 'young')).toEqual([true, true]);
    expect((await readdir(folder)).filter((name) => name.endsWith('.mp4'))).toEqual(['young.mp4']);
    expect(await store.recordings.find('stuck')).toBeDefined();
    const warnings = logLines.filter(({ level }) => level === 'warn');
    expect(warnings).toContainEqual(
      expect.objectContaining({
        message: 'a recording that is past its retention could not be deleted; trying again',
        fields: expect.objectContaining({ recordingId: 'EG_stuck' }),
      }),
    );
    expect(JSON.stringify(logLines)).not.toContain('secret-old');
  });

  it('are kept when one of them has no retention', async () => {
    const stage = await prepare();
    await make(stage, 'old', 5000);
    const { logLines } = await serve(stage.folder, { TRANSCRIPT_RETENTION: '3650' });
    await expect
      .poll(afterQuiet(() => logLines.map(({ fields }) => fields)))
      .toContainEqual({ transcriptions: 1 });
    expect(await isKept(stage.store, 'old')).toEqual([true, false]);
  });
});
