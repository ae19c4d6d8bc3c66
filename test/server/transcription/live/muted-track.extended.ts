import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { speakToFile } from '../../../support/parts/speech.ts';
import { type CallStage, type StageWorker, startCallStage } from '../support/call-stage.ts';

/* A microphone that is published muted, in a room of the real LiveKit, with the real model. */

const SENTENCE = 'The children are playing in the garden behind the old house.';

const file = join(tmpdir(), `rtc-muted-${randomUUID()}.wav`);
let stage: CallStage;
let worker: StageWorker;
beforeAll(async () => {
  // The file has no silence before the first word.
  await speakToFile({ text: SENTENCE, path: file });
  stage = await startCallStage();
  worker = await stage.startWorker();
});
afterAll(async () => {
  await stage?.close();
  await rm(file, { force: true });
});

it('a muted track is subscribed to before it is unmuted, and loses no first word', async () => {
  const room = await stage.newRoom();
  const { transcriptionId } = await stage.start(room);
  await stage.untilListening(room);
  const ada = await stage.enter(room, 'ada');
  const { sid, unmute } = await ada.publishMutedWav(file);
  const isMuted = async (): Promise<boolean> =>
    (await stage.rooms.getParticipant(room, 'ada')).tracks.some((track) => track.sid === sid && track.muted);
  const isSubscribed = (): boolean =>
    worker.logLines.some(
      ({ message, fields }) =>
        message === 'transcribing a track' &&
        fields.trackId === sid &&
        fields.transcriptionId === transcriptionId,
    );
  await vi.waitUntil(isSubscribed, { timeout: 60_000 });
  expect(await isMuted()).toBe(true);
  await unmute();
  const segments = await stage.untilSegments(room, (all) => all.some(({ text }) => /house/.test(text)));
  const text = segments.map((segment) => segment.text).join(' ');
  expect(text).toMatch(/^the children are playing/i);
});
