import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MEASURED_TIMINGS } from '../../../src/server/media-simulator/settings.ts';
import { startWebhookInbox, type WebhookInbox } from '../platform/livekit/webhook-inbox.ts';
import { KEYS, type ManualServer, startManualServer } from './manual-server.ts';

let inbox: WebhookInbox;
let manual: ManualServer;
beforeEach(async () => {
  inbox = await startWebhookInbox(KEYS);
  manual = await startManualServer({ webhookUrls: [inbox.url] });
});
afterEach(async () => {
  await manual.close();
  await inbox.close();
});

function names(): readonly string[] {
  return inbox.received.map(({ event }) => event);
}

describe('a webhook that is not accepted', () => {
  it('is sent again after 1, 2, 4 and 8 s with the same id and body, then dropped', async () => {
    inbox.respondWith(500, 502, 503, 429, 500);
    await manual.server.createRoom({ name: 'demo' });
    for (const [index, waitMs] of [1_000, 2_000, 4_000, 8_000].entries()) {
      await manual.clock.untilSleeping(waitMs);
      await manual.clock.advance(waitMs - 1);
      expect(inbox.received).toHaveLength(index + 1);
      await manual.clock.advance(1);
      await inbox.waitFor(() => true, index + 2);
    }
    await manual.control.webhooksSettled();
    await manual.clock.advance(60_000);
    expect(inbox.received).toHaveLength(5);
    expect(new Set(inbox.received.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(inbox.faults).toEqual([]);
  });

  it.each([400, 401, 404, 501, 204])('counts as delivered with the response %i', async (status) => {
    inbox.respondWith(status);
    await manual.server.createRoom({ name: 'demo' });
    await manual.control.webhooksSettled();
    expect(names()).toEqual(['room_started']);
  });

  it('delays later webhooks of its room and of no other room', async () => {
    inbox.respondWith(500);
    await manual.server.createRoom({ name: 'first' });
    await inbox.waitFor(() => true);
    manual.control.join('first', { identity: 'ada' });
    await manual.server.createRoom({ name: 'second' });
    await inbox.waitFor(({ body }) => body.room?.name === 'second');
    expect(names()).toEqual(['room_started', 'room_started']);
    await manual.clock.untilSleeping(1_000);
    await manual.clock.advance(1_000);
    await manual.control.webhooksSettled();
    const events = inbox.received.filter(({ body }) => body.room?.name === 'first').map(({ event }) => event);
    expect(events).toEqual(['room_started', 'room_started', 'participant_joined']);
  });

  it('is dropped when it waited for more than 30 s', async () => {
    const response = Promise.withResolvers<number>();
    inbox.respondWith(response.promise);
    await manual.server.createRoom({ name: 'demo' });
    await inbox.waitFor(() => true);
    manual.control.join('demo', { identity: 'late' });
    await manual.clock.advance(1);
    manual.control.join('demo', { identity: 'in time' });
    await manual.clock.advance(30_000);
    response.resolve(200);
    await manual.control.webhooksSettled();
    const joined = inbox.received.filter(({ event }) => event === 'participant_joined');
    expect(joined.map(({ body }) => body.participant?.identity)).toEqual(['in time']);
  });

  it('is dropped behind 200 others', async () => {
    inbox.respondWith(500);
    await manual.server.createRoom({ name: 'demo' });
    await manual.clock.untilSleeping(1_000);
    for (let index = 0; index < 201; index += 1) manual.control.join('demo', { identity: `p${index}` });
    await manual.clock.advance(1_000);
    await manual.control.webhooksSettled();
    const joined = inbox.received.filter(({ event }) => event === 'participant_joined');
    expect(joined).toHaveLength(199);
  });
});

describe('webhooks of an ingress', () => {
  it('report a stream in the order of a real one', async () => {
    const wanted = { room: 'stage', participantIdentity: 'camera', participantName: 'Camera' };
    const { ingressId } = await manual.server.createIngress({ type: 'rtmp', ...wanted });
    manual.control.beginStream(ingressId);
    await manual.control.webhooksSettled();
    manual.control.endStream(ingressId);
    await manual.control.webhooksSettled();
    const ofRoom = inbox.received.filter(({ body }) => body.room?.name === 'stage').map(({ event }) => event);
    expect(ofRoom).toEqual([
      'room_started',
      'participant_joined',
      'track_published',
      'track_published',
      'track_unpublished',
      'track_unpublished',
      'participant_left',
    ]);
    const ofIngress = inbox.received.filter(({ body }) => body.ingressInfo?.ingressId === ingressId);
    expect(ofIngress.map(({ event }) => event)).toEqual(['ingress_started', 'ingress_ended']);
    expect(ofIngress.every(({ body }) => body.room === undefined)).toBe(true);
  });
});

describe('webhooks of an egress', () => {
  it('report the start of an egress before the response to its start request', async () => {
    manual.control.join('demo', { identity: 'ada' });
    let answered = false;
    const start = manual.server.startRoomComposite({ room: 'demo', filepath: 'a.mp4' }).finally(() => {
      answered = true;
    });
    await manual.clock.untilSleeping(MEASURED_TIMINGS.startMs);
    await manual.clock.advance(MEASURED_TIMINGS.startMs);
    const [started] = await inbox.waitFor(({ event }) => event === 'egress_started');
    expect(answered).toBe(false);
    await manual.clock.advance(MEASURED_TIMINGS.startResponseMs);
    expect(started?.body.egressInfo?.egressId).toBe((await start).egressId);
  });
});
