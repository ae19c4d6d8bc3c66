import type { Random } from '../../test/support/random.ts';
import type { MediaEvents } from './media-events.ts';
import type { Tally, Witness } from './witness.ts';

/** Causes a fault while some deliveries of the round have been made and others have not. */
export type Fault = () => Promise<void>;

export type Rounds = {
  readonly witness: Witness;
  readonly events: MediaEvents;
  readonly random: Random;
  readonly eventsPerRound: number;
  /** One entry per round; undefined means a round without a fault. */
  readonly faults: readonly (Fault | undefined)[];
  readonly report: (line: string) => void;
};

const ROUNDS_BETWEEN_REPORTS = 5;

/**
 * Posts the events of each round and causes its fault. Resolves when all deliveries have arrived, or none arrives any more.
 */
export async function playRounds(options: Rounds): Promise<Tally> {
  const { witness, events, random, eventsPerRound, faults, report } = options;
  const posts: Promise<void>[] = [];
  for (const [round, strike] of faults.entries()) {
    for (let index = 0; index < eventsPerRound; index += 1) posts.push(events.post(`r${round}-${index}`));
    const deliveries = eventsPerRound * witness.webhooks;
    const moment = witness.tally().arrivals + random.integer(Math.ceil((deliveries * 4) / 5));
    await witness.until(({ arrivals }) => arrivals >= moment);
    await strike?.();
    if ((round + 1) % ROUNDS_BETWEEN_REPORTS === 0) {
      report(`${round + 1} of ${faults.length} rounds, ${witness.tally().arrivals} arrivals`);
    }
  }
  await Promise.all(posts);
  const expected = events.acknowledgedAt.size * witness.webhooks;
  await witness.until(({ distinct }) => distinct >= expected);
  return witness.tally();
}
