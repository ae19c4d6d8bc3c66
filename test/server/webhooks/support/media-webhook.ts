import { createHash, createHmac } from 'node:crypto';

/** The key pair that signs the media server's webhooks. */
export type MediaKeys = { readonly apiKey: string; readonly apiSecret: string };

/** The key pair of a test service without a media server. */
export const ABSENT_MEDIA: MediaKeys = { apiKey: 'absent', apiSecret: 'absent' };

/** Makes a webhook as the media server sends it: LiveKit's JSON, changed by `edit`, and the JWT that covers it. */
export function mediaWebhook(
  event: Readonly<Record<string, unknown>>,
  { apiKey, apiSecret }: MediaKeys = ABSENT_MEDIA,
  { edit = (text: string) => text } = {},
): { readonly body: string; readonly headers: Readonly<Record<string, string>> } {
  const now = Math.floor(Date.now() / 1000);
  const body = edit(JSON.stringify({ createdAt: String(now), ...event }));
  const sha256 = createHash('sha256').update(body).digest('base64');
  const claims = { iss: apiKey, exp: now + 300, nbf: now - 5, sha256 };
  const signed = [{ alg: 'HS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const signature = createHmac('sha256', apiSecret).update(signed).digest('base64url');
  return {
    body,
    headers: { 'content-type': 'application/webhook+json', authorization: `${signed}.${signature}` },
  };
}

/** The end of an unknown room. The service publishes one event, room_finished. */
export function roomFinished(name: string): Readonly<Record<string, unknown>> {
  return { event: 'room_finished', id: `EV_${name}`, room: { sid: `RM_${name}`, name } };
}

/** All events of a room with five participants who each publish a track: 17 events of LiveKit in their order. */
export function roomLife(name: string): readonly Readonly<Record<string, unknown>>[] {
  const room = { sid: `RM_${name}`, name, creationTime: String(Math.floor(Date.now() / 1000)) };
  const people = Array.from({ length: 5 }, (_, index) => ({
    sid: `PA_${name}_${index}`,
    identity: `person-${index}`,
    name: `Person ${index}`,
    kind: 'STANDARD',
    joinedAt: room.creationTime,
  }));
  const short = { sid: room.sid, name };
  const events = [
    { event: 'room_started', room },
    ...people.map((participant) => ({ event: 'participant_joined', room, participant })),
    ...people.map(({ sid, identity }) => ({
      event: 'track_published',
      room: short,
      participant: { sid, identity },
      track: { sid: `TR_${sid}`, type: 'AUDIO', source: 'MICROPHONE', name: 'microphone' },
    })),
    ...people.map((participant) => ({ event: 'participant_left', room, participant })),
    { event: 'room_finished', room },
  ];
  return events.map((event, index) => ({ ...event, id: `EV_${name}_${index}` }));
}

/** Posts the event as the media server does. Resolves to the status. */
export async function postMediaEvent(
  serviceUrl: string,
  event: Readonly<Record<string, unknown>>,
  keys?: MediaKeys,
): Promise<number> {
  const response = await fetch(`${serviceUrl}/livekit/webhook`, {
    method: 'POST',
    ...mediaWebhook(event, keys),
  });
  await response.body?.cancel();
  return response.status;
}
