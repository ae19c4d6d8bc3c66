import { mkdir, mkdtemp, rm } from 'node:fs/promises';
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
import { runFfmpeg } from '../../../support/parts/ffmpeg.ts';
import { startLivekit } from '../../../support/parts/livekit.ts';
import { join as joinRoom } from '../../../support/parts/participant.ts';
import { speakToFile } from '../../../support/parts/speech.ts';
import { openTestModel } from '../../../support/parts/speech-model.ts';
import { wordErrorRate } from '../../../support/word-error-rate.ts';

const SAID: Readonly<Record<string, string>> = {
  ada: 'The children are playing in the garden behind the old house.',
  bob: 'Please remember to bring your passport and your ticket to the airport.',
};

it('a recording with recordTracks has the text of both of two people who speak at once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-own-tracks-'));
  const recordingDir = join(folder, 'recordings');
  await mkdir(recordingDir);
  const livekit = await startLivekit();
  const log = collectingLog([]);
  const database = { sqlitePath: join(folder, 'rtc.sqlite') };
  const store = await openStore({ database, clock: systemClock, log });
  const { url, apiKey, apiSecret } = livekit;
  const keys = { LIVEKIT_URL: url, LIVEKIT_API_KEY: apiKey, LIVEKIT_API_SECRET: apiSecret };
  const folders = { DATA_DIR: folder, RECORDING_DIR: recordingDir };
  const config = loadConfig({ API_KEY: 'k', API_SECRET: 's', ...folders, ...keys });
  const parts = { log, clock: systemClock, ids: systemIds, speech: openTestModel() };
  const live = await startWorker(config, { ...parts, kind: 'stt-live' });
  const filepath = join(recordingDir, 'one.mp4');
  const now = Date.now();
  const claim = { id: 'one', room: 'demo', filepath, bucket: null, owner: 'm', recordTracks: 1 };
  await store.recordings.claim({ ...claim, claimUntil: now + 5_000 }, now);
  await observeRecording(store, 'one', { type: 'egress-created', egressId: 'EG_1', at: now });
  const people = await Promise.all(
    Object.entries(SAID).map(async ([identity, text]) => {
      const path = join(folder, `${identity}.wav`);
      await speakToFile({ text, path });
      const token = new AccessToken(apiKey, apiSecret, { identity, name: identity.toUpperCase() });
      token.addGrant({ room: 'demo', roomJoin: true });
      // The first sound of a new track is lost for every listener, including the worker.
      const padded = join(folder, `${identity}-later.wav`);
      await runFfmpeg(['-i', path, '-af', 'adelay=2000:all=1', padded]);
      return { path: padded, person: await joinRoom(url, await token.toJwt()) };
    }),
  );
  await vi.waitUntil(() => store.turns.isListening('one', Date.now()), { timeout: 60_000 });
  await Promise.all(people.map(async ({ path, person }) => (await person.publishWav(path)).played));
  const heard = async () => new Set((await store.turns.listTurns('one')).map(({ identity }) => identity));
  await expect.poll(heard, { timeout: 30_000 }).toEqual(new Set(['ada', 'bob']));
  await Promise.all(people.map(({ person }) => person.leave()));
  await live.close();

  const inputs = people.flatMap(({ path }) => ['-i', path]);
  await runFfmpeg([...inputs, '-filter_complex', 'amix=inputs=2', '-c:a', 'aac', filepath]);
  // Both begin two seconds after the recording.
  const mediaStartedAt =
    Math.min(...(await store.turns.listTurns('one')).map((turn) => turn.startedAt)) - 2_000;
  const recording = await store.recordings.find('one');
  if (recording === undefined) throw new Error('it was claimed above');
  const ended = { status: 'stopped', stoppedAt: now, endedAt: now, mediaStartedAt, sizeBytes: 1 } as const;
  await store.recordings.update(recording, ended);
  const job = {
    id: 'tr_1',
    room: 'demo',
    recordingId: 'one',
    egressId: 'EG_1',
    language: 'en',
    speakers: {},
  };
  await store.transcriptions.enqueuePost({ ...job, createdAt: now, originAt: mediaStartedAt });
  const post = await startWorker(config, { ...parts, kind: 'stt-post' });
  const status = async () => (await store.transcriptions.find('tr_1'))?.status;
  await expect.poll(status).toBe('completed');
  const segments = await store.transcriptions.listSegments('tr_1', { limit: 1000 });
  for (const [identity, said] of Object.entries(SAID)) {
    const own = segments.filter((segment) => segment.identity === identity);
    const errors = wordErrorRate(said, own.map(({ text }) => text).join(' '));
    console.log(
      `${identity}: ${own.map(({ text }) => text).join(' ')} (${(errors * 100).toFixed(0)} % errors)`,
    );
    expect(errors).toBeLessThan(0.3);
    expect(own.every(({ overlapMs }) => (overlapMs ?? 0) > 200)).toBe(true);
  }
  await expect.poll(() => store.turns.listSounds('one')).toEqual([]);
  await post.close();
  await store.close();
  await livekit.close();
  await rm(folder, { recursive: true, force: true });
});
