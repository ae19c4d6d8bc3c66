import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/contract/errors.ts';
import type { Participant } from '../../../../src/contract/participants.ts';
import type { MediaServer } from '../../../../src/server/platform/livekit/media-server.ts';
import type { WebhookInbox } from './webhook-inbox.ts';

/*
 * The behaviour that every media server behind the port has. These tests run against the real livekit-server, with and
 * without Redis and always without a recorder, and against the embedded server with the same set-up. They ensure that the
 * embedded server behaves like LiveKit. Participants are real on the one and simulated on the other.
 */
export type MediaServerFixture = {
  readonly server: MediaServer;
  /** The same server, called with another key pair. */
  readonly withKeys: (keys: { readonly apiKey?: string; readonly apiSecret?: string }) => MediaServer;
  readonly join: (room: string, identity: string, options?: JoinOptions) => Promise<Person>;
  readonly inbox: WebhookInbox;
  readonly close: () => Promise<void>;
};

export type JoinOptions = { readonly hidden?: boolean; readonly attributes?: Record<string, string> };

export type Person = {
  /** Resolves to the sid of a microphone track. */
  readonly publish: () => Promise<string>;
  readonly leave: () => Promise<void>;
};

export type MediaServerCase = {
  readonly name: string;
  readonly hasRedis: boolean;
  readonly start: () => Promise<MediaServerFixture>;
};

const DEADLINE_MS = 60_000;
/** The media server searches for a recorder for 24 s. */
const NO_RECORDER_TIMEOUT_MS = 40_000;

export function describeMediaServer({ name, hasRedis, start }: MediaServerCase): void {
  describe.concurrent(name, () => {
    let fixture: MediaServerFixture;
    beforeAll(async () => {
      fixture = await start();
    });
    afterAll(() => fixture?.close());
    const open = () => fixture;

    describeRooms(open);
    describeParticipants(open);
    if (hasRedis) describeWithRedis(open);
    else describeWithoutRedis(open);
    describeKeys(open);
    describeWebhooks(open);
  });
}

type Open = () => MediaServerFixture;

function describeRooms(open: Open): void {
  it('creates a room with its settings and returns its record without the TURN password', async () => {
    const { server } = open();
    const name = unique();
    const settings = { name, maxParticipants: 7, emptyTimeout: 61, departureTimeout: 62, metadata: 'm é' };
    const room = await server.createRoom(settings);
    expect(room).toMatchObject({
      name,
      maxParticipants: 7,
      emptyTimeout: 61,
      departureTimeout: 62,
      metadata: 'm é',
      numParticipants: 0,
      numPublishers: 0,
      activeRecording: false,
    });
    expect(room.sid).toMatch(/^RM_/);
    expect(room.creationTime).toMatch(/^\d+$/);
    expect(room.creationTimeMs).toMatch(/^\d+$/);
    expect(Math.abs(Number(room.creationTimeMs) - Number(room.creationTime) * 1000)).toBeLessThan(1000);
    expect(Object.keys(room).sort()).toEqual([
      'activeBroadcast',
      'activeRecording',
      'creationTime',
      'creationTimeMs',
      'departureTimeout',
      'emptyTimeout',
      'enabledCodecs',
      'maxParticipants',
      'metadata',
      'name',
      'numParticipants',
      'numPublishers',
      'sid',
    ]);
    expect(await server.listRooms([name])).toEqual([room]);
  });

  it("gives LiveKit's defaults to a room without settings", async () => {
    const room = await open().server.createRoom({ name: unique() });
    expect(room).toMatchObject({ emptyTimeout: 300, departureTimeout: 20, maxParticipants: 0, metadata: '' });
  });

  it('returns an existing room unchanged whatever is requested', async () => {
    const { server } = open();
    const room = await server.createRoom({ name: unique(), metadata: 'first', maxParticipants: 2 });
    const again = await server.createRoom({ name: room.name, metadata: 'second', maxParticipants: 9 });
    expect(again).toEqual(room);
  });

  it('accepts a room name of 256 bytes and rejects one of 257', async () => {
    const { server } = open();
    const longest = unique().padEnd(254, 'x').concat('é');
    expect(Buffer.byteLength(longest)).toBe(256);
    expect((await server.createRoom({ name: longest })).name).toBe(longest);
    const failure = await catchFailure(server.createRoom({ name: `${longest}y` }));
    expect(failure).toMatchObject({ code: 'invalid-request', retryable: false });
    expect(failure.message).toContain('room name length exceeds limits');
    expect(failure.message).not.toContain('twirp error');
  });

  it('accepts metadata of 512 KiB and rejects a byte more', async () => {
    const { server } = open();
    const room = await server.createRoom({ name: unique(), metadata: 'x'.repeat(512 * 1024) });
    expect(room.metadata).toHaveLength(512 * 1024);
    const tooLong = 'x'.repeat(512 * 1024 + 1);
    expect(await catchFailure(server.createRoom({ name: unique(), metadata: tooLong }))).toMatchObject({
      code: 'invalid-request',
    });
    expect(await catchFailure(server.updateRoomMetadata(room.name, tooLong))).toMatchObject({
      code: 'invalid-request',
    });
  });

  it('lists the existing rooms of the given names, and none for no names', async () => {
    const { server } = open();
    const [first, second] = [unique(), unique()];
    await server.createRoom({ name: first });
    await server.createRoom({ name: second });
    const found = await server.listRooms([first, second, unique()]);
    expect(found.map(({ name }) => name).sort()).toEqual([first, second].sort());
    expect(await server.listRooms([])).toEqual([]);
    const all = (await server.listRooms()).map(({ name }) => name);
    expect(all).toEqual(expect.arrayContaining([first, second]));
  });

  it('changes the metadata of a room', async () => {
    const { server } = open();
    const { name } = await server.createRoom({ name: unique(), metadata: 'old' });
    expect(await server.updateRoomMetadata(name, 'new')).toMatchObject({ name, metadata: 'new' });
    await until(async () => (await server.listRooms([name]))[0]?.metadata === 'new');
  });

  it('deletes a room with everyone in it', async () => {
    const { server, join } = open();
    const { name } = await server.createRoom({ name: unique() });
    await join(name, 'ada');
    await server.deleteRoom(name);
    expect(await server.listRooms([name])).toEqual([]);
    await until(async () => (await server.listParticipants(name)).length === 0);
  });

  it('finds no unknown room to delete or to change', async () => {
    const { server } = open();
    const calls = [server.deleteRoom(unique()), server.updateRoomMetadata(unique(), 'x')];
    for (const failure of await Promise.all(calls.map(catchFailure))) {
      expect(failure).toMatchObject({ code: 'room-not-found', retryable: false });
    }
  });

  it('closes a room that nobody joined after its empty timeout', async () => {
    const { server } = open();
    const { name } = await server.createRoom({ name: unique(), emptyTimeout: 1, departureTimeout: 100 });
    await until(async () => (await server.listRooms([name])).length === 0);
  });

  it('closes a room that everyone left after its departure timeout', async () => {
    const { server, join } = open();
    const { name } = await server.createRoom({ name: unique(), emptyTimeout: 100, departureTimeout: 1 });
    const person = await join(name, 'ada');
    await person.leave();
    await until(async () => (await server.listRooms([name])).length === 0);
  });
}

function describeParticipants(open: Open): void {
  it('lists the participants of a room, with tracks', async () => {
    const { server, join } = open();
    const { name } = await server.createRoom({ name: unique() });
    const person = await join(name, 'ada', { attributes: { 'rtc.role': 'host' } });
    const sid = await person.publish();
    await until(async () => (await server.listParticipants(name))[0]?.tracks.length === 1);
    const [listed, ...others] = await server.listParticipants(name);
    expect(others).toEqual([]);
    expect(listed).toMatchObject({
      identity: 'ada',
      name: 'ada',
      state: 'ACTIVE',
      kind: 'STANDARD',
      isPublisher: true,
      attributes: { 'rtc.role': 'host' },
      permission: { canPublish: true, canSubscribe: true, hidden: false, recorder: false },
    });
    expect(listed?.sid).toMatch(/^PA_/);
    expect(listed?.joinedAt).toMatch(/^\d+$/);
    expect(listed?.tracks[0]).toMatchObject({ sid, type: 'AUDIO', source: 'MICROPHONE', muted: false });
    expect(await server.getParticipant(name, 'ada')).toEqual(listed);
    await person.leave();
  });

  it('sends data to a room, and gets no response for an unknown one', async () => {
    const { server, join } = open();
    const { name } = await server.createRoom({ name: unique() });
    const person = await join(name, 'ada');
    const data = Buffer.from('hello');
    await server.sendData(name, { data, kind: 'reliable', topic: 'greeting', identities: ['ada', 'nobody'] });
    await server.sendData(name, { data, kind: 'lossy', topic: undefined, identities: [] });
    const message = { data, kind: 'reliable', topic: undefined, identities: [] } as const;
    expect(await catchFailure(server.sendData(unique(), message))).toMatchObject({
      code: 'media-server-unavailable',
      retryable: true,
    });
    await person.leave();
  });

  it('lists nobody in an unknown room', async () => {
    expect(await open().server.listParticipants(unique())).toEqual([]);
  });

  it('lists hidden participants too', async () => {
    const { server, join } = open();
    const { name } = await server.createRoom({ name: unique() });
    const person = await join(name, 'ghost', { hidden: true });
    const listed = await untilListed(server, name, 1);
    expect(listed[0]).toMatchObject({ identity: 'ghost', permission: { hidden: true } });
    await person.leave();
  });

  it('finds no unknown participant to read or to remove, in a known and an unknown room', async () => {
    const { server } = open();
    const { name } = await server.createRoom({ name: unique() });
    for (const room of [name, unique()]) {
      const calls = [server.getParticipant(room, 'nobody'), server.removeParticipant(room, 'nobody')];
      for (const failure of await Promise.all(calls.map(catchFailure))) {
        expect(failure).toMatchObject({ code: 'participant-not-found', retryable: false });
      }
    }
  });

  it('counts participants in the record of the room some seconds later, hidden ones too', async () => {
    const { server, join } = open();
    const { name } = await server.createRoom({ name: unique() });
    const people = [await join(name, 'ada'), await join(name, 'ghost', { hidden: true })];
    await until(async () => (await server.listRooms([name]))[0]?.numParticipants === 2);
    await Promise.all(people.map((person) => person.leave()));
  });

  it('removes a participant', async () => {
    const { server, join } = open();
    const { name } = await server.createRoom({ name: unique() });
    await join(name, 'ada');
    await untilListed(server, name, 1);
    await server.removeParticipant(name, 'ada');
    await untilListed(server, name, 0);
  });

  it('removes a participant when another one of the same identity joins', async () => {
    const { server, join } = open();
    const { name } = await server.createRoom({ name: unique() });
    await join(name, 'ada');
    const [first] = await untilListed(server, name, 1);
    const second = await join(name, 'ada');
    await until(async () => (await server.listParticipants(name))[0]?.sid !== first?.sid);
    expect(await server.listParticipants(name)).toHaveLength(1);
    await second.leave();
  });

  it('rejects the participant above the limit of a room', async () => {
    const { server, join } = open();
    const { name } = await server.createRoom({ name: unique(), maxParticipants: 1 });
    const person = await join(name, 'ada');
    await expect(join(name, 'bob')).rejects.toThrow();
    expect((await server.listParticipants(name)).map(({ identity }) => identity)).toEqual(['ada']);
    await person.leave();
  });

  it('changes name, metadata, attributes and permission of a participant, and leaves the others', async () => {
    const { server, join } = open();
    const { name } = await server.createRoom({ name: unique() });
    const person = await join(name, 'ada', { attributes: { kept: 'k', gone: 'g' } });
    await untilListed(server, name, 1);
    const nothing = { name: undefined, metadata: undefined, attributes: undefined, permission: undefined };
    const attributes = { gone: '', added: 'a' };
    const changed = await server.updateParticipant(name, 'ada', {
      ...nothing,
      name: 'Ada é',
      metadata: 'm',
      attributes,
    });
    expect(changed).toMatchObject({ name: 'Ada é', metadata: 'm', permission: { canPublish: true } });
    expect(changed.attributes).toEqual({ kept: 'k', added: 'a' });
    const permission = { canSubscribe: true, canPublish: false, canPublishData: false };
    const silenced = await server.updateParticipant(name, 'ada', { ...nothing, permission });
    expect(silenced).toMatchObject({
      name: 'Ada é',
      metadata: 'm',
      attributes: { kept: 'k', added: 'a' },
      permission: { canSubscribe: true, canPublish: false, canPublishData: false, hidden: false },
    });
    await person.leave();
  });

  it('ends the tracks that a participant may no longer publish', async () => {
    const { server, join } = open();
    const { name } = await server.createRoom({ name: unique() });
    const person = await join(name, 'ada');
    await person.publish();
    await until(async () => (await server.listParticipants(name))[0]?.tracks.length === 1);
    const change = { name: undefined, metadata: undefined, attributes: undefined };
    const permission = { canSubscribe: true, canPublish: true, canPublishSources: ['CAMERA'] };
    await server.updateParticipant(name, 'ada', { ...change, permission });
    await until(async () => (await server.getParticipant(name, 'ada')).tracks.length === 0);
    await person.leave();
  });

  it('finds no unknown participant to change, in a known and an unknown room', async () => {
    const { server } = open();
    const { name } = await server.createRoom({ name: unique() });
    const change = { name: 'x', metadata: undefined, attributes: undefined, permission: undefined };
    for (const room of [name, unique()]) {
      const failure = await catchFailure(server.updateParticipant(room, 'nobody', change));
      expect(failure).toMatchObject({ code: 'participant-not-found', retryable: false });
    }
  });

  it('mutes a track, with the same result twice', async () => {
    const { server, join } = open();
    const { name } = await server.createRoom({ name: unique() });
    const person = await join(name, 'ada');
    const sid = await person.publish();
    await until(async () => (await server.listParticipants(name))[0]?.tracks.length === 1);
    await server.muteTrack(name, 'ada', sid);
    await server.muteTrack(name, 'ada', sid);
    await until(async () => (await server.getParticipant(name, 'ada')).tracks[0]?.muted === true);
    await person.leave();
  });

  it('does not unmute a track, because its configuration forbids it', async () => {
    const { server, join } = open();
    const { name } = await server.createRoom({ name: unique() });
    const person = await join(name, 'ada');
    const sid = await person.publish();
    await until(async () => (await server.listParticipants(name))[0]?.tracks.length === 1);
    await server.muteTrack(name, 'ada', sid);
    expect(await catchFailure(server.unmuteTrack(name, 'ada', sid))).toMatchObject({ code: 'conflict' });
    await person.leave();
  });

  it('finds no unknown track to mute', async () => {
    const { server, join } = open();
    const { name } = await server.createRoom({ name: unique() });
    const person = await join(name, 'ada');
    await untilListed(server, name, 1);
    expect(await catchFailure(server.muteTrack(name, 'ada', 'TR_none'))).toMatchObject({
      code: 'track-not-found',
      retryable: false,
    });
    await person.leave();
  });

  it('has a process for an open room and for its participants, and none for others', async () => {
    const { server, join } = open();
    const { name } = await server.createRoom({ name: unique() });
    const person = await join(name, 'ada');
    await untilListed(server, name, 1);
    const served = [
      server.isRoomServed(name),
      server.isRoomServed(unique()),
      server.isParticipantServed(name, 'ada'),
      server.isParticipantServed(name, 'nobody'),
    ];
    expect(await Promise.all(served)).toEqual([true, false, true, false]);
    await person.leave();
  });

  it('gets no response for a track of an absent participant', async () => {
    const failure = await catchFailure(open().server.muteTrack(unique(), 'nobody', 'TR_none'));
    expect(failure).toMatchObject({ code: 'media-server-unavailable', retryable: true });
  });
}

function describeWithRedis(open: Open): void {
  it('finds no egress of an unknown room or id', async () => {
    const { server } = open();
    expect(await server.listEgress({ room: unique() })).toEqual([]);
    expect(await server.listEgress({ room: unique(), active: true })).toEqual([]);
    expect(await server.listEgress({ egressId: 'EG_none' })).toEqual([]);
    expect(await catchFailure(server.stopEgress('EG_none'))).toMatchObject({ code: 'recording-not-found' });
  });

  it('creates, lists and deletes ingress, also for a room that is not open', async () => {
    const { server } = open();
    const room = unique();
    const wanted = { room, participantIdentity: 'camera', participantName: 'Camera 1' };
    const rtmp = await server.createIngress({ type: 'rtmp', ...wanted });
    const whip = await server.createIngress({ type: 'whip', ...wanted });
    expect(rtmp).toMatchObject({
      inputType: 'RTMP_INPUT',
      url: 'rtmp://127.0.0.1:1935/live',
      roomName: room,
      participantIdentity: 'camera',
      participantName: 'Camera 1',
      reusable: true,
      enableTranscoding: true,
      bypassTranscoding: false,
      state: { status: 'ENDPOINT_INACTIVE' },
    });
    expect(rtmp.ingressId).toMatch(/^IN_/);
    expect(rtmp.streamKey).not.toBe('');
    expect(whip).toMatchObject({
      inputType: 'WHIP_INPUT',
      enableTranscoding: false,
      bypassTranscoding: true,
    });
    expect(Object.keys(whip).sort()).toEqual(INGRESS_KEYS);
    const ids = (await server.listIngress({ room })).map(({ ingressId }) => ingressId);
    expect(ids.sort()).toEqual([rtmp.ingressId, whip.ingressId].sort());
    expect(await server.deleteIngress(rtmp.ingressId)).toMatchObject({ ingressId: rtmp.ingressId });
    expect(await server.listIngress({ room })).toEqual([whip]);
    expect(await server.listIngress({})).toContainEqual(whip);
    expect(await server.listIngress({ ingressId: whip.ingressId })).toEqual([whip]);
    expect(await server.listIngress({ ingressId: rtmp.ingressId })).toEqual([]);
    expect(await catchFailure(server.deleteIngress(rtmp.ingressId))).toMatchObject({
      code: 'ingress-not-found',
    });
  });

  describeWithoutRecorder(open);
}

const INGRESS_KEYS = [
  'bypassTranscoding',
  'enableTranscoding',
  'ingressId',
  'inputType',
  'name',
  'participantIdentity',
  'participantMetadata',
  'participantName',
  'reusable',
  'roomName',
  'state',
  'streamKey',
  'url',
];

function describeWithoutRedis(open: Open): void {
  it('reports that Redis is missing for egress and ingress', async () => {
    const { server } = open();
    const wanted = { room: unique(), participantIdentity: 'camera', participantName: 'Camera 1' };
    const calls = [
      server.listEgress({ room: unique() }),
      server.listEgress({ egressId: 'EG_none' }),
      server.stopEgress('EG_none'),
      server.createIngress({ type: 'rtmp', ...wanted }),
      server.listIngress({ room: unique() }),
      server.deleteIngress('IN_none'),
    ];
    for (const failure of await Promise.all(calls.map(catchFailure))) {
      expect(failure).toMatchObject({ code: 'media-worker-unavailable', retryable: false });
      expect(failure.message).toContain('Redis');
    }
  });

  describeWithoutRecorder(open);
}

function describeWithoutRecorder(open: Open): void {
  it('starts no recording of an unknown room', async () => {
    const call = open().server.startRoomComposite({ room: unique(), filepath: 'x.mp4' });
    expect(await catchFailure(call)).toMatchObject({ code: 'room-not-found' });
  });

  it('finds no recorder for a recording', { timeout: NO_RECORDER_TIMEOUT_MS }, async () => {
    const { server } = open();
    const { name } = await server.createRoom({ name: unique() });
    const failure = await catchFailure(server.startRoomComposite({ room: name, filepath: 'x.mp4' }));
    expect(failure).toMatchObject({ code: 'media-worker-unavailable', retryable: true });
    expect(failure.message).toContain('recorder');
  });
}

function describeKeys(open: Open): void {
  it('reports that our own keys are rejected and shows neither them nor the token', async () => {
    const { withKeys } = open();
    const apiSecret = randomBytes(24).toString('hex');
    for (const keys of [{ apiSecret }, { apiKey: 'another' }]) {
      const failure = await catchFailure(withKeys(keys).listRooms());
      expect(failure).toMatchObject({ code: 'media-server-error', status: 502, retryable: false });
      expect(failure.message).toContain('LIVEKIT_API_KEY');
      for (const text of [failure.message, String(failure.cause)]) {
        expect(text).not.toContain(apiSecret);
        expect(text).not.toMatch(/eyJ/);
      }
    }
  });
}

function describeWebhooks(open: Open): void {
  it('sends the events of a room in order, signed, each with an id of its own', async () => {
    const { server, join, inbox } = open();
    const name = unique();
    const { sid } = await server.createRoom({ name, departureTimeout: 1 });
    const person = await join(name, 'ada');
    await person.publish();
    await inbox.waitFor(({ event, body }) => event === 'track_published' && body.room?.name === name);
    await person.leave();
    await inbox.waitFor(({ event, body }) => event === 'room_finished' && body.room?.name === name);
    const webhooks = inbox.received.filter(({ body }) => body.room?.name === name);
    expect(webhooks.map(({ event }) => event)).toEqual([
      'room_started',
      'participant_joined',
      'track_published',
      'track_unpublished',
      'participant_left',
      'room_finished',
    ]);
    expect(new Set(webhooks.map(({ id }) => id)).size).toBe(webhooks.length);
    for (const { id, body, headers } of webhooks) {
      expect(id).toMatch(/^EV_/);
      expect(body.createdAt).toMatch(/^\d+$/);
      expect(body.room?.sid).toBe(sid);
      expect(headers['content-type']).toBe('application/webhook+json');
      expect(headers.authorization).toMatch(/^eyJ/);
    }
    expect(inbox.faults).toEqual([]);
  });

  it('reports why a participant left', async () => {
    const { server, join, inbox } = open();
    const { name } = await server.createRoom({ name: unique() });
    // A participant who is still connecting is also listed. If it leaves then, no participant_left follows.
    const untilTold = (identity: string) =>
      inbox.waitFor(
        ({ event, body }) =>
          event === 'participant_joined' &&
          body.room?.name === name &&
          body.participant?.identity === identity,
      );
    await join(name, 'ada');
    await untilTold('ada');
    await server.removeParticipant(name, 'ada');
    await join(name, 'bob');
    await untilTold('bob');
    await server.deleteRoom(name);
    const left = await inbox.waitFor(
      ({ event, body }) => event === 'participant_left' && body.room?.name === name,
      2,
    );
    expect(left.map(({ body }) => body.participant?.disconnectReason)).toEqual([
      'PARTICIPANT_REMOVED',
      'ROOM_DELETED',
    ]);
    expect(left.map(({ body }) => body.participant?.state)).toEqual(['DISCONNECTED', 'DISCONNECTED']);
  });
}

/** Other tests also have rooms on the server. */
export function unique(): string {
  return `room-${randomBytes(6).toString('hex')}`;
}

export async function catchFailure(call: Promise<unknown>): Promise<ServiceError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ServiceError)) throw new Error(`not a ServiceError: ${String(error)}`);
  return error;
}

/** LiveKit applies some changes shortly after its response. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('the condition did not come true in time');
    await delay(20);
  }
}

async function untilListed(
  server: MediaServer,
  room: string,
  count: number,
): Promise<readonly Participant[]> {
  await until(async () => (await server.listParticipants(room)).length === count);
  return server.listParticipants(room);
}
