import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchWorker, Ground } from './ground.ts';
import { joinSpeaker, synthesise } from './live.ts';

/** A second long, so that the first one that is heard again is near the takeover. */
const SENTENCE = 'We are here.';
const TAKEOVERS = 5;
const POLL_MS = 10;
/** Until the worker listens, and until it has settled after a takeover. */
const SETTLE_MS = 6_000;

export type TakeoverFigures = {
  /** From each kill until another worker held the transcription, in milliseconds. */
  readonly claimedAfter: readonly number[];
  /** From each kill until the beginning of the first sentence that has a segment again, in milliseconds of the call. */
  readonly heardAfter: readonly number[];
};

/** Somebody speaks without end, and the worker is killed while another one is there to take over; then in another room. */
export async function measureTakeover(ground: Ground): Promise<TakeoverFigures> {
  const claimedAfter: number[] = [];
  const heardAfter: number[] = [];
  let worker = await ground.startWorker('stt-live');
  for (let takeover = 0; takeover < TAKEOVERS; takeover += 1) {
    const figures = await takeOver(ground, worker);
    claimedAfter.push(figures.claimedAfter);
    heardAfter.push(figures.heardAfter);
    worker = figures.successor;
  }
  await worker.close();
  return { claimedAfter, heardAfter };
}

async function takeOver(ground: Ground, worker: BenchWorker) {
  const { store, livekit } = ground;
  const sentence = await synthesise(ground, SENTENCE, 0);
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
  const successor = await ground.startWorker('stt-live');
  await delay(SETTLE_MS);
  const owner = await ownerOf();
  await worker.kill();
  const killedAt = Date.now();
  while ([owner, null].includes(await ownerOf())) await delay(POLL_MS);
  const claimedAfter = Date.now() - killedAt;
  await delay(SETTLE_MS);
  ending.abort();
  await speaking;
  const begun = (await store.transcriptions.listSegments(id)).map(({ startedAt }) => startedAt);
  await speaker.leave();
  await store.transcriptions.stopLive(id, Date.now());
  return { successor, claimedAfter, heardAfter: Math.min(...begun.filter((at) => at > killedAt)) - killedAt };
}
