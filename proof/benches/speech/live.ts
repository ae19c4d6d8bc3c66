import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readMembers } from '../../../src/contract/unknown-value.ts';
import { composeCall } from '../../../test/server/transcription/turns/support/scripted-call.ts';
import { observeRecording } from '../../../test/support/observe-recording.ts';
import { speakToFile } from '../../../test/support/parts/speech.ts';
import { joinSpeaker, type SpeechStage } from './stage.ts';

/* What it costs to transcribe a room, and to note who speaks in a room that is recorded. */

const SENTENCES = [
  'The children are playing in the garden behind the old house.',
  'Please remember to bring your passport and your ticket to the airport.',
  'We are going to visit my grandmother in the hospital this afternoon.',
  'The new computer is much faster than the one I bought last year.',
  'Nobody knows what the future will bring.',
];
const SPEAKERS = 5;
const UTTERANCES = 12;
const PAUSE_MS = 1_500;
/** The sample rate of espeak-ng. */
const RATE = 22_050;
/** A segment belongs to the utterance with the nearest end. */
const NEAR_MS = 1_500;

type LiveFigures = {
  readonly utterances: number;
  /** Milliseconds from the end of each utterance until its last segment was stored, and until it was printed. */
  readonly storedMs: readonly number[];
  readonly printedMs: readonly number[];
  readonly peakMb: number;
};

/** Lets five people speak at the same time, each with their own pauses, while `rtc transcription follow` prints. */
export async function measureLive(stage: SpeechStage): Promise<LiveFigures> {
  const { store } = stage;
  const worker = await stage.startWorker('stt-live');
  const service = stage.start(['serve']);
  await service.seen(/"listening"/);
  const url = /"url":"(http[^"]+)"/.exec(service.output())?.[1] ?? '';
  const sentences = await Promise.all(SENTENCES.map((text, index) => synthesise(stage, text, index)));
  const room = `bench-${randomUUID()}`;
  const people = await Promise.all(
    Array.from({ length: SPEAKERS }, async (_, index) => {
      const identity = `speaker-${index}`;
      const { samples, endsMs } = composeSpeech(sentences, index);
      const { play, leave } = await joinSpeaker(stage, { room, identity }, { samples, rate: RATE });
      return { identity, play, leave, endsMs, lengthMs: toMs(samples.length) };
    }),
  );
  const id = `tr_${randomUUID()}`;
  await store.transcriptions.startLive({
    ...{ id, room, language: 'en', speakers: {}, createdAt: Date.now() },
    options: { partialResults: false, captions: true, punctuation: true, profanityFilter: false },
  });
  const printedAt = new Map<string, number>();
  const follow = stage.start(['transcription', 'follow', room, '--json'], { RTC_URL: url });
  follow.child.stdout.on('data', (lines: string) => {
    for (const [, segment = ''] of lines.matchAll(/"id":"([^"]+)"/g)) printedAt.set(segment, Date.now());
  });
  await delay(3_000);
  const ends = await Promise.all(
    people.map(async ({ identity, play, endsMs, lengthMs }) => {
      await play();
      const startedAt = Date.now() - lengthMs;
      return endsMs.map((ms) => ({ identity, endedAt: startedAt + ms }));
    }),
  );
  await delay(5_000);
  const segments = await store.transcriptions.listSegments(id, { limit: 1000 });
  const peakMb = await worker.peakMb();
  await store.transcriptions.stopLive(id, Date.now());
  await follow.ended;
  await Promise.all(people.map(({ leave }) => leave()));
  const storedAt = readStored(worker.output());
  await worker.close();
  const passed = ends.flat().flatMap(({ identity, endedAt }) => {
    const near = segments.filter(
      (one) => one.identity === identity && Math.abs(one.endedAt - endedAt) < NEAR_MS,
    );
    const ids = near.map((one) => one.id).filter((one) => storedAt.has(one) && printedAt.has(one));
    const last = (times: ReadonlyMap<string, number>): number =>
      Math.max(...ids.map((one) => times.get(one) ?? Number.NaN)) - endedAt;
    return ids.length === 0 ? [] : [{ stored: last(storedAt), printed: last(printedAt) }];
  });
  return {
    utterances: SPEAKERS * UTTERANCES,
    ...{ storedMs: passed.map(({ stored }) => stored), printedMs: passed.map(({ printed }) => printed) },
    peakMb,
  };
}

/** Synthesises a sentence without silence at its ends, so that the end of the sound is known. */
async function synthesise({ recordingDir }: SpeechStage, text: string, index: number): Promise<Int16Array> {
  const path = join(recordingDir, `sentence-${index}.wav`);
  await speakToFile({ text, path });
  const file = await readFile(path);
  const samples = new Int16Array(
    file.buffer.slice(file.byteOffset + 44, file.byteOffset + file.length - (file.length % 2)),
  );
  const isSound = (sample: number): boolean => Math.abs(sample) > 300;
  return samples.subarray(samples.findIndex(isSound), samples.findLastIndex(isSound) + 1);
}

/** Returns the microphone of one person, and when each utterance ends in it. */
function composeSpeech(sentences: readonly Int16Array[], person: number) {
  const sounds: Int16Array[] = [noise(PAUSE_MS + person * 300)];
  const endsMs: number[] = [];
  for (let index = 0; index < UTTERANCES; index += 1) {
    sounds.push(sentences[(index + person) % sentences.length] ?? new Int16Array());
    endsMs.push(toMs(sounds.reduce((sum, { length }) => sum + length, 0)));
    sounds.push(noise(PAUSE_MS));
  }
  return { samples: Int16Array.from(sounds.flatMap((sound) => [...sound])), endsMs };
}

/** Noise of a quiet room, as a microphone picks it up. */
function noise(ms: number): Int16Array {
  return Int16Array.from({ length: Math.round((RATE * ms) / 1000) }, (_, index) => ((index * 7919) % 13) - 6);
}

function toMs(samples: number): number {
  return (1000 * samples) / RATE;
}

/** Returns when the worker stored each segment, by its log. */
function readStored(log: string): ReadonlyMap<string, number> {
  const lines = log.split('\n').filter((line) => line.includes('"stored segments"'));
  return new Map(
    lines.flatMap((line) => {
      const { time, ids } = readMembers(JSON.parse(line));
      return (Array.isArray(ids) ? ids : []).map((id) => [String(id), Date.parse(String(time))] as const);
    }),
  );
}

const TURNS = 40;
/** The sample rate of a composed call. */
const CALL_RATE = 16_000;
/** About -56 dBFS, the level of an office. */
const ROOM_LEVEL = 50;
const IDLE_MS = 20_000;

type TurnFigures = {
  /** Core-seconds of the worker per second of a call: it receives and decodes five tracks, and stores who speaks. */
  readonly workerShare: number;
  /** The same while nothing is recorded. */
  readonly idleShare: number;
  readonly turns: number;
};

/** Simulates a recorded call of five people with open microphones, in which nearly always one of them speaks. */
export async function measureTurns(stage: SpeechStage): Promise<TurnFigures> {
  const { store } = stage;
  const call = await composeCall(TURNS, 1);
  const worker = await stage.startWorker('stt-live');
  const share = async (during: () => Promise<unknown>): Promise<number> => {
    const [cpu, at] = [await worker.processorSeconds(), performance.now()];
    await during();
    return ((await worker.processorSeconds()) - cpu) / ((performance.now() - at) / 1000);
  };
  const idleShare = await share(() => delay(IDLE_MS));
  const room = `bench-${randomUUID()}`;
  const speakers = await Promise.all(
    [...call.tracks].map(([identity, track]) => {
      const inRoom = (sample: number, index: number): number =>
        sample * 32_767 + ((((index * 7919) % 13) - 6) / 6) * ROOM_LEVEL;
      const samples = Int16Array.from(track, inRoom);
      return joinSpeaker(stage, { room, identity }, { samples, rate: CALL_RATE });
    }),
  );
  const id = randomUUID();
  const now = Date.now();
  const claim = { id, room, filepath: `${id}.mp4`, bucket: null, owner: 'bench', claimUntil: now + 60_000 };
  await store.recordings.claim(claim, now);
  await observeRecording(store, id, {
    ...{ type: 'egress-created', egressId: `EG_${id}`, at: now },
  });
  while (!(await store.turns.isListening(id, Date.now()))) await delay(50);
  // Joining is not measured.
  await delay(2_000);
  const workerShare = await share(() => Promise.all(speakers.map(({ play }) => play())));
  const turns = (await store.turns.listTurns(id)).length;
  await Promise.all(speakers.map(({ leave }) => leave()));
  await worker.close();
  return { workerShare, idleShare, turns };
}
