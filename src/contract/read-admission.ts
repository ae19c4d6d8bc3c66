import { ADMITTED_TOPIC } from './choices.ts';
import { readMembers } from './unknown-value.ts';
import type { Admission } from './waiting.ts';

type Sender = {
  readonly topic: string | undefined;
  readonly participant: unknown;
  /** The identity of the sender, which the client tells after the encryption. A sender who has just left is no participant any more. */
  readonly identity?: string | undefined;
};

/**
 * Reads data that LiveKit's client received: the token of the room, for somebody who waited and was admitted. Returns undefined
 * for all other data, also if a participant pretends to admit. It runs in browsers.
 *
 * ```ts
 * room.on(RoomEvent.DataReceived, (payload, participant, _kind, topic, _encryption, identity) => {
 *   const admission = readAdmission(payload, { topic, participant, identity });
 *   if (admission !== undefined) void room.disconnect().then(() => join(admission.url, admission.token));
 * });
 * ```
 */
export function readAdmission(
  payload: Uint8Array,
  { topic, participant, identity = '' }: Sender,
): Admission | undefined {
  if (topic !== ADMITTED_TOPIC || participant !== undefined || identity !== '') return undefined;
  const { roomId, token, url, expiresAt } = parseMembers(new TextDecoder().decode(payload));
  if ([roomId, token, url, expiresAt].some((member) => typeof member !== 'string')) return undefined;
  return {
    roomId: String(roomId),
    token: String(token),
    url: String(url),
    expiresAt: String(expiresAt),
  };
}

function parseMembers(text: string): ReturnType<typeof readMembers> {
  try {
    return readMembers(JSON.parse(text));
  } catch {
    return {};
  }
}
