import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { joinSpeaker, synthesise } from './live.ts';
import type { BenchWorker, SpeechStage } from './stage.ts';

/** One second long, so that the first sentence with a segment is near the takeover. */
const SENTENCE = 'We are here.';
const TAKEOVERS = 5;
const POLL_MS = 10;
/** Time for a worker to begin to listen, and to become stable after a takeover. */
const STABLE_AFTER_MS = 6_000;

export type TakeoverFigures = {
  /** Milliseconds from each kill until another worker had claimed the transcription. */
  readonly claimedAfter: readonly number[];
  /** Milliseconds of the call from each kill to the beginning of the first sentence that has a segment again. */
  readonly heardAfter: readonly number[];
};

/** Kills the worker while somebody speaks and another worker is ready to take over. Repeats this in further rooms. */
export async function measureTakeover(stage: SpeechStage): Promise<TakeoverFigures> {
  const claimedAfter: number[] = [];
  const heardAfter: number[] = [];
  let worker = await stage.startWorker('stt-live');
  for (let takeover = 0; takeover < TAKEOVERS; takeover += 1) {
    const figures = await takeOver(stage, worker);
    claimedAfter.push(figures.claimedAfter);
    heardAfter.push(figures.heardAfter);
    worker = figures.successor;
  }
  await worker.close();
  return { claimedAfter, heardAfter };
}

async function takeOver(stage: SpeechStage, worker: BenchWorker) {
  const { store, livekit } = stage;
  const sentence = await synthesise(stage, SENTENCE, 0);
  const room = `bench-${randomUUID()}`;
  const id = `tr_${randomUUID()}`;
  const speaker = await joinSpeaker(livekit, room, 'speaker');
  const options = { partialResults: false, captions: false, punctuation: true, profanityFilter: false };
  await store.transcriptions.startLive({
    ...{ id, room, language: 'en', speakers: {}, createdAt: Date.now(), options },
  });
  const ending = new AbortController();
  const speaking = speaker.repeat(sentence, ending.signal);
  const ownerOf = async () => (await store.transcriptions.find(id))?.leaseOwner;
  const successor = await stage.startWorker('stt-live');
  await delay(STABLE_AFTER_MS);
  const owner = await ownerOf();
  await worker.kill();
  const killedAt = Date.now();
  while ([owner, null].includes(await ownerOf())) await delay(POLL_MS);
  const claimedAfter = Date.now() - killedAt;
  await delay(STABLE_AFTER_MS);
  ending.abort();
  await speaking;
  const begun = (await store.transcriptions.listSegments(id)).map(({ startedAt }) => startedAt);
  await speaker.leave();
  await store.transcriptions.stopLive(id, Date.now());
  return { successor, claimedAfter, heardAfter: Math.min(...begun.filter((at) => at > killedAt)) - killedAt };
}
