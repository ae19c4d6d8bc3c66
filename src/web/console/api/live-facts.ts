import type { Event } from '../../../contract/events.ts';

/**
 * Facts of rooms from the newest events, by session: the media server's own list is seconds late, and no event announces its
 * update.
 */
export type LiveFacts = {
  readonly participants: ReadonlyMap<string, number>;
  readonly recordings: ReadonlyMap<string, boolean>;
};

export const NO_FACTS: LiveFacts = { participants: new Map(), recordings: new Map() };

export function factsAfter(facts: LiveFacts, { event, room }: Event): LiveFacts {
  if (room === null) return facts;
  const participants = new Map(facts.participants).set(room.id, room.numParticipants);
  if (event !== 'egress_started' && event !== 'egress_ended') return { ...facts, participants };
  const recordings = new Map(facts.recordings).set(room.id, event === 'egress_started');
  return { participants, recordings };
}
