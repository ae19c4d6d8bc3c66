import type { Event } from '../../../contract/events.ts';

/*
 * The cache key of each response of the service, and what an event changes: the keys that it makes outdated, and facts that
 * are newer than any response. A shorter key includes all that begin with it.
 */

export const KEYS = {
  rooms: () => ['rooms'],
  participants: (room: string) => ['participants', room],
  allBlocks: () => ['blocks'],
  blocks: (room: string) => ['blocks', room],
  waiting: (room: string) => ['waiting', room],
  liveTranscription: (room: string) => ['live-transcription', room],
  sessions: () => ['sessions'],
  recordings: () => ['recordings'],
  transcriptions: () => ['transcriptions'],
  webhooks: () => ['webhooks'],
  deliveries: () => ['deliveries'],
  /** Without a name, of all rooms. */
  ingress: (room: string) => ['ingress', room],
  keys: () => ['keys'],
  plans: () => ['plans'],
  broadcasts: () => ['broadcasts'],
  usage: () => ['usage'],
  audit: () => ['audit'],
  explanations: () => ['explanations'],
} as const;

export function keysOfEvent({ event, room }: Event): readonly (readonly string[])[] {
  const ofRoom =
    room === null
      ? []
      : [
          KEYS.rooms(),
          KEYS.sessions(),
          KEYS.participants(room.name),
          KEYS.liveTranscription(room.name),
          KEYS.blocks(room.name),
          KEYS.waiting(room.name),
        ];
  // The effect of a request is an event; its result is in the log.
  const all = [...ofRoom, KEYS.deliveries(), KEYS.audit(), KEYS.explanations()];
  if (event.startsWith('egress_') || event.startsWith('recording_')) return [...all, KEYS.recordings()];
  if (event.startsWith('broadcast_')) return [...all, KEYS.broadcasts()];
  if (event.startsWith('transcription_')) return [...all, KEYS.transcriptions()];
  if (event.startsWith('ingress_') && room !== null)
    return [...all, KEYS.ingress(room.name), KEYS.ingress('')];
  return all;
}

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
