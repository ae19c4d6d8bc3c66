import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/contract/problem.ts';
import type { ClosedRoomList, Room } from '../../../src/contract/rooms.ts';
import type { Token } from '../../../src/contract/tokens.ts';
import type { EmbeddedMediaServer } from '../../../src/server/media-simulator/embedded-media-server.ts';
import { startLivekit } from '../../support/parts/livekit.ts';
import { createMigratedDatabase } from '../../support/parts/migrated-database.ts';
import { type JoinedParticipant, join } from '../../support/parts/participant.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { SkippableClock } from '../../support/skippable-clock.ts';
import { startStage } from '../recordings/support/stage.ts';
import { chooseServicePort, startHookedService } from '../webhooks/support/hooked-service.ts';

/** A service with a media server that reports joins to it. */
type ClosingStage = {
  readonly service: TestService;
  /** Joins with this token, if the media server allows it. */
  readonly join: (token: Token) => Promise<void>;
  readonly close: () => Promise<void>;
};

async function realStage(): Promise<ClosingStage> {
  const { port, webhookUrl } = await chooseServicePort();
  const livekit = await startLivekit({ webhookUrl });
  const service = await startHookedService(port, { livekit });
  const joined: JoinedParticipant[] = [];
  return {
    service,
    // A participant that is removed immediately may be gone before its client has connected.
    join: ({ url, token }) =>
      join(url, token).then(
        (participant) => void joined.push(participant),
        () => {},
      ),
    close: async () => {
      await Promise.all(joined.map((participant) => participant.leave()));
      await service.close();
      await livekit.close();
    },
  };
}

type EmbeddedStage = ClosingStage & { readonly media: EmbeddedMediaServer };

async function embeddedStage(environment: Readonly<Record<string, string>> = {}): Promise<EmbeddedStage> {
  const { port, webhookUrl } = await chooseServicePort();
  const { media, service, close } = await startStage({
    environment: { PORT: `${port}`, ...environment },
    media: { webhookUrls: [webhookUrl] },
  });
  const join = async ({ token }: Token) => {
    const headers = { authorization: `Bearer ${token}` };
    await fetch(`${media.url}/embedded/join`, { method: 'POST', headers });
  };
  return { service, media, join, close };
}

async function postgresStage(): Promise<EmbeddedStage> {
  const database = await createMigratedDatabase();
  const stage = await embeddedStage({
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  });
  const close = async () => {
    await stage.close();
    await database.close();
  };
  return { ...stage, close };
}

const toPath = (room: string, query = '') => `/v1/rooms/${encodeURIComponent(room)}${query}`;
const unique = (name: string) => `${name} ${randomUUID()}`;

const askToken = (service: TestService, room: string, identity = 'ada') =>
  service.call('POST', '/v1/token', {
    body: { roomId: room, userId: identity, name: identity, role: 'participant' },
  });

async function makeToken(service: TestService, room: string, identity = 'ada'): Promise<Token> {
  const response = await askToken(service, room, identity);
  expect(response.status, response.text).toBe(200);
  return response.json;
}

async function open(service: TestService, room: string, settings: object = {}): Promise<Room> {
  const response = await service.call('POST', '/v1/rooms', { body: { name: room, ...settings } });
  expect(response.status, response.text).toBe(201);
  return response.json;
}

async function close(service: TestService, room: string, query = ''): Promise<void> {
  const response = await service.call('DELETE', toPath(room, query));
  expect(response.status, response.text).toBe(204);
}

type Told = { readonly event: string; readonly participant?: { readonly identity: string } };

/** Returns the events of the room in short, such as `participant_joined ada`. */
async function story(service: TestService, room: string): Promise<readonly string[]> {
  const { json } = await service.call('GET', `/v1/events?roomId=${encodeURIComponent(room)}`);
  return (json as { readonly events: readonly Told[] }).events.map(({ event, participant }) =>
    [event, participant?.identity ?? ''].join(' ').trim(),
  );
}

async function isOpen(service: TestService, room: string): Promise<boolean> {
  return (await service.call('GET', toPath(room))).status === 200;
}

const CALL = ['room_created', 'room_started', 'participant_joined ada'];

describe.each([
  { name: 'the real media server', start: realStage },
  { name: 'the embedded media server', start: () => embeddedStage() },
  { name: 'the embedded media server and PostgreSQL', start: postgresStage },
])('a room that is kept closed, on $name,', ({ start }) => {
  let stage: ClosingStage;
  let service: TestService;
  beforeAll(async () => {
    stage = await start();
    service = stage.service;
  });
  afterAll(() => stage?.close());

  it('gives nobody a token, and removes who joins with an older one, with one event, until it is opened', async () => {
    const room = unique('never');
    await open(service, room);
    const ada = await makeToken(service, room);
    const bob = await makeToken(service, room, 'bob');
    await stage.join(ada);
    await expect.poll(() => story(service, room)).toEqual(CALL);

    await close(service, room, '?reopen=never');
    const closed = [...CALL, 'participant_left ada', 'room_finished'];
    await expect.poll(() => story(service, room)).toEqual(closed);
    const refused = await askToken(service, room);
    expect(refused.status).toBe(409);
    expect(refused.json as Problem).toMatchObject({
      type: 'urn:problem-type:rtc:room-closed',
      closedUntil: null,
      hint: expect.objectContaining({ command: expect.stringContaining('rtc rooms create') }),
    });

    await stage.join(ada);
    await expect.poll(() => story(service, room)).toEqual([...closed, 'room_join_refused ada']);
    await expect.poll(() => isOpen(service, room)).toBe(false);
    await stage.join(bob);
    await expect.poll(() => isOpen(service, room)).toBe(false);

    await open(service, room);
    await stage.join(await makeToken(service, room, 'eve'));
    const again = [
      ...closed,
      'room_join_refused ada',
      'room_created',
      'room_started',
      'participant_joined eve',
    ];
    await expect.poll(() => story(service, room)).toEqual(again);
    const sessions = await service.call('GET', `/v1/sessions?roomId=${encodeURIComponent(room)}`);
    expect((sessions.json as { readonly sessions: readonly unknown[] }).sessions).toHaveLength(2);
  });

  it('has its settings when a join opens it again', async () => {
    const room = unique('settings');
    await open(service, room, { maxParticipants: 7, emptyTimeout: 123, metadata: '{"lesson":"é"}' });
    const token = await makeToken(service, room);
    await close(service, room);
    await expect.poll(() => story(service, room)).toEqual(['room_created', 'room_finished']);
    await stage.join(token);
    await expect.poll(async () => (await story(service, room)).slice(2)).toEqual(CALL);
    expect((await service.call('GET', toPath(room))).json).toMatchObject({
      ...{ maxParticipants: 7, emptyTimeout: 123, departureTimeout: 123, metadata: '{"lesson":"é"}' },
    });
  });
});

describe.each([
  { name: 'SQLite', start: () => embeddedStage() },
  { name: 'PostgreSQL', start: postgresStage },
])('what acts for a room that was deleted, on $name,', ({ start }) => {
  let stage: EmbeddedStage;
  let service: TestService;
  beforeAll(async () => {
    stage = await start();
    service = stage.service;
  });
  afterAll(() => stage?.close());

  it.each([
    { name: 'a recorder', kind: 'EGRESS' },
    { name: 'a captioner', kind: 'AGENT', hidden: true },
    { name: 'a stream', kind: 'INGRESS' },
  ] as const)('does not open it again: $name', async ({ name: _, ...helper }) => {
    const room = unique('revived');
    await open(service, room);
    await close(service, room);
    await expect.poll(() => story(service, room)).toEqual(['room_created', 'room_finished']);
    stage.media.control.join(room, { identity: 'helper', ...helper });
    await expect.poll(() => isOpen(service, room)).toBe(false);
    await stage.media.control.webhooksSettled();
    expect(await story(service, room)).toEqual(['room_created', 'room_finished']);

    // A person makes it a call, of which everything is told.
    await stage.join(await makeToken(service, room));
    await expect.poll(async () => (await story(service, room)).slice(2)).toEqual(CALL);
  });

  it('lets a person in whose room it has opened, and stays then', async () => {
    const room = unique('both');
    await open(service, room);
    const token = await makeToken(service, room);
    await close(service, room);
    stage.media.control.join(room, { identity: 'recorder', kind: 'EGRESS' });
    await stage.join(token);
    await expect.poll(async () => (await story(service, room)).slice(2)).toEqual(CALL);
    expect(await isOpen(service, room)).toBe(true);
  });

  it('does not take its settings from it', async () => {
    const room = unique('opened');
    await open(service, room);
    await close(service, room);
    stage.media.control.join(room, { identity: 'recorder', kind: 'EGRESS' });
    expect(await open(service, room, { maxParticipants: 3 })).toMatchObject({ maxParticipants: 3 });
  });
});

describe('keeping a room closed', () => {
  const clock = new SkippableClock();
  let service: TestService;
  beforeAll(async () => {
    // None of this needs a media server, and none responds here.
    service = await startTestService({ clock });
  });
  afterAll(() => service.close());

  const keep = (room: string, query: string) => service.call('DELETE', toPath(room, query));

  it('is stored before the media server is asked, and ends at its instant', async () => {
    const until = new Date(clock.now() + 3_600_000).toISOString();
    expect((await keep('stored', `?until=${encodeURIComponent(until)}`)).status).toBe(503);
    const refused = await askToken(service, 'stored');
    expect([refused.status, (refused.json as { closedUntil: unknown }).closedUntil]).toEqual([409, until]);
    const listed = (await service.call('GET', '/v1/closed-rooms')).json as ClosedRoomList;
    expect(listed.closedRooms).toMatchObject([{ name: 'stored', closedUntil: until }]);
    clock.skip(3_600_000);
    expect((await askToken(service, 'stored')).status).toBe(200);
    expect(((await service.call('GET', '/v1/closed-rooms')).json as ClosedRoomList).closedRooms).toEqual([]);
  });

  it('rejects an instant that has passed, and both kinds at once', async () => {
    const past = encodeURIComponent(new Date(clock.now()).toISOString());
    const future = encodeURIComponent(new Date(clock.now() + 60_000).toISOString());
    for (const query of [`?until=${past}`, `?reopen=never&until=${future}`, '?reopen=later', '?until=soon']) {
      expect([query, (await keep('rejected', query)).status]).toEqual([query, 400]);
    }
    expect((await askToken(service, 'rejected')).status).toBe(200);
  });
});
