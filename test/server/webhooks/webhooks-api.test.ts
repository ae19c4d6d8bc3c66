import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EVENT_NAMES } from '../../../src/contract/event-names.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { failPending } from './support/fail-pending.ts';
import { LOOPBACK_ALLOWED, register } from './support/hooked-service.ts';
import { ABSENT_MEDIA, mediaWebhook, postMediaEvent, roomFinished } from './support/media-webhook.ts';
import { expectedSignatures, type Receiver, respondWith, startReceiver } from './support/receiver.ts';

type Listed = {
  readonly deliveries: readonly {
    readonly id: string;
    readonly eventId: string;
    readonly event: string;
    readonly status: string;
    readonly nextAttemptAt: string | null;
    readonly attempts: readonly { readonly statusCode: number | null; readonly error: string | null }[];
  }[];
  readonly nextCursor: string | null;
};

let service: TestService;
let receiver: Receiver;
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'rtc-webhooks-'));
  service = await startTestService({ environment: { ...LOOPBACK_ALLOWED, DATA_DIR: dataDir } });
});
afterAll(async () => {
  await service?.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** Each test has its own receiver, and removes its webhooks. */
const registered: string[] = [];
const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const id of registered.splice(0)) await service.call('DELETE', `/v1/webhooks/${id}`);
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function withReceiver(events?: readonly string[]) {
  receiver = await startReceiver();
  cleanUps.push(receiver.close);
  const webhook = await register(service, receiver.url, events);
  registered.push(webhook.id);
  return webhook;
}

let rooms = 0;
const finishRoom = async (): Promise<string> => {
  rooms += 1;
  const name = `room-${rooms}`;
  expect(await postMediaEvent(service.url, roomFinished(name))).toBe(200);
  return name;
};

const listDeliveries = async (id: string, query = ''): Promise<Listed> =>
  (await service.call('GET', `/v1/webhooks/${id}/deliveries${query}`)).json as Listed;

const untilStatus = (id: string, ...statuses: readonly string[]) =>
  expect
    .poll(async () => (await listDeliveries(id)).deliveries.map(({ status }) => status), { timeout: 60_000 })
    .toEqual(statuses);

describe('registering a webhook', () => {
  it('returns the secret once and masks it from then on', async () => {
    const created = await service.call('POST', '/v1/webhooks', { body: { url: 'https://example.org/hook' } });
    const webhook = created.json as { id: string; secret: string; events: string[]; createdAt: string };
    registered.push(webhook.id);
    expect(created.status).toBe(201);
    expect(webhook.id).toMatch(/^wh_[\w-]+$/);
    expect(webhook.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(webhook.events).toEqual(['*']);
    const masked = { ...webhook, secret: '***' };
    expect((await service.call('GET', `/v1/webhooks/${webhook.id}`)).json).toEqual(masked);
    expect((await service.call('GET', '/v1/webhooks')).json).toEqual({ webhooks: [masked] });
    for (const [method, body] of [
      ['PATCH', { events: ['room_started'] }],
      ['PUT', { url: 'https://example.org/other' }],
    ] as const) {
      const changed = await service.call(method, `/v1/webhooks/${webhook.id}`, { body });
      expect([changed.status, (changed.json as { secret: string }).secret]).toEqual([200, '***']);
    }
  });

  it('lists them page by page with a limit or a cursor', async () => {
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      const body = { url: `https://example.org/${name}` };
      const created = await service.call('POST', '/v1/webhooks', { body });
      ids.push((created.json as { id: string }).id);
    }
    registered.push(...ids);
    const page = async (query: string) => {
      const { json } = await service.call('GET', `/v1/webhooks${query}`);
      const { webhooks, nextCursor } = json as { webhooks: { id: string }[]; nextCursor?: string | null };
      return { ids: webhooks.map(({ id }) => id), nextCursor };
    };
    const first = await page('?limit=2');
    expect(first).toEqual({ ids: ids.slice(0, 2), nextCursor: expect.any(String) });
    expect(await page(`?limit=2&cursor=${first.nextCursor}`)).toEqual({
      ids: ids.slice(2),
      nextCursor: null,
    });
    expect(await page(`?cursor=${first.nextCursor}`)).toEqual({ ids: ids.slice(2), nextCursor: null });
    expect(await page('')).toEqual({ ids, nextCursor: undefined });
    const foreign = await service.call('GET', '/v1/webhooks?cursor=WyJyb29tcyIsImEiXQ');
    expect([foreign.status, foreign.json]).toMatchObject([400, { errors: [{ parameter: 'cursor' }] }]);
    for (const limit of ['0', '1001', 'x']) {
      expect((await service.call('GET', `/v1/webhooks?limit=${limit}`)).status).toBe(400);
    }
  });

  it('is refused beyond MAX_WEBHOOKS, until one is deleted', async () => {
    const limited = await startTestService({ environment: { ...LOOPBACK_ALLOWED, MAX_WEBHOOKS: '2' } });
    cleanUps.push(limited.close);
    const create = () => limited.call('POST', '/v1/webhooks', { body: { url: 'https://example.org/hook' } });
    const [{ json: kept }] = await Promise.all([create(), create()]);
    const refused = await create();
    expect([refused.status, refused.json]).toMatchObject([
      409,
      { type: 'urn:problem-type:rtc:webhook-limit-reached', detail: expect.stringContaining('2 webhooks') },
    ]);
    await limited.call('DELETE', `/v1/webhooks/${(kept as { id: string }).id}`);
    expect((await create()).status).toBe(201);
  });

  it('accepts all the names of both lists, and names them when one is wrong', async () => {
    const body = { url: 'https://example.org/hook', events: [...EVENT_NAMES] };
    const created = await service.call('POST', '/v1/webhooks', { body });
    expect(created.status).toBe(201);
    registered.push((created.json as { id: string }).id);
    const refused = await service.call('POST', '/v1/webhooks', {
      body: { ...body, events: ['room_opened'] },
    });
    expect(refused.status).toBe(400);
    for (const name of EVENT_NAMES) expect(refused.text).toContain(name);
  });

  it.each([
    ['ftp://example.org/'],
    ['example.org/hook'],
    ['https://user:pass@example.org/'],
    ['https://user@example.org/'],
    ['javascript:alert(1)'],
    ['https://'],
    [''],
    ['https:example.org'],
    ['https:/example.org/'],
    ['https:\\\\example.org\\'],
    [' https://example.org/'],
    ['https://example.org/a b'],
    ['https://example.org\n/'],
    ['https://example.org/\0'],
    ['https://example.org/\ud800'],
    [`https://example.org/${'x'.repeat(2048)}`],
  ])('rejects the URL %j', async (url) => {
    const refused = await service.call('POST', '/v1/webhooks', { body: { url } });
    expect([refused.status, (refused.json as { type: string }).type]).toEqual([
      400,
      'urn:problem-type:rtc:invalid-request',
    ]);
    expect(refused.text).toContain('#/url');
  });

  it.each([
    [{ events: [] }],
    [{ secret: '' }],
    [{ secret: '***' }],
    [{ secret: '\ud800' }],
    [{ extra: 1 }],
    [{ secret: 'x'.repeat(1025) }],
    [{ secret: 'ü'.repeat(513) }],
    [{ url: null }],
  ])('rejects %j', async (fields) => {
    const body = { url: 'https://example.org/', ...fields };
    expect((await service.call('POST', '/v1/webhooks', { body })).status).toBe(400);
  });

  const BASE64 = Buffer.alloc(32, 6).toString('base64');
  it.each([
    [`whsec_${BASE64}\n`, 'must not contain a line end or another control character'],
    ['two\r\nlines', 'must not contain a line end or another control character'],
    ['nul\0', 'must not contain a line end or another control character'],
    [' ', 'must not begin or end with a blank'],
    [`whsec_${BASE64} `, 'must not begin or end with a blank'],
    [`\u00a0${BASE64}`, 'must not begin or end with a blank'],
    [`"whsec_${BASE64}"`, 'must not be in quotes'],
    ["'a secret'", 'must not be in quotes'],
    [`v1,whsec_${BASE64}`, 'must begin with whsec_, without the v1, of a signature'],
    ['whsec_', 'must be base64 with its padding after whsec_'],
    ['whsec_not base64', 'must be base64 with its padding after whsec_'],
    [`whsec_${BASE64.replace('=', '')}`, 'must be base64 with its padding after whsec_'],
    ['whsec_YR==', 'must be base64 with its padding after whsec_'],
  ])('rejects the secret %j, which no library of a receiver can match', async (secret, reason) => {
    const { id } = await withReceiver();
    const created = await service.call('POST', '/v1/webhooks', {
      body: { url: 'https://example.org/', secret },
    });
    const changed = await service.call('PUT', `/v1/webhooks/${id}`, { body: { secret } });
    for (const { status, json, text } of [created, changed]) {
      expect(status).toBe(400);
      expect(json).toMatchObject({ errors: [{ pointer: '#/secret', detail: reason }] });
      expect(text).not.toContain(BASE64.slice(0, 20));
    }
  });

  it.each(['with space', 'ü', '"', 'whsec', 'whsec-', 'x'.repeat(1024), 'ü'.repeat(512)])(
    'signs with the secret %j',
    async (secret) => {
      receiver = await startReceiver();
      cleanUps.push(receiver.close);
      const body = { url: receiver.url, secret };
      const created = await service.call('POST', '/v1/webhooks', { body });
      expect(created.status).toBe(201);
      const { id } = created.json as { id: string };
      registered.push(id);
      await service.call('POST', `/v1/webhooks/${id}/test`);
      const { headers, text } = receiver.received[0] ?? expect.unreachable();
      const sign = (signed: string) => createHmac('sha256', secret).update(signed);
      expect(headers['x-service-webhook-signature']).toBe(`sha256=${sign(text).digest('hex')}`);
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`;
      expect(headers['webhook-signature']).toBe(`v1,${sign(signed).digest('base64')}`);
    },
  );

  it('keeps the order that a webhook asks for, and changes it by PATCH and PUT', async () => {
    const { id } = await withReceiver();
    const readOrdering = (response: { readonly json: unknown }) =>
      (response.json as { readonly ordering: unknown }).ordering;
    const path = `/v1/webhooks/${id}`;
    expect(readOrdering(await service.call('GET', path))).toBe('none');
    const body = { url: 'https://example.org/hook', ordering: 'room' };
    const created = await service.call('POST', '/v1/webhooks', { body: body });
    registered.push((created.json as { id: string }).id);
    expect([created.status, readOrdering(created)]).toEqual([201, 'room']);
    for (const [method, ordering] of [
      ['PATCH', 'room'],
      ['PUT', 'none'],
    ] as const) {
      const changed = await service.call(method, path, { body: { ordering } });
      expect([changed.status, readOrdering(changed)]).toEqual([200, ordering]);
      expect(readOrdering(await service.call('GET', path))).toBe(ordering);
    }
    const wrong = await service.call('PATCH', path, { body: { ordering: 'global' } });
    expect(wrong.status).toBe(400);
  });

  it('accepts a webhook by PUT as it was read, and rotates nothing', async () => {
    const { id, secret } = await withReceiver(['room_finished']);
    const read = (await service.call('GET', `/v1/webhooks/${id}`)).json as object;
    const put = await service.call('PUT', `/v1/webhooks/${id}`, { body: read });
    expect([put.status, put.json]).toEqual([200, read]);
    const changed = { ...read, id: 'wh_other', createdAt: 'never', events: ['*'] };
    const second = await service.call('PUT', `/v1/webhooks/${id}`, { body: changed });
    expect(second.json).toEqual({ ...read, events: ['*'] });
    await service.call('POST', `/v1/webhooks/${id}/test`);
    const [received] = receiver.received;
    const { specified } = expectedSignatures(received ?? expect.unreachable(), secret);
    expect(received?.headers['x-service-webhook-signature']).toBe(specified);
  });

  it.each([
    'http://10.0.0.1/hook',
    'https://192.168.1.2/',
    'http://[fe80::1]/',
    'http://169.254.169.254/latest',
    'http://[::1]/',
  ])('warns about %s, to which nothing will be delivered', async (url) => {
    const warnings = [
      { code: 'private-address', detail: expect.stringContaining('WEBHOOK_ALLOWED_NETWORKS') },
    ];
    const created = await service.call('POST', '/v1/webhooks', { body: { url } });
    const { id } = created.json as { id: string };
    registered.push(id);
    expect([created.status, created.json]).toEqual([201, expect.objectContaining({ warnings })]);
    const read = await service.call('GET', `/v1/webhooks/${id}`);
    expect(read.json).not.toHaveProperty('warnings');
    const patched = await service.call('PATCH', `/v1/webhooks/${id}`, { body: { url } });
    expect(patched.json).toMatchObject({ warnings });
    const put = await service.call('PUT', `/v1/webhooks/${id}`, { body: { url: 'https://example.org/' } });
    expect(put.json).not.toHaveProperty('warnings');
  });

  it('does not warn about a network that the operator has exempted, nor about a public one', async () => {
    for (const url of [
      'http://127.0.0.1:9/',
      'http://localhost:9/',
      'https://1.1.1.1/',
      'https://example.org/',
    ]) {
      const created = await service.call('POST', '/v1/webhooks', { body: { url } });
      registered.push((created.json as { id: string }).id);
      expect([url, created.status]).toEqual([url, 201]);
      expect(created.json).not.toHaveProperty('warnings');
    }
  });

  it('does not let PATCH change the secret', async () => {
    const { id } = await withReceiver();
    expect((await service.call('PATCH', `/v1/webhooks/${id}`, { body: { secret: 'other' } })).status).toBe(
      400,
    );
  });

  it('is 404 for an unknown id, on every path', async () => {
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', {}],
      ['PUT', '', {}],
      ['DELETE', '', undefined],
      ['POST', '/test', undefined],
      ['GET', '/deliveries', undefined],
      ['GET', '/deliveries/dlv_x', undefined],
      ['POST', '/deliveries/dlv_x/replay', undefined],
      ['POST', '/replay?since=2026-01-01T00:00:00Z', undefined],
    ] as const) {
      const missing = await service.call(
        method,
        `/v1/webhooks/wh_none${path}`,
        body === undefined ? {} : { body },
      );
      expect([method, path, missing.status, (missing.json as { type: string }).type]).toEqual([
        method,
        path,
        404,
        'urn:problem-type:rtc:webhook-not-found',
      ]);
    }
  });
});

describe('a delivery', () => {
  it('has the specified shape and headers, and both signatures', async () => {
    const { secret } = await withReceiver();
    const startedAt = Date.now();
    const name = await finishRoom();
    const [received] = await receiver.waitFor(({ body }) => body.room?.name === name);
    const { headers, body } = received ?? expect.unreachable();
    expect(headers['content-type']).toBe('application/json');
    expect(headers['x-service-webhook-event']).toBe('room_finished');
    const { specified, standard } = expectedSignatures(received ?? expect.unreachable(), secret);
    expect(headers['x-service-webhook-signature']).toBe(specified);
    expect(headers['webhook-signature']).toBe(standard);
    expect(headers['webhook-id']).toBe(body.id);
    const sentAt = Number(headers['webhook-timestamp']) * 1000;
    expect(sentAt).toBeGreaterThan(startedAt - 1000);
    expect(sentAt).toBeLessThanOrEqual(Date.now());
    expect(Object.keys(body).sort()).toEqual(['event', 'id', 'room', 'sequence', 'timestamp']);
    expect(Object.keys(body.room).sort()).toEqual([
      'createdAt',
      'endedAt',
      'id',
      'metadata',
      'name',
      'numParticipants',
    ]);
    expect(body).toMatchObject({
      event: 'room_finished',
      room: { id: `RM_${name}`, name, numParticipants: 0 },
    });
    expect(body.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it.each([
    [['room_closed'], 'room_closed'],
    [['room_finished'], 'room_finished'],
    [['room_closed', 'room_finished'], 'room_finished'],
    [['*'], 'room_finished'],
    [['room_closed', '*'], 'room_finished'],
  ])('is sent for the registration of %j as %s, once', async (events, expected) => {
    await withReceiver(events);
    const name = await finishRoom();
    const [received] = await receiver.waitFor(({ body }) => body.room?.name === name);
    expect(received?.headers['x-service-webhook-event']).toBe(expected);
    expect(received?.body.event).toBe(expected);
    const { id } = { id: registered.at(-1) ?? '' };
    await untilStatus(id, 'delivered');
    expect(receiver.received).toHaveLength(1);
  });

  it('is not sent to webhooks with other events', async () => {
    const { id } = await withReceiver(['room_started']);
    await finishRoom();
    expect((await listDeliveries(id)).deliveries).toEqual([]);
  });

  it('is not repeated when the media server repeats itself', async () => {
    const { id } = await withReceiver();
    const name = await finishRoom();
    expect(await postMediaEvent(service.url, roomFinished(name))).toBe(200);
    await untilStatus(id, 'delivered');
    expect(receiver.received).toHaveLength(1);
  });

  it('is signed by both secrets after a rotation, the specified header by the new one', async () => {
    const { id, secret } = await withReceiver();
    const next = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    await service.call('PUT', `/v1/webhooks/${id}`, { body: { secret: next } });
    await finishRoom();
    const [received] = await receiver.waitFor(() => true);
    const [by, before] = [next, secret].map((key) =>
      expectedSignatures(received ?? expect.unreachable(), key),
    );
    expect(received?.headers['x-service-webhook-signature']).toBe(by?.specified);
    expect(received?.headers['webhook-signature']).toBe(`${by?.standard} ${before?.standard}`);
  });

  it('is signed by the previous secret also when the rotation is repeated', async () => {
    const { id, secret } = await withReceiver();
    const next = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
    for (let time = 0; time < 2; time += 1) {
      await service.call('PUT', `/v1/webhooks/${id}`, { body: { url: receiver.url, secret: next } });
    }
    await finishRoom();
    const [received] = await receiver.waitFor(() => true);
    const [by, before] = [next, secret].map((key) =>
      expectedSignatures(received ?? expect.unreachable(), key),
    );
    expect(received?.headers['webhook-signature']).toBe(`${by?.standard} ${before?.standard}`);
  });

  it('is signed by a secret that is not base64 unchanged', async () => {
    receiver = await startReceiver();
    cleanUps.push(receiver.close);
    const body = { url: receiver.url, secret: 'plain-words' };
    registered.push(((await service.call('POST', '/v1/webhooks', { body })).json as { id: string }).id);
    await finishRoom();
    const [received] = await receiver.waitFor(() => true);
    expect(received?.headers['x-service-webhook-signature']).toBe(
      expectedSignatures(received ?? expect.unreachable(), 'plain-words').specified,
    );
  });
});

describe('the log of deliveries', () => {
  it('has every attempt with its status and why it failed', async () => {
    const { id } = await withReceiver();
    receiver.behave(respondWith(503, 'busy'));
    await finishRoom();
    await expect.poll(async () => (await listDeliveries(id)).deliveries[0]?.attempts.length).toBe(1);
    const [delivery] = (await listDeliveries(id)).deliveries;
    expect(delivery).toMatchObject({
      event: 'room_finished',
      status: 'pending',
      attempts: [
        { number: 1, statusCode: 503, error: 'the receiver responded with 503', responseBody: 'busy' },
      ],
    });
    expect(Date.parse(delivery?.nextAttemptAt ?? '')).toBeLessThanOrEqual(Date.now() + 5_000);
  });

  it('is listed in pages, newest first, and by status', async () => {
    const { id } = await withReceiver();
    for (let count = 0; count < 5; count += 1) await finishRoom();
    await untilStatus(id, ...Array(5).fill('delivered'));
    const all = (await listDeliveries(id)).deliveries.map((delivery) => delivery.id);
    const paged: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Listed = await listDeliveries(id, `?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`);
      paged.push(...page.deliveries.map((delivery) => delivery.id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(paged).toEqual(all);
    expect((await listDeliveries(id, '?status=delivered')).deliveries).toHaveLength(5);
    expect((await listDeliveries(id, '?status=failed')).deliveries).toEqual([]);
  });

  it('has the delivery of one event, with the id that the receiver got', async () => {
    const { id } = await withReceiver();
    for (let count = 0; count < 2; count += 1) await finishRoom();
    await untilStatus(id, 'delivered', 'delivered');
    const [newest, oldest] = (await listDeliveries(id)).deliveries;
    for (const delivery of [newest, oldest]) {
      const { deliveries, nextCursor } = await listDeliveries(id, `?eventId=${delivery?.eventId}`);
      expect([deliveries, nextCursor]).toEqual([[delivery], null]);
    }
    expect((await listDeliveries(id, `?eventId=${newest?.eventId}&status=failed`)).deliveries).toEqual([]);
    expect((await listDeliveries(id, '?eventId=evt_nothing')).deliveries).toEqual([]);
    await service.call('POST', `/v1/webhooks/${id}/test`);
    const [test] = (await listDeliveries(id)).deliveries;
    expect((await listDeliveries(id, `?eventId=${test?.eventId}`)).deliveries).toEqual([test]);
  });

  it.each([
    'eventId=',
    'limit=0',
    'limit=201',
    'limit=x',
    'status=lost',
    'cursor=nonsense',
    'cursor=bnVsbA',
    'other=1',
  ])('rejects the query %s', async (query) => {
    const { id } = await withReceiver();
    const refused = await service.call('GET', `/v1/webhooks/${id}/deliveries?${query}`);
    expect(refused.status).toBe(400);
  });
});

describe('changing a webhook', () => {
  it('sends waiting retries to the new URL', async () => {
    const { id } = await withReceiver();
    receiver.behave(respondWith(500));
    await finishRoom();
    await expect.poll(async () => (await listDeliveries(id)).deliveries[0]?.attempts.length).toBe(1);
    const other = await startReceiver();
    cleanUps.push(other.close);
    await service.call('PATCH', `/v1/webhooks/${id}`, { body: { url: other.url } });
    // The first retry, in real time.
    const [retried] = await other.waitFor(() => true, 1, 20_000);
    expect((retried?.at ?? 0) - (receiver.received[0]?.at ?? 0)).toBeGreaterThanOrEqual(4_990);
    expect(retried?.body.id).toBe(receiver.received[0]?.body.id);
    expect(receiver.received).toHaveLength(1);
  });

  it('cancels waiting retries when it is deleted', async () => {
    const { id } = await withReceiver();
    receiver.behave(respondWith(500));
    await finishRoom();
    await expect.poll(async () => (await listDeliveries(id)).deliveries[0]?.attempts.length).toBe(1);
    expect((await service.call('DELETE', `/v1/webhooks/${id}`)).status).toBe(204);
    registered.length = 0;
    expect((await service.call('GET', `/v1/webhooks/${id}/deliveries`)).status).toBe(404);
    // Later than the first retry would have been.
    await expect(receiver.waitFor(() => true, 2, 6_000)).rejects.toThrow('1 of 2');
  });
});

describe('one delivery', () => {
  const pendingDelivery = async () => {
    const { id } = await withReceiver(['room_finished']);
    let end = (): void => {};
    receiver.behave((_request, response) => {
      end = () => void response.writeHead(200).end();
    });
    await finishRoom();
    await receiver.waitFor(() => true);
    const [delivery] = (await listDeliveries(id)).deliveries;
    return { path: `/v1/webhooks/${id}/deliveries/${delivery?.id}`, delivery, end: () => end() };
  };

  it('is returned as the list shows it', async () => {
    const { path, delivery, end } = await pendingDelivery();
    const { status, json } = await service.call('GET', path);
    expect([status, json]).toEqual([200, delivery]);
    expect((await service.call('GET', `${path}?wait=0`)).json).toEqual(delivery);
    end();
  });

  it('is returned with its end as soon as it has ended, for a reader that waits', async () => {
    const { path, end } = await pendingDelivery();
    const waiting = service.call('GET', `${path}?wait=25`);
    end();
    expect((await waiting).json).toMatchObject({ status: 'delivered', attempts: [{ statusCode: 200 }] });
  });

  it('is returned as pending at the end of the wait', async () => {
    const { path, end } = await pendingDelivery();
    expect((await service.call('GET', `${path}?wait=1`)).json).toMatchObject({ status: 'pending' });
    end();
  });

  it.each(['-1', '26', 'x'])('rejects a wait of %s', async (wait) => {
    expect((await service.call('GET', `/v1/webhooks/wh_x/deliveries/dlv_x?wait=${wait}`)).status).toBe(400);
  });
});

describe('a test delivery', () => {
  it('has the response of the receiver, and is in the log', async () => {
    const { id, secret } = await withReceiver();
    const tested = await service.call('POST', `/v1/webhooks/${id}/test`);
    expect([tested.status, tested.json]).toEqual([200, { delivered: true, statusCode: 200 }]);
    const [received] = receiver.received;
    expect(received?.headers['x-service-webhook-event']).toBe('webhook_test');
    expect(received?.headers['x-service-webhook-signature']).toBe(
      expectedSignatures(received ?? expect.unreachable(), secret).specified,
    );
    await untilStatus(id, 'delivered');
  });

  it('is sent once and not again', async () => {
    const { id } = await withReceiver();
    receiver.behave(respondWith(418));
    const tested = await service.call('POST', `/v1/webhooks/${id}/test`);
    expect(tested.json).toEqual({ delivered: false, statusCode: 418 });
    await untilStatus(id, 'failed');
  });

  it('reports that there was no response', async () => {
    const { id } = await withReceiver();
    await receiver.close();
    cleanUps.length = 0;
    const tested = await service.call('POST', `/v1/webhooks/${id}/test`);
    expect(tested.json).toEqual({ delivered: false, statusCode: 0, error: 'the connection was refused' });
  });

  it('reaches no private address', async () => {
    const created = await service.call('POST', '/v1/webhooks', { body: { url: 'http://10.0.0.1/' } });
    const { id } = created.json as { id: string };
    registered.push(id);
    expect((await service.call('POST', `/v1/webhooks/${id}/test`)).json).toEqual({
      delivered: false,
      statusCode: 0,
      error: 'the address is private, loopback, link-local or otherwise not public',
    });
  });

  it('is not among the events', async () => {
    const { id } = await withReceiver();
    await service.call('POST', `/v1/webhooks/${id}/test`);
    const events = (await service.call('GET', '/v1/events?limit=1000')).json as {
      events: { event: string }[];
    };
    expect(events.events.map(({ event }) => event)).not.toContain('webhook_test');
  });
});

describe('a replay', () => {
  it('sends an ended delivery again, under its id, in a new round', async () => {
    const { id } = await withReceiver();
    await finishRoom();
    await untilStatus(id, 'delivered');
    const [delivery] = (await listDeliveries(id)).deliveries;
    const path = `/v1/webhooks/${id}/deliveries/${delivery?.id}/replay`;
    const replayed = await service.call('POST', path);
    expect([replayed.status, replayed.json]).toEqual([202, { replayed: 1 }]);
    const [first, second] = await receiver.waitFor(() => true, 2);
    expect(second?.text).toBe(first?.text);
    await expect.poll(async () => (await listDeliveries(id)).deliveries[0]?.attempts.length).toBe(2);
  });

  it('of a pending one is refused', async () => {
    const { id } = await withReceiver();
    receiver.behave(respondWith(500));
    await finishRoom();
    await expect.poll(async () => (await listDeliveries(id)).deliveries[0]?.attempts.length).toBe(1);
    const [delivery] = (await listDeliveries(id)).deliveries;
    const refused = await service.call('POST', `/v1/webhooks/${id}/deliveries/${delivery?.id}/replay`);
    expect([refused.status, (refused.json as { type: string }).type]).toEqual([
      409,
      'urn:problem-type:rtc:conflict',
    ]);
    expect(refused.text).toContain('pending');
  });

  it('of an unknown one, or of another webhook, is 404', async () => {
    const other = await withReceiver();
    await finishRoom();
    await untilStatus(other.id, 'delivered');
    const [delivery] = (await listDeliveries(other.id)).deliveries;
    const { id } = await withReceiver();
    for (const deliveryId of ['dlv_none', delivery?.id]) {
      const missing = await service.call('POST', `/v1/webhooks/${id}/deliveries/${deliveryId}/replay`);
      expect((missing.json as { type: string }).type).toBe('urn:problem-type:rtc:delivery-not-found');
    }
  });

  it('of all failed ones excludes tests, and those before the given instant', async () => {
    const { id } = await withReceiver();
    receiver.behave(respondWith(500));
    await service.call('POST', `/v1/webhooks/${id}/test`);
    await finishRoom();
    await untilStatus(id, 'pending', 'failed');
    await expect.poll(async () => (await listDeliveries(id)).deliveries[0]?.attempts.length).toBe(1);
    expect(await failPending(dataDir)).toBe(1);
    receiver.behave(respondWith(200));
    const replay = async (since: string) =>
      (await service.call('POST', `/v1/webhooks/${id}/replay?since=${since}`)).json as { replayed: number };
    expect(await replay(new Date(Date.now() + 60_000).toISOString())).toEqual({ replayed: 0 });
    expect(await replay('2020-01-01T00:00:00Z')).toEqual({ replayed: 1 });
    await untilStatus(id, 'delivered', 'failed');
    const [, test] = (await listDeliveries(id)).deliveries;
    await service.call('POST', `/v1/webhooks/${id}/deliveries/${test?.id}/replay`);
    await untilStatus(id, 'delivered', 'delivered');
  });
});

const TOKEN_REQUEST = { roomId: 'demo', userId: 'ada', name: 'Ada', role: 'host' };

describe("the media server's webhooks", () => {
  const post = (headers: Readonly<Record<string, string>>, body: string) =>
    service.call('POST', '/livekit/webhook', { headers, body, signing: false });

  it('are rejected without a signature, with that of another key, and with that of another body', async () => {
    const { body, headers } = mediaWebhook(roomFinished('forged'));
    const { authorization: _, ...unsigned } = headers;
    const other = mediaWebhook(roomFinished('forged'), { apiKey: 'absent', apiSecret: 'other' });
    for (const answered of [
      await post(unsigned, body),
      await post(other.headers, other.body),
      await post(headers, body.replace('forged', 'changed')),
      await post({ ...headers, authorization: 'nonsense' }, body),
      await post({ ...headers, authorization: `Bearer ${headers.authorization}` }, body),
    ]) {
      expect(answered.status).toBe(401);
    }
    const events = (await service.call('GET', '/v1/events?roomId=forged')).json as { events: unknown[] };
    expect(events.events).toEqual([]);
  });

  it('are accepted with metadata of any size, regardless of BODY_LIMIT', async () => {
    const metadata = '"'.repeat(512 * 1024);
    const room = { ...(roomFinished('heavy').room as object), metadata };
    const participant = { sid: 'PA_heavy', identity: 'ada', metadata };
    const event = { event: 'participant_joined', id: 'EV_heavy', room, participant };
    const { body, headers } = mediaWebhook(event);
    expect(body.length).toBeGreaterThan(2 * 1024 * 1024);
    expect((await post(headers, body)).status).toBe(200);
    const events = (await service.call('GET', '/v1/events?roomId=heavy')).json as {
      events: { event: string }[];
    };
    expect(events.events.map((each) => each.event)).toContain('participant_joined');
  });

  it('that are large are read only with a token for an event, up to 8 MiB', async () => {
    const { body, headers } = mediaWebhook({
      event: 'room_started',
      id: 'EV_l',
      metadata: ' '.repeat(1024 ** 2),
    });
    const { authorization: _, ...unsigned } = headers;
    expect((await post(unsigned, body)).status).toBe(413);
    // Signed by the same key, and given to everybody who joins.
    const { token } = (await service.call('POST', '/v1/token', { body: TOKEN_REQUEST })).json as {
      token: string;
    };
    expect((await post({ ...headers, authorization: token }, body)).status).toBe(413);
    expect((await post(headers, body)).status).toBe(200);
    const huge = mediaWebhook({ event: 'room_started', id: 'EV_h', metadata: ' '.repeat(8 * 1024 ** 2) });
    expect((await post(huge.headers, huge.body)).status).toBe(413);
  });

  it.each([101, 4_111, 100_000])('that are nested %i deep are rejected permanently', async (depth) => {
    const { body, headers } = mediaWebhook({ event: 'room_started', id: 'EV_deep', more: 0 }, ABSENT_MEDIA, {
      // JSON.stringify cannot write such deep nesting.
      edit: (text) => text.replace('"more":0', `"more":${'['.repeat(depth)}${']'.repeat(depth)}`),
    });
    const refused = await post(headers, body);
    expect([refused.status, refused.json]).toMatchObject([
      400,
      { errors: [{ pointer: '#/more', detail: 'is nested too deeply' }] },
    ]);
  });

  it('that are nested deeper than any event of the media server are accepted', async () => {
    const more = JSON.parse(`${'['.repeat(99)}${']'.repeat(99)}`);
    const { body, headers } = mediaWebhook({ ...roomFinished('deep'), more });
    expect((await post(headers, body)).status).toBe(200);
  });

  it('that are signed but no event are rejected permanently', async () => {
    const { body, headers } = mediaWebhook({ event: 7 });
    expect((await post(headers, body)).status).toBe(400);
  });
});

describe('pausing a webhook', () => {
  const setPaused = async (id: string, paused: boolean) =>
    (await service.call('PATCH', `/v1/webhooks/${id}`, { body: { paused } })).json as {
      readonly pausedAt: string | null;
    };

  it('keeps its events and retries until it is resumed, and then sends them', async () => {
    const { id } = await withReceiver(['room_finished']);
    const other = await withReceiver(['room_finished']);
    const paused = await setPaused(id, true);
    expect(paused.pausedAt).toMatch(/Z$/);
    expect((await setPaused(id, true)).pausedAt).toBe(paused.pausedAt);
    const put = await service.call('PUT', `/v1/webhooks/${id}`, { body: paused });
    expect(put.json).toMatchObject({ pausedAt: paused.pausedAt });
    await finishRoom();
    await untilStatus(other.id, 'delivered');
    await untilStatus(id, 'pending');
    expect((await service.call('POST', `/v1/webhooks/${id}/test`)).json).toMatchObject({ delivered: true });
    expect((await setPaused(id, false)).pausedAt).toBeNull();
    await untilStatus(id, 'delivered', 'delivered');
  });
});
