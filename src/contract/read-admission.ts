import { ADMITTED_TOPIC } from './choices.ts';
import { readMembers } from './unknown-value.ts';
import type { Admission } from './waiting.ts';

/**
 * Reads data that LiveKit's client received: the token of the room, for somebody who waited and was admitted. Returns undefined
 * for all other data, also if a participant pretends to admit. It runs in browsers.
 *
 * ```ts
 * room.on(RoomEvent.DataReceived, (payload, participant, _kind, topic) => {
 *   const admission = readAdmission(payload, { topic, participant });
 *   if (admission !== undefined) void room.disconnect().then(() => join(admission.url, admission.token));
 * });
 * ```
 */
export function readAdmission(
  payload: Uint8Array,
  { topic, participant }: { readonly topic: string | undefined; readonly participant: unknown },
): Admission | undefined {
  if (topic !== ADMITTED_TOPIC || participant !== undefined) return undefined;
  const members = readMembers(JSON.parse(new TextDecoder().decode(payload)));
  const { roomId, token, url, expiresAt } = members;
  if ([roomId, token, url, expiresAt].some((member) => typeof member !== 'string')) return undefined;
  return {
    ...{ roomId: String(roomId), token: String(token) },
    ...{ url: String(url), expiresAt: String(expiresAt) },
  };
}
