import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../src/server/platform/clock.ts';
import { startLivekitFixture } from '../platform/livekit/livekit-fixture.ts';
import { type MediaServerFixture, unique } from '../platform/livekit/media-server-contract.ts';
import type { ReceivedWebhook } from '../platform/livekit/webhook-inbox.ts';
import { startEmbeddedFixture } from './embedded-fixture.ts';

let real: readonly ReceivedWebhook[];
let embedded: readonly ReceivedWebhook[];
const fixtures: MediaServerFixture[] = [];

beforeAll(async () => {
  // Runs in real time, because the counts in a room's records change five seconds after it was created.
  fixtures.push(
    await startLivekitFixture({ redis: false }),
    await startEmbeddedFixture({ clock: systemClock }),
  );
  [real = [], embedded = []] = await Promise.all(fixtures.map(roomLife));
});

afterAll(() => Promise.all(fixtures.map((fixture) => fixture.close())));

/** Fields that only a connected client sets, and a simulated one does not. */
const OF_A_CLIENT = [
  'participant.capabilities',
  'participant.clientProtocol',
  'track.backupCodecPolicy',
  'track.codecs',
  'track.mid',
  'track.version',
];

it('the simulator sends the same events with the same fields as the real server', () => {
  expect(embedded.map(({ event }) => event)).toEqual(real.map(({ event }) => event));
  for (const [index, webhook] of embedded.entries()) {
    const expected = listFields(real[index]).filter((field) => !OF_A_CLIENT.includes(field));
    expect({ event: webhook.event, fields: listFields(webhook) }).toEqual({
      event: webhook.event,
      fields: expected,
    });
  }
});

it('the simulator sends the same headers as the real server', () => {
  const types = (webhooks: readonly ReceivedWebhook[]) =>
    webhooks.map(({ headers }) => headers['content-type']);
  expect(types(embedded)).toEqual(types(real));
  expect(claimNames(embedded[0])).toEqual(claimNames(real[0]));
});

/** Plays two lives of a room, which end by the last leave and by deletion. Every field of their events has a value. */
async function roomLife({ server, join, inbox }: MediaServerFixture): Promise<readonly ReceivedWebhook[]> {
  const name = unique();
  await server.createRoom({ name, departureTimeout: 1, maxParticipants: 5, metadata: 'm' });
  const person = await join(name, 'ada', { attributes: { 'rtc.role': 'host' } });
  const sid = await person.publish();
  await inbox.waitFor(({ event }) => event === 'track_published');
  await server.muteTrack(name, 'ada', sid);
  await person.leave();
  await inbox.waitFor(({ event }) => event === 'room_finished');
  await server.createRoom({ name, departureTimeout: 1, maxParticipants: 5, metadata: 'm' });
  const another = await join(name, 'ada', { attributes: { 'rtc.role': 'host' } });
  await another.publish();
  await inbox.waitFor(({ event }) => event === 'track_published', 2);
  await server.deleteRoom(name);
  await inbox.waitFor(({ event }) => event === 'room_finished', 2);
  expect(inbox.faults).toEqual([]);
  return inbox.received;
}

/** Returns the sorted names of the fields of an event and of the records in it. */
function listFields(webhook: ReceivedWebhook | undefined): readonly string[] {
  return Object.entries(webhook?.body ?? {})
    .flatMap(([name, value]) =>
      typeof value === 'object' ? Object.keys(value).map((field) => `${name}.${field}`) : [name],
    )
    .sort();
}

function claimNames(webhook: ReceivedWebhook | undefined): readonly string[] {
  const payload = webhook?.headers.authorization?.split('.')[1] ?? '';
  return Object.keys(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))).sort();
}
