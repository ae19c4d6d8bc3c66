import { randomUUID } from 'node:crypto';
import { TokenVerifier } from 'livekit-server-sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Participant } from '../../../src/contract/participants.ts';
import type { Token } from '../../../src/contract/tokens.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { type JoinedParticipant, join } from '../../support/parts/participant.ts';
import { type SharedParts, sharedLivekit } from '../../support/parts/shared.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const ROLES = ['host', 'moderator', 'participant', 'viewer'] as const;
type Role = (typeof ROLES)[number];

/** The grants by role from the specification. No grant is left to a default of the media server. */
const CLAIMS: Readonly<Record<Role, { readonly video: object; readonly attributes: object }>> = {
  host: {
    video: {
      canPublish: true,
      canPublishData: true,
      canSubscribe: true,
      canUpdateOwnMetadata: false,
      roomAdmin: true,
    },
    attributes: { 'rtc.role': 'host', 'rtc.canMuteOthers': 'true' },
  },
  moderator: {
    video: {
      canPublish: true,
      canPublishData: true,
      canSubscribe: true,
      canUpdateOwnMetadata: false,
      roomAdmin: false,
    },
    attributes: { 'rtc.role': 'moderator', 'rtc.canMuteOthers': 'true' },
  },
  participant: {
    video: {
      canPublish: true,
      canPublishData: true,
      canSubscribe: true,
      canUpdateOwnMetadata: false,
      roomAdmin: false,
    },
    attributes: { 'rtc.role': 'participant', 'rtc.canMuteOthers': 'false' },
  },
  viewer: {
    video: {
      canPublish: false,
      canPublishData: false,
      canSubscribe: true,
      canUpdateOwnMetadata: false,
      roomAdmin: false,
    },
    attributes: { 'rtc.role': 'viewer', 'rtc.canMuteOthers': 'false' },
  },
};

const readPayload = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

async function issue(
  service: TestService,
  body: Readonly<Record<string, unknown>>,
  path = '/v1/token',
): Promise<Token> {
  const response = await service.call('POST', path, { body });
  expect(response.status).toBe(200);
  return response.json;
}

describe('a token', () => {
  const NOW_SECONDS = 1_767_225_600;
  const clock = new ManualClock(NOW_SECONDS * 1000 + 999);
  const livekit = {
    url: 'ws://127.0.0.1:9',
    apiKey: 'media-key',
    apiSecret: 'media-secret-of-32-characters-00',
  };
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ clock, livekit, environment: { TOKEN_TTL: '90' } });
  });
  afterAll(() => service.close());

  const request = { roomId: 'caffè ☕/1', userId: 'ada', name: 'Ada Lovelace' };

  it.each(ROLES)('of a %s has exactly its claims', async (role) => {
    const { token, url, expiresAt } = await issue(service, { ...request, role });
    expect(readPayload(token)).toEqual({
      iss: 'media-key',
      sub: 'ada',
      name: 'Ada Lovelace',
      iat: NOW_SECONDS,
      nbf: NOW_SECONDS - 300,
      exp: NOW_SECONDS + 90,
      attributes: CLAIMS[role].attributes,
      video: { room: 'caffè ☕/1', roomJoin: true, ...CLAIMS[role].video },
    });
    expect(url).toBe('ws://127.0.0.1:9');
    expect(expiresAt).toBe('2026-01-01T00:01:30.000Z');
  });

  it('has the same expiry in the response and in its exp', async () => {
    const { token, expiresAt } = await issue(service, { ...request, role: 'viewer' });
    expect(Date.parse(expiresAt)).toBe(Number(readPayload(token).exp) * 1000);
    expect(expiresAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('is signed by HS256 with the key of the media server', async () => {
    const { token } = await issue(service, { ...request, role: 'host' });
    const verifier = new TokenVerifier(livekit.apiKey, livekit.apiSecret);
    const at = new Date(NOW_SECONDS * 1000);
    expect(JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())).toEqual({
      alg: 'HS256',
      typ: 'JWT',
    });
    await expect(new TokenVerifier(livekit.apiKey, 'another-secret').verify(token)).rejects.toThrow();
    // The verifier reads Date, so it accepts only a token with the current time.
    clock.advance(Date.now() - clock.now());
    const fresh = await issue(service, { ...request, role: 'host' });
    await expect(verifier.verify(fresh.token)).resolves.toMatchObject({
      sub: 'ada',
      video: { roomAdmin: true },
    });
    clock.advance(at.getTime() + 999 - clock.now());
  });

  it('has metadata as its JSON text', async () => {
    const metadata = { team: 'blue', nested: { '': [1, null, 'è'] }, __proto__x: true };
    const { token } = await issue(service, { ...request, role: 'host', metadata });
    expect(JSON.parse(String(readPayload(token).metadata))).toEqual(metadata);
    const empty = await issue(service, { ...request, role: 'host', metadata: {} });
    expect(readPayload(empty.token).metadata).toBe('{}');
  });

  it.each([
    '{"id":12345678901234567890}',
    '{"id":9007199254740993,"more":[1e400,-1E-400,{"long":0.12345678901234567890123}]}',
    '{"id":1e3,"text":"12345678901234567890","__proto__":{"deep":12345678901234567891}}',
    '{"id":9007199254740991,"small":0.5}',
  ])('changes no number of the metadata: %s', async (metadata) => {
    const body = `{"roomId":"demo","userId":"ada","name":"Ada","role":"host","metadata":${metadata}}`;
    const headers = { 'Content-Type': 'application/json' };
    const response = await service.call('POST', '/v1/token', { body, headers });
    expect(readPayload((response.json as Token).token).metadata).toBe(metadata);
  });

  it('is refused for metadata whose nesting is too deep to compare its numbers', async () => {
    const metadata = `{"deep":${'['.repeat(100_000)}12345678901234567890${']'.repeat(100_000)}}`;
    const body = `{"roomId":"demo","userId":"ada","name":"Ada","role":"host","metadata":${metadata}}`;
    const headers = { 'Content-Type': 'application/json' };
    const response = await service.call('POST', '/v1/token', { body, headers });
    expect(response.status).toBe(400);
    expect(response.json).toMatchObject({
      errors: [{ pointer: '#/metadata', detail: 'is nested too deeply' }],
    });
  });

  it('is issued anew by a refresh, with a new expiry', async () => {
    const body = { ...request, role: 'moderator' };
    const first = await issue(service, body);
    clock.advance(60_000);
    const second = await issue(service, body, '/v1/token/refresh');
    expect(Date.parse(second.expiresAt) - Date.parse(first.expiresAt)).toBe(60_000);
    expect(readPayload(second.token)).toEqual({
      ...readPayload(first.token),
      iat: NOW_SECONDS + 60,
      nbf: NOW_SECONDS + 60 - 300,
      exp: NOW_SECONDS + 150,
    });
  });
});

describe('on the real media server', () => {
  let livekit: SharedParts['livekit'];
  let service: TestService;
  const present: JoinedParticipant[] = [];

  beforeAll(async () => {
    livekit = await sharedLivekit();
    service = await startTestService({ livekit });
  });
  afterAll(() => service.close());
  afterEach(async () => {
    await Promise.all(present.splice(0).map((participant) => participant.leave()));
  });

  const tokenFor = (roomId: string, role: Role) =>
    issue(service, { roomId, userId: role, name: `The ${role}`, role, metadata: { role } });

  async function enter(roomId: string, role: Role): Promise<JoinedParticipant> {
    const { url, token } = await tokenFor(roomId, role);
    const participant = await join(url, token);
    present.push(participant);
    return participant;
  }

  /** Calls LiveKit's own API with a participant's token. */
  async function ask(token: string, method: string, body: object): Promise<number> {
    const response = await fetch(`${livekit.httpUrl}/twirp/livekit.RoomService/${method}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
    return response.status;
  }

  it.each(['host', 'moderator', 'participant'] as const)('a %s publishes', async (role) => {
    const participant = await enter(`publish-${randomUUID()}`, role);
    expect((await participant.publishTone()).sid).toMatch(/^TR_/);
  });

  it('a viewer cannot publish', async () => {
    const room = `publish-${randomUUID()}`;
    const viewer = await enter(room, 'viewer');
    // The server does not respond to a request that it does not allow. The client gives up after 10 s.
    await expect(viewer.publishTone()).rejects.toThrow(/permission|no response/i);
    const response = await service.call('GET', `/v1/rooms/${room}/participants`);
    expect((response.json as { participants: readonly Participant[] }).participants).toMatchObject([
      { identity: 'viewer', tracks: [], isPublisher: false },
    ]);
  });

  it('each role is in the room with its name, metadata, attributes and permissions', async () => {
    const room = `roles-${randomUUID()}`;
    for (const role of ROLES) await enter(room, role);
    const response = await service.call('GET', `/v1/rooms/${room}/participants`);
    const { participants } = response.json as { participants: readonly Participant[] };
    expect(participants.map((participant) => participant.identity).sort()).toEqual([...ROLES].sort());
    for (const participant of participants) {
      const role = participant.identity as Role;
      expect(participant).toMatchObject({
        name: `The ${role}`,
        metadata: JSON.stringify({ role }),
        attributes: CLAIMS[role].attributes,
        permission: {
          canSubscribe: true,
          canPublish: role !== 'viewer',
          canPublishData: role !== 'viewer',
          canUpdateMetadata: false,
        },
      });
    }
  });

  it("a host's token may call the admin API of its room, and of no other", async () => {
    const [room, other] = [`admin-${randomUUID()}`, `other-${randomUUID()}`];
    await enter(room, 'participant');
    const { token } = await tokenFor(room, 'host');
    expect(await ask(token, 'ListParticipants', { room })).toBe(200);
    expect(await ask(token, 'ListParticipants', { room: other })).toBe(401);
    expect(await ask(token, 'ListRooms', {})).toBe(401);
    expect(await ask(token, 'RemoveParticipant', { room, identity: 'participant' })).toBe(200);
  });

  it.each(['moderator', 'participant', 'viewer'] as const)(
    "a %s's token may not call the admin API",
    async (role) => {
      const room = `admin-${randomUUID()}`;
      await enter(room, 'host');
      const { token } = await tokenFor(room, role);
      for (const [method, body] of [
        ['ListParticipants', { room }],
        ['RemoveParticipant', { room, identity: 'host' }],
        ['UpdateParticipant', { room, identity: role, permission: { canPublish: true } }],
        ['ListRooms', {}],
        ['CreateRoom', { name: 'x' }],
      ] as const) {
        expect([method, await ask(token, method, body)]).toEqual([method, 401]);
      }
    },
  );
});

describe('the options of a token', () => {
  const NOW_MS = 1_767_225_600_000;
  const clock = new ManualClock(NOW_MS);
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ clock, environment: { TOKEN_TTL: '60', MAX_TOKEN_TTL: '7200' } });
  });
  afterAll(() => service.close());

  const body = { roomId: 'demo', userId: 'ada', name: 'Ada', role: 'participant' };
  const ask = (wish: object, path = '/v1/token') =>
    service.call('POST', path, { body: { ...body, ...wish } });

  it.each(['/v1/token', '/v1/token/refresh'])('include a lifetime, up to the maximum: %s', async (path) => {
    for (const ttl of [1, 61, 7200]) {
      const { expiresAt, token } = await issue(service, { ...body, ttl }, path);
      expect(Date.parse(expiresAt)).toBe(NOW_MS + ttl * 1000);
      expect(readPayload(token).exp).toBe(NOW_MS / 1000 + ttl);
    }
    expect(Date.parse((await issue(service, body, path)).expiresAt)).toBe(NOW_MS + 60_000);
    expect(await ask({ ttl: 7201 }, path)).toMatchObject({
      status: 400,
      json: {
        errors: [{ pointer: '#/ttl', detail: 'must be at most 7200' }],
        hint: { text: expect.stringContaining('MAX_TOKEN_TTL') },
      },
    });
  });

  it('include TOKEN_TTL as the default, even if it is longer than MAX_TOKEN_TTL', async () => {
    const environment = { TOKEN_TTL: '100', MAX_TOKEN_TTL: '50' };
    const strict = await startTestService({ clock, environment });
    try {
      expect(Date.parse((await issue(strict, { ...body, ttl: 100 })).expiresAt)).toBe(NOW_MS + 100_000);
      expect((await strict.call('POST', '/v1/token', { body: { ...body, ttl: 101 } })).status).toBe(400);
    } finally {
      await strict.close();
    }
  });

  it('include the sources to publish, for a role that publishes', async () => {
    const canPublishSources = ['microphone', 'screen_share_audio'];
    const { token } = await issue(service, { ...body, canPublishSources });
    expect(readPayload(token).video).toMatchObject({ canPublish: true, canPublishSources });
    expect(readPayload((await issue(service, body)).token).video).not.toHaveProperty('canPublishSources');
    expect(await ask({ role: 'viewer', canPublishSources })).toMatchObject({
      status: 400,
      json: { errors: [{ pointer: '#/canPublishSources' }] },
    });
  });

  it.each([
    [{ ttl: 0 }, '#/ttl'],
    [{ ttl: -1 }, '#/ttl'],
    [{ ttl: 1.5 }, '#/ttl'],
    [{ ttl: '60' }, '#/ttl'],
    [{ ttl: 31_536_001 }, '#/ttl'],
    [{ canPublishSources: [] }, '#/canPublishSources'],
    [{ canPublishSources: ['MICROPHONE'] }, '#/canPublishSources/0'],
    [{ canPublishSources: 'microphone' }, '#/canPublishSources'],
  ])('include nothing else: case %#', async (wish, pointer) => {
    expect(await ask(wish)).toMatchObject({ status: 400, json: { errors: [{ pointer }] } });
  });
});

describe('a token with sources on the real media server', () => {
  it('does not let anything else be published, also after the role has changed', async () => {
    const service = await startTestService({ livekit: await sharedLivekit() });
    const roomId = `sources-${randomUUID()}`;
    const { url, token } = await issue(service, {
      ...{ roomId, userId: 'ada', name: 'Ada', role: 'participant' },
      canPublishSources: ['microphone'],
    });
    const ada = await join(url, token);
    try {
      const path = `/v1/rooms/${roomId}/participants/ada`;
      const narrowed = { permission: { canPublish: true, canPublishSources: ['MICROPHONE'] } };
      const responses = [
        await service.call('PATCH', path, { body: {} }),
        await service.call('PATCH', path, { body: { role: 'moderator' } }),
      ];
      for (const { json } of responses) expect(json).toMatchObject(narrowed);
      expect((await ada.publishTone()).sid).toMatch(/^TR_/);
    } finally {
      await ada.leave();
      await service.close();
    }
  });
});
