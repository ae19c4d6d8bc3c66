import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AccessToken } from 'livekit-server-sdk';
import { expect, it, vi } from 'vitest';
import { loadConfig } from '../../../../src/server/app/config/config.ts';
import { openStore } from '../../../../src/server/app/create-store.ts';
import { systemClock, systemIds } from '../../../../src/server/platform/clock.ts';
import { startWorker } from '../../../../src/server/worker.ts';
import { collectingLog } from '../../../support/app.ts';
import { observeRecording } from '../../../support/observe-recording.ts';
import { startLivekit } from '../../../support/parts/livekit.ts';
import { join as joinRoom } from '../../../support/parts/participant.ts';
import { speakToFile } from '../../../support/parts/speech.ts';
import { openTestModel } from '../../../support/parts/speech-model.ts';

it('a worker stores who speaks when in a real room that is recorded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-turns-'));
  const livekit = await startLivekit();
  const log = collectingLog([]);
  const store = await openStore({
    database: { sqlitePath: join(folder, 'rtc.sqlite') },
    clock: systemClock,
    log,
  });
  const { url, apiKey, apiSecret } = livekit;
  const keys = { LIVEKIT_URL: url, LIVEKIT_API_KEY: apiKey, LIVEKIT_API_SECRET: apiSecret };
  const config = loadConfig({ API_KEY: 'k', API_SECRET: 's', DATA_DIR: folder, ...keys });
  const speech = openTestModel();
  const parts = { log, clock: systemClock, ids: systemIds, kind: 'stt-live', speech } as const;
  const withoutListening = await startWorker(
    { ...config, values: { ...config.values, STT_LISTEN_TO_RECORDINGS: false } },
    { ...parts, instanceId: 'deaf' },
  );
  const enter = async (identity: string) => {
    const token = new AccessToken(apiKey, apiSecret, { identity, name: identity.toUpperCase() });
    token.addGrant({ room: 'demo', roomJoin: true });
    return await joinRoom(url, await token.toJwt());
  };
  const people = [await enter('ada'), await enter('bob')];
  const now = Date.now();
  const recording = {
    id: 'one',
    room: 'demo',
    filepath: 'one.mp4',
    bucket: null,
    owner: 'm',
    claimUntil: now + 5_000,
  };
  await store.recordings.claim(recording, now);
  await observeRecording(store, 'one', { type: 'egress-created', egressId: 'EG_1', at: now });
  const worker = await startWorker(config, { ...parts, instanceId: 'listening' });
  await vi.waitUntil(() => store.turns.isListening('one', Date.now()), { timeout: 60_000 });
  expect((await store.turns.listListened(0)).map(({ owner }) => owner)).toEqual(['listening']);
  const path = join(folder, 'said.wav');
  await speakToFile({
    text: 'First a word. The meeting will start at nine tomorrow morning in the large room.',
    path,
  });
  for (const person of people) await (await person.publishWav(path)).played;
  const found = () => store.turns.listTurns('one');
  await expect
    .poll(async () => new Set((await found()).map(({ identity }) => identity)), { timeout: 30_000 })
    .toEqual(new Set(['ada', 'bob']));
  await Promise.all(people.map((person) => person.leave()));
  await Promise.all([worker.close(), withoutListening.close()]);
  await store.close();
  await livekit.close();
  await rm(folder, { recursive: true, force: true });
});
