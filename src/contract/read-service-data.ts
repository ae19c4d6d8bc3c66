import { ADMITTED_TOPIC, CLOSE_REASONS, CLOSING_TOPIC } from './choices.ts';
import type { RoomClosing } from './plans.ts';
import { parseJson, readMembers } from './unknown-value.ts';
import type { Admission } from './waiting.ts';

/*
 * Reads data that LiveKit's client received. Only what comes from the service is read: data of participants, who may use the
 * same topics, is not. It runs in browsers.
 */

type Sender = {
  readonly topic: string | undefined;
  readonly participant: unknown;
  /**
   * The identity of the sender, the last argument of LiveKit's event. It tells of a sender who has just left, for whom
   * `participant` is undefined.
   */
  readonly identity?: string | undefined;
};

/**
 * Reads the token of the room, for somebody who waited and was admitted. Returns undefined for all other data, also if a
 * participant pretends to admit.
 *
 * ```ts
 * room.on(RoomEvent.DataReceived, (payload, participant, _kind, topic, _encryption, identity) => {
 *   const admission = readAdmission(payload, { topic, participant, identity });
 *   if (admission !== undefined) void room.disconnect().then(() => join(admission.url, admission.token));
 * });
 * ```
 */
export function readAdmission(payload: Uint8Array, sender: Sender): Admission | undefined {
  if (!isFromService(sender, ADMITTED_TOPIC)) return undefined;
  const { roomId, token, url, expiresAt } = parseMembers(payload);
  if ([roomId, token, url, expiresAt].some((member) => typeof member !== 'string')) return undefined;
  return {
    roomId: String(roomId),
    token: String(token),
    url: String(url),
    expiresAt: String(expiresAt),
  };
}

/**
 * Reads the warning that the room will be closed. Returns undefined for all other data, also if a participant pretends to warn.
 *
 * ```ts
 * room.on(RoomEvent.DataReceived, (payload, participant, _kind, topic, _encryption, identity) => {
 *   const closing = readClosing(payload, { topic, participant, identity });
 *   if (closing !== undefined) show(`This room closes in ${closing.secondsLeft} seconds.`);
 * });
 * ```
 */
export function readClosing(payload: Uint8Array, sender: Sender): RoomClosing | undefined {
  if (!isFromService(sender, CLOSING_TOPIC)) return undefined;
  const { reason: given, closesAt, secondsLeft } = parseMembers(payload);
  const reason = CLOSE_REASONS.find((known) => known === given);
  if (reason === undefined || typeof closesAt !== 'string' || typeof secondsLeft !== 'number')
    return undefined;
  return { reason, closesAt, secondsLeft };
}

function isFromService({ topic, participant, identity = '' }: Sender, wanted: string): boolean {
  return topic === wanted && participant === undefined && identity === '';
}

function parseMembers(payload: Uint8Array): ReturnType<typeof readMembers> {
  return readMembers(parseJson(new TextDecoder().decode(payload)));
}
