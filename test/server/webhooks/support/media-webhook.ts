import { createHash, createHmac } from 'node:crypto';

/** What signs the media server's webhooks. */
export type MediaKeys = { readonly apiKey: string; readonly apiSecret: string };

/** The key that a test service without a media server has. */
export const ABSENT_MEDIA: MediaKeys = { apiKey: 'absent', apiSecret: 'absent' };

/** A webhook of the media server as it goes over the wire: LiveKit's JSON, after `edit`, and the JWT that covers it. */
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

/** The end of a room that nobody heard of before: one event for us, room_finished. */
export function roomFinished(name: string): Readonly<Record<string, unknown>> {
  return { event: 'room_finished', id: `EV_${name}`, room: { sid: `RM_${name}`, name } };
}

/** All that happens in a room of five people who each publish a track: 17 events of LiveKit's, in their order. */
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

/** Posts it as the media server does; the status. */
export async function postMediaEvent(
  serviceUrl: string,
  event: Readonly<Record<string, unknown>>,
  keys?: MediaKeys,
): Promise<number> {
  const answer = await fetch(`${serviceUrl}/livekit/webhook`, {
    method: 'POST',
    ...mediaWebhook(event, keys),
  });
  await answer.body?.cancel();
  return answer.status;
}
