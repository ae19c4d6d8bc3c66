import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { EventList } from '../../../../src/contract/events.ts';
import type { Key, OwnKey } from '../../../../src/contract/keys.ts';
import type { Problem } from '../../../../src/contract/problem.ts';
import { KeyLimits } from '../../../../src/server/platform/http/limits/key-limits.ts';
import type { CallOptions, JsonResponse } from '../../../support/http-call.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { startTestService, type TestService } from '../../../support/service.ts';
import { type Stage, startStage } from '../../recordings/support/stage.ts';
import { chooseServicePort } from '../../webhooks/support/hooked-service.ts';

/* Limits that a key was made with, and that are its own. */

type By = (method: string, path: string, options?: CallOptions) => Promise<JsonResponse>;

async function makeKey(service: TestService, more: object): Promise<By> {
  const body = { name: 'a school', scopes: ['admin'], ...more };
  const { status, text, json } = await service.call('POST', '/v1/keys', { body });
  expect(status, text).toBe(201);
  const { id: apiKey, secret: apiSecret = '' }: Key = json;
  return (method, path, options = {}) =>
    service.call(method, path, { ...options, signing: { apiKey, apiSecret } });
}

function token(roomId: string, userId: string): CallOptions {
  return { body: { roomId, userId, name: userId, role: 'participant' } };
}

describe('limits of a key that count what is in its rooms', () => {
  let stage: Stage;
  let acme: By;

  beforeAll(async () => {
    const { port, webhookUrl } = await chooseServicePort();
    stage = await startStage({ environment: { PORT: `${port}` }, media: { webhookUrls: [webhookUrl] } });
    acme = await makeKey(stage.service, {
      rooms: ['acme-'],
      limits: { rooms: 1, participants: 1, webhooks: 1 },
    });
  });
  afterAll(() => stage?.close());

  it('need rooms', async () => {
    const body = { name: 'all', scopes: ['read'], limits: { rooms: 1 } };
    const { status, json } = await stage.service.call('POST', '/v1/keys', { body });
    expect(status).toBe(400);
    expect((json as Problem).errors).toMatchObject([{ pointer: '#/limits/rooms' }]);
  });

  it('refuse a room too many, a person too many and a webhook too many, and say how full they are', async () => {
    const refused = (kind: string, limit: number) => ({
      status: 409,
      json: { type: 'urn:problem-type:rtc:key-limit-reached', kind, limit },
    });
    expect((await acme('POST', '/v1/rooms', { body: { name: 'acme-1' } })).status).toBe(201);
    stage.media.control.join('acme-1', { identity: 'ada' });
    // The rooms of others do not count.
    stage.media.control.join('zeta-1', { identity: 'zoe' });
    await vi.waitUntil(
      async () => {
        const { json } = await stage.service.call('GET', '/v1/events?types=participant_joined');
        return (json as EventList).events.length === 2;
      },
      { timeout: 60_000 },
    );
    expect(await acme('POST', '/v1/rooms', { body: { name: 'acme-2' } })).toMatchObject(refused('rooms', 1));
    expect(await acme('POST', '/v1/token', token('acme-2', 'ada'))).toMatchObject(refused('rooms', 1));
    expect((await acme('POST', '/v1/rooms', { body: { name: 'acme-1' } })).status).toBe(201);
    expect(await acme('POST', '/v1/token', token('acme-1', 'bob'))).toMatchObject(refused('participants', 1));
    expect((await acme('POST', '/v1/token', token('acme-1', 'ada'))).status).toBe(200);
    const hook = { body: { url: 'https://example.org/hook' } };
    expect((await acme('POST', '/v1/webhooks', hook)).status).toBe(201);
    expect(await acme('POST', '/v1/webhooks', hook)).toMatchObject(refused('webhooks', 1));
    const own: OwnKey = (await acme('GET', '/v1/keys/self')).json;
    expect(own.limits).toMatchObject({
      webhooks: { used: 1, limit: 1 },
      rooms: { used: 1, limit: 1 },
      participants: { used: 1, limit: 1 },
    });
    expect(own.limits).not.toHaveProperty('minutesPerMonth');
  });
});

it('the limit of requests in a second is that of one key alone', async () => {
  const clock = new ManualClock(Date.parse('2026-01-31T09:30:00.000Z'));
  const service = await startTestService({ clock });
  try {
    const slow = await makeKey(service, { limits: { requestsPerSecond: 2 } });
    const free = await makeKey(service, {});
    const statuses = async (by: By) => {
      const ask = () => by('GET', '/v1/keys/self');
      return [(await ask()).status, (await ask()).status, (await ask()).status];
    };
    expect(await statuses(slow)).toEqual([200, 200, 429]);
    expect(await statuses(free)).toEqual([200, 200, 200]);
    clock.advance(1_000);
    expect(await statuses(slow)).toEqual([200, 200, 429]);
  } finally {
    await service.close();
  }
});

it('minutes of a month are added up once a minute, and refuse tokens when they are used up', async () => {
  const clock = new ManualClock(0);
  let minutes = 99.5;
  let reads = 0;
  let isDown = true;
  const limits = new KeyLimits({
    limits: { webhooks: 1, plans: 1, vocabularies: 1, blocks: 1 },
    counts: {
      webhooks: async () => 0,
      plans: async () => 0,
      vocabularies: async () => 0,
      blocks: async () => 0,
    },
    rooms: {
      isOpen: async () => true,
      countOpen: async () => 0,
      countPresent: async () => 0,
      countMinutes: async () => {
        reads += 1;
        if (isDown) throw new Error('the database is away');
        return minutes;
      },
    },
    clock,
  });
  const caller = {
    keyId: 'key_1',
    scopes: ['tokens'],
    rooms: ['acme-'],
    limits: { minutesPerMonth: 100 },
  } as const;
  const enter = () => limits.checkPerson(caller, { room: 'acme-1', identity: 'ada' });
  await expect(enter()).rejects.toThrow('the database is away');
  isDown = false;
  await Promise.all([enter(), enter()]);
  minutes = 100;
  await enter();
  expect(reads).toBe(2);
  clock.advance(60_000);
  await expect(enter()).rejects.toMatchObject({
    code: 'key-limit-reached',
    extensions: { kind: 'minutesPerMonth', limit: 100 },
  });
  expect(limits.checkPerson({ ...caller, limits: { webhooks: 3 } }, { room: 'acme-1' })).toBeUndefined();
});
