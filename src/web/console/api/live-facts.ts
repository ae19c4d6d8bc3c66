import type { Event } from '../../../contract/events.ts';

/**
 * Facts of rooms from the newest events, by session: the media server's own list is seconds late, and no event announces its
 * update.
 */
export type LiveFacts = { readonly participants: ReadonlyMap<string, number> };

export const NO_FACTS: LiveFacts = { participants: new Map() };

export function factsAfter(facts: LiveFacts, { room }: Event): LiveFacts {
  if (room === null) return facts;
  return { participants: new Map(facts.participants).set(room.id, room.numParticipants) };
}
