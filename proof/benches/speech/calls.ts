import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { joinSpeaker, synthesise } from './live.ts';
import type { SpeechStage } from './stage.ts';

const SENTENCES = [
  'The children are playing in the garden.',
  'Nobody knows what the future will bring.',
  'Please remember to bring your passport.',
];
const POLL_MS = 50;

export type CallsSettings = {
  readonly calls: number;
  /** Called after each call with its number and the worker's resident memory in bytes. */
  readonly onCall: (call: number, residentBytes: number) => void;
};

/**
 * Makes short calls of three people, one after the other. Each has its own room, and each person says one sentence. Returns
 * the number of segments.
 */
export async function measureCalls(stage: SpeechStage, { calls, onCall }: CallsSettings): Promise<number> {
  const worker = await stage.startWorker('stt-live');
  const sentences = await Promise.all(SENTENCES.map((text, index) => synthesise(stage, text, index)));
  let segments = 0;
  for (let call = 1; call <= calls; call += 1) {
    segments += await holdCall(stage, sentences);
    onCall(call, worker.residentBytes());
  }
  await worker.close();
  return segments;
}

async function holdCall({ livekit, store }: SpeechStage, sentences: readonly Int16Array[]): Promise<number> {
  const room = `bench-${randomUUID()}`;
  const id = `tr_${randomUUID()}`;
  const speakers = await Promise.all(
    sentences.map((_, index) => joinSpeaker(livekit, room, `speaker-${index}`)),
  );
  await store.transcriptions.startLive({
    ...{ id, room, language: 'en', speakers: {}, createdAt: Date.now() },
    options: { partialResults: true, captions: true, punctuation: true, profanityFilter: false },
  });
  while ((await store.transcriptions.find(id))?.leaseOwner === null) await delay(POLL_MS);
  await Promise.all(speakers.map((speaker, index) => speaker.say(sentences[index] ?? new Int16Array())));
  await Promise.all(speakers.map((speaker) => speaker.leave()));
  await store.transcriptions.stopLive(id, Date.now());
  return await store.transcriptions.countSegments(id);
}
