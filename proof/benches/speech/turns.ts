import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { SAMPLE_RATE } from '../../../src/server/transcription/engines/speech.ts';
import {
  composeCall,
  type ScriptedCall,
} from '../../../test/server/transcription/turns/support/scripted-call.ts';
import { observeRecording } from '../../../test/support/observe-recording.ts';
import { openTestModel } from '../../../test/support/parts/speech-model.ts';
import { Random } from '../../../test/support/random.ts';
import { processorSeconds } from '../../support/process-figures.ts';
import { joinSpeaker, SPEAKER_RATE } from './live.ts';
import type { SpeechStage } from './stage.ts';

/** The cost of detecting the speakers in a recorded room, in core-seconds per second of the call. */
export type TurnFigures = {
  /** The voice detectors of the five tracks, and the gate in front of them. */
  readonly detectorShare: number;
  /** The whole worker in a real room: it receives and decodes the five tracks, runs the detectors and stores the turns. */
  readonly workerShare: number;
  /** The same worker while nothing is recorded. */
  readonly idleShare: number;
  readonly turns: number;
};

const TURNS = 40;
const FRAME = SAMPLE_RATE / 50;
/** About -56 dBFS, the level of an office. */
const ROOM_LEVEL = 0.0016;
const IDLE_MS = 20_000;
const POLL_MS = 50;

/** Simulates a call of five people with open microphones, in which nearly always one of them speaks. */
export async function measureTurns(stage: SpeechStage): Promise<TurnFigures> {
  const call = await composeCall(TURNS, 1);
  const tracks = new Map([...call.tracks].map(([name, samples], index) => [name, inRoom(samples, index)]));
  const detectorShare = measureDetectors(tracks);
  return { detectorShare, ...(await measureWorker(stage, tracks)) };
}

type Tracks = ScriptedCall['tracks'];

function inRoom(samples: Float32Array, seed: number): Float32Array {
  const random = new Random(seed);
  let low = 0;
  return samples.map((sample) => {
    low = 0.9 * low + ((random.integer(1 << 16) - (1 << 15)) / (1 << 15)) * ROOM_LEVEL * 0.75;
    return sample + low;
  });
}

function measureDetectors(tracks: Tracks): number {
  const speech = openTestModel();
  let [used, seconds] = [0, 0];
  for (const samples of tracks.values()) {
    const detector = speech.createTurnDetector();
    const before = process.cpuUsage();
    for (let at = 0; at < samples.length; at += FRAME) detector.push(samples.subarray(at, at + FRAME));
    used += processorSeconds(before);
    seconds = samples.length / SAMPLE_RATE;
    detector.close();
  }
  return used / seconds;
}

async function measureWorker(
  stage: SpeechStage,
  tracks: Tracks,
): Promise<Omit<TurnFigures, 'detectorShare'>> {
  const { livekit, store } = stage;
  const worker = await stage.startWorker('stt-live');
  const share = async (during: () => Promise<unknown>): Promise<number> => {
    const [cpu, at] = [worker.processorSeconds(), performance.now()];
    await during();
    return (worker.processorSeconds() - cpu) / ((performance.now() - at) / 1000);
  };
  const idleShare = await share(() => delay(IDLE_MS));
  const room = `bench-${randomUUID()}`;
  const speakers = await Promise.all(
    [...tracks].map(async ([name, samples]) => ({
      samples,
      speaker: await joinSpeaker(livekit, room, name),
    })),
  );
  const id = randomUUID();
  const now = Date.now();
  await store.recordings.claim(
    { id, room, filepath: `${id}.mp4`, bucket: null, owner: 'bench', claimUntil: now + 60_000 },
    now,
  );
  await observeRecording(store, id, {
    type: 'egress-created',
    owner: 'bench',
    egressId: `EG_${id}`,
    at: now,
  });
  while (!(await store.turns.isListening(id, Date.now()))) await delay(POLL_MS);
  // Joining is not measured.
  await delay(2_000);
  const workerShare = await share(() =>
    Promise.all(speakers.map(({ speaker, samples }) => speaker.send(toSpeakerRate(samples)))),
  );
  const turns = (await store.turns.listTurns(id)).length;
  await Promise.all(speakers.map(({ speaker }) => speaker.leave()));
  await worker.close();
  return { workerShare, idleShare, turns };
}

function toSpeakerRate(samples: Float32Array): Int16Array {
  const length = Math.floor((samples.length * SPEAKER_RATE) / SAMPLE_RATE);
  return Int16Array.from({ length }, (_, index) => {
    const exact = (index * SAMPLE_RATE) / SPEAKER_RATE;
    const [whole, part] = [Math.floor(exact), exact % 1];
    const sample = (samples[whole] ?? 0) * (1 - part) + (samples[whole + 1] ?? 0) * part;
    return Math.round(sample * 32_767);
  });
}
