import { useRoomContext } from '@livekit/components-react';
import { type Room, RoomEvent } from 'livekit-client';
import { Heart, Laugh, type LucideIcon, PartyPopper, ThumbsUp, Zap } from 'lucide-react';
import { useEffect, useState } from 'react';

/** Reactions are data messages on this topic: the kind of one of the reactions below, in UTF-8. */
const TOPIC = 'rtc.reaction';

export type Reaction = { readonly kind: string; readonly name: string; readonly Icon: LucideIcon };

/** Drawn, because not every machine has a font with emoji. */
export const REACTIONS: readonly Reaction[] = [
  { kind: 'thumbs-up', name: 'Thumbs up', Icon: ThumbsUp },
  { kind: 'heart', name: 'Heart', Icon: Heart },
  { kind: 'laugh', name: 'Laugh', Icon: Laugh },
  { kind: 'surprise', name: 'Surprise', Icon: Zap },
  { kind: 'celebrate', name: 'Celebrate', Icon: PartyPopper },
];

const SHOWN_MS = 4_000;

/** Sends a reaction, which the sender sees too. */
export async function sendReaction(room: Room, kind: string): Promise<void> {
  await room.localParticipant.publishData(new TextEncoder().encode(kind), { topic: TOPIC, reliable: true });
  own.dispatchEvent(new CustomEvent(TOPIC, { detail: kind }));
}

/** The media server does not send data back to its sender. */
const own = new EventTarget();

/** Newest reaction of each participant, by identity. */
export function useReactions(): ReadonlyMap<string, Reaction> {
  const room = useRoomContext();
  const [reactions, setReactions] = useState<ReadonlyMap<string, Reaction>>(new Map());
  useEffect(() => {
    const timers = new Map<string, number>();
    const show = (identity: string, kind: string): void => {
      const reaction = REACTIONS.find((each) => each.kind === kind);
      // Anything else that somebody sends is not a reaction.
      if (reaction === undefined) return;
      window.clearTimeout(timers.get(identity));
      setReactions((before) => new Map(before).set(identity, reaction));
      const hide = (): void =>
        setReactions((before) => new Map([...before].filter(([each]) => each !== identity)));
      timers.set(identity, window.setTimeout(hide, SHOWN_MS));
    };
    const onData = (...[bytes, sender, , topic]: DataArguments): void => {
      if (topic === TOPIC && sender !== undefined && bytes.length <= 32) {
        show(sender.identity, new TextDecoder().decode(bytes));
      }
    };
    const onOwn = (event: Event): void => {
      if (event instanceof CustomEvent) show(room.localParticipant.identity, String(event.detail));
    };
    room.on(RoomEvent.DataReceived, onData);
    own.addEventListener(TOPIC, onOwn);
    return () => {
      room.off(RoomEvent.DataReceived, onData);
      own.removeEventListener(TOPIC, onOwn);
      for (const timer of timers.values()) window.clearTimeout(timer);
    };
  }, [room]);
  return reactions;
}

type DataArguments = readonly [
  bytes: Uint8Array,
  sender: { readonly identity: string } | undefined,
  kind: unknown,
  topic: string | undefined,
];
