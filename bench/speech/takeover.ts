import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ground } from './ground.ts';
import { joinSpeaker, synthesise } from './live.ts';

/** A second long, so that the first one that is heard again is near the takeover. */
const SENTENCE = 'We are here.';
const TAKEOVERS = 5;
const POLL_MS = 10;
/** Until the worker listens, and until it has settled after a takeover. */
const SETTLE_MS = 6_000;
const GIVE_UP_MS = 15_000;

export type TakeoverFigures = {
  /** From each kill until another worker held the transcription, in milliseconds. */
  readonly claimedAfter: readonly number[];
  /** From each kill until the beginning of the first sentence that has a segment again, in milliseconds of the call. */
  readonly heardAfter: readonly number[];
};

/** Somebody speaks without end while one worker after the other is killed, and always one is left to take over. */
export async function measureTakeover(ground: Ground): Promise<TakeoverFigures> {
  const { store, livekit } = ground;
  const sentence = await synthesise(ground, SENTENCE, 0);
  const room = `bench-${randomUUID()}`;
  const id = `tr_${randomUUID()}`;
  let worker = await ground.startWorker('stt-live');
  const speaker = await joinSpeaker(livekit, room, 'speaker');
  const options = { partialResults: false, captions: false, punctuation: true, profanityFilter: false };
  await store.transcriptions.startLive({
    ...{ id, room, language: 'en', speakers: {}, createdAt: Date.now(), options },
  });
  const ending = new AbortController();
  const speaking = speaker.repeat(sentence, ending.signal);
  const ownerOf = async () => (await store.transcriptions.find(id))?.leaseOwner;
  const claimedAfter: number[] = [];
  const kills: number[] = [];
  for (let takeover = 0; takeover < TAKEOVERS; takeover += 1) {
    const successor = await ground.startWorker('stt-live');
    await delay(SETTLE_MS);
    const owner = await ownerOf();
    await worker.kill();
    const killedAt = Date.now();
    const until = killedAt + GIVE_UP_MS;
    while ([owner, null].includes(await ownerOf()) && Date.now() < until) await delay(POLL_MS);
    const after = Date.now() - killedAt;
    // On a machine that is held up the successor may have had it before.
    if (after < GIVE_UP_MS) {
      kills.push(killedAt);
      claimedAfter.push(after);
    }
    worker = successor;
  }
  await delay(SETTLE_MS);
  ending.abort();
  await speaking;
  const segments = await store.transcriptions.listSegments(id);
  await speaker.leave();
  await store.transcriptions.stopLive(id, Date.now());
  await worker.close();
  const heardAfter = kills.map(
    (killedAt) =>
      Math.min(...segments.map(({ startedAt }) => startedAt).filter((at) => at > killedAt)) - killedAt,
  );
  return { claimedAfter, heardAfter };
}
