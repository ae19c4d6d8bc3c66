import type { Random } from '../../../test/support/random.ts';
import { EVENTS_PER_ROOM, type MediaEvents } from './media-events.ts';
import { REFUSED_ONCE, type Tally, type Witness } from './witness.ts';

/** Causes a fault while some deliveries of the round have been made and others have not. */
export type Fault = () => Promise<void>;

export type Rounds = {
  readonly witness: Witness;
  readonly events: MediaEvents;
  readonly random: Random;
  /** Rooms that end in each round: one event each. */
  readonly endsPerRound: number;
  /** Rooms of which all events are posted in each round. */
  readonly roomsPerRound: number;
  /** One entry per round; undefined means a round without a fault. */
  readonly faults: readonly (Fault | undefined)[];
  readonly report: (line: string) => void;
};

const ROUNDS_BETWEEN_REPORTS = 5;
/** In every third round all webhooks refuse the first request of one room, so that its later events have to wait. */
const REFUSED_ROUND = 3;

/**
 * Posts the events of each round and causes its fault. Resolves when all deliveries have arrived, or none arrives any more.
 */
export async function playRounds(options: Rounds): Promise<Tally> {
  const { witness, events, random, endsPerRound, roomsPerRound, faults, report } = options;
  const posts: Promise<void>[] = [];
  for (const [round, strike] of faults.entries()) {
    for (let index = 0; index < endsPerRound; index += 1) posts.push(events.post(`r${round}-${index}`));
    for (let index = 0; index < roomsPerRound; index += 1) {
      const isRefused = index === 0 && round % REFUSED_ROUND === 0;
      posts.push(events.playRoom(`${isRefused ? REFUSED_ONCE : ''}life-${round}-${index}`));
    }
    const deliveries = (endsPerRound + roomsPerRound * EVENTS_PER_ROOM) * witness.webhooks;
    const moment = witness.tally().arrivals + random.integer(Math.ceil((deliveries * 4) / 5));
    await witness.until(({ arrivals }) => arrivals >= moment);
    await strike?.();
    if ((round + 1) % ROUNDS_BETWEEN_REPORTS === 0) {
      report(`${round + 1} of ${faults.length} rounds, ${witness.tally().arrivals} arrivals`);
    }
  }
  await Promise.all(posts);
  const expected = events.acknowledged() * witness.webhooks;
  await witness.until(({ distinct }) => distinct >= expected);
  return witness.tally();
}
