import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/contract/problem.ts';
import type { Webhook } from '../../../src/contract/webhooks.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { createMigratedDatabase } from '../../support/parts/migrated-database.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const URL_OF_HOOK = 'https://example.org/hook';
const keyed = (key: string, body: object = { url: URL_OF_HOOK }) => ({
  body,
  headers: { 'Idempotency-Key': key },
});
const toType = (problem: Problem): string => problem.type.replace('urn:problem-type:rtc:', '');

describe('a POST with an Idempotency-Key', () => {
  let service: TestService;
  let dataDir: string;
  const clock = new ManualClock(Date.parse('2026-01-31T09:30:00.000Z'));
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'rtc-idempotency-'));
    service = await startTestService({ clock, environment: { DATA_DIR: dataDir, MAX_WEBHOOKS: '20' } });
  });
  afterAll(async () => {
    await service?.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  const post = (key: string, body?: object, path = '/v1/webhooks') =>
    service.call('POST', path, keyed(key, body));
  const count = async (): Promise<number> =>
    ((await service.call('GET', '/v1/webhooks')).json as { webhooks: Webhook[] }).webhooks.length;

  it('is done once, and gets the first response again, its secret included', async () => {
    const before = await count();
    const key = randomUUID();
    const first = await post(key);
    const again = await post(key);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.text).toBe(first.text);
    expect((again.json as Webhook).secret).toMatch(/^whsec_/);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.headers['content-type']).toBe(first.headers['content-type']);
    expect(await count()).toBe(before + 1);
  });

  it('counts as the same key with and without the quotes of a structured field', async () => {
    const key = randomUUID();
    expect((await post(`"${key}"`)).text).toBe((await post(key)).text);
  });

  it('is refused when the key was sent with another body or query', async () => {
    const key = randomUUID();
    await post(key);
    const other = await post(key, { url: 'https://example.org/other' });
    expect([other.status, toType(other.json)]).toEqual([422, 'idempotency-key-reused']);
    const { id } = (await post(randomUUID())).json as Webhook;
    const since = (day: string) =>
      service.call('POST', `/v1/webhooks/${id}/replay?since=2026-01-${day}T00:00:00Z`, {
        headers: { 'Idempotency-Key': key },
      });
    expect([(await since('01')).status, (await since('01')).status, (await since('02')).status]).toEqual([
      202, 202, 422,
    ]);
  });

  it('is another request on another path', async () => {
    const key = randomUUID();
    const { id } = (await post(key)).json as Webhook;
    const test = await service.call('POST', `/v1/webhooks/${id}/test`, {
      headers: { 'Idempotency-Key': key },
    });
    expect([test.status, test.headers['idempotent-replayed']]).toEqual([200, undefined]);
  });

  it('gets an error of the handler again, under the id of the new request', async () => {
    const key = randomUUID();
    const path = `/v1/webhooks/wh_${key}/test`;
    const send = () => service.call('POST', path, { headers: { 'Idempotency-Key': key } });
    const [first, again] = [await send(), await send()];
    expect([first.status, again.status, again.headers['idempotent-replayed']]).toEqual([404, 404, 'true']);
    const { instance: one, ...rest } = first.json as Problem;
    const { instance: two, ...restAgain } = again.json as Problem;
    expect(restAgain).toEqual(rest);
    expect(two).not.toBe(one);
  });

  it('can be corrected under its key after it was invalid', async () => {
    const key = randomUUID();
    expect((await post(key, { url: 5 })).status).toBe(400);
    expect((await post(key)).status).toBe(201);
  });

  it('is run again after a response of 5xx', async () => {
    const key = randomUUID();
    const open = () => service.call('POST', '/v1/rooms', keyed(key, { name: 'demo' }));
    // There is no media server.
    const [first, again] = [await open(), await open()];
    expect([first.status, again.status, again.headers['idempotent-replayed']]).toEqual([503, 503, undefined]);
  });

  it('issues a new token each time, whatever the key', async () => {
    const key = randomUUID();
    const ask = (userId: string) =>
      service.call('POST', '/v1/token', keyed(key, { roomId: 'demo', userId, name: userId, role: 'host' }));
    expect([(await ask('ada')).status, (await ask('bob')).status]).toEqual([200, 200]);
  });

  it.each(['', ' ', 'x'.repeat(256), 'a b', 'a"b', 'a\\b', 'ä', '""'])(
    'is refused with the key %j',
    async (key) => {
      const refused = await service.call('POST', '/v1/webhooks', {
        body: { url: URL_OF_HOOK },
        headers: { 'Idempotency-Key': Buffer.from(key).toString('latin1') },
      });
      expect([refused.status, refused.json]).toMatchObject([
        400,
        { errors: [{ parameter: 'Idempotency-Key' }] },
      ]);
    },
  );

  it('may have a key of 255 characters', async () => {
    expect((await post('x'.repeat(255))).status).toBe(201);
  });

  it.each([
    ['an API key that was revoked', '/v1/keys', { name: 'a program', scopes: ['read'] }],
    ['a webhook that was deleted', '/v1/webhooks', { url: URL_OF_HOOK }],
  ])('does not return the secret of %s since', async (_, path, body) => {
    const key = randomUUID();
    const { id, secret } = (await post(key, body, path)).json as Webhook;
    expect((await service.call('DELETE', `${path}/${id}`)).status).toBe(204);
    const again = await post(key, body, path);
    expect([again.status, toType(again.json)]).toEqual([409, 'conflict']);
    expect(again.text).toContain(id);
    expect(again.text).not.toContain(secret);
    // A new key makes another one.
    expect((await post(randomUUID(), body, path)).status).toBe(201);
  });

  it('does not return the secret of a webhook that has another one since', async () => {
    const key = randomUUID();
    const { id, secret } = (await post(key)).json as Webhook;
    const change = (body: object) => service.call('PUT', `/v1/webhooks/${id}`, { body });
    expect((await change({ url: 'https://example.org/moved' })).status).toBe(200);
    expect((await post(key)).status).toBe(201);
    expect((await change({ secret: 'another secret' })).status).toBe(200);
    const again = await post(key);
    expect([again.status, toType(again.json)]).toEqual([409, 'conflict']);
    expect(again.text).not.toContain(secret);
  });

  it('does not return the secret of an API key that has expired since', async () => {
    const key = randomUUID();
    const body = { name: 'a program', scopes: ['read'], ttl: 60 };
    const send = () => post(key, body, '/v1/keys');
    expect([(await send()).status, (await send()).status]).toEqual([201, 201]);
    clock.advance(60_000);
    expect((await send()).status).toBe(409);
  });

  it('leaves neither its key nor its response readable in the database', async () => {
    const key = `key-${randomUUID()}`;
    const { secret } = (await post(key)).json as Webhook;
    for (const name of ['rtc.sqlite', 'rtc.sqlite-wal']) {
      const bytes = await readFile(join(dataDir, name));
      expect(bytes.includes(key)).toBe(false);
      expect(bytes.includes(secret)).toBe(false);
    }
  });
});

describe.each(['SQLite', 'PostgreSQL'])('twenty equal POSTs at once over two instances on %s', (engine) => {
  it('are done once, and all get the one outcome or are told to wait', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'rtc-idempotency-'));
    const database = engine === 'SQLite' ? undefined : await createMigratedDatabase();
    const environment = {
      DATA_DIR: dataDir,
      API_KEY: 'key',
      API_SECRET: 'secret-of-both-0123456789',
      ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      ...(database === undefined ? {} : { DATABASE_URL: database.url }),
    };
    const one = await startTestService({ environment });
    const two = await startTestService({ environment });
    try {
      const key = randomUUID();
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          (n % 2 === 0 ? one : two).call('POST', '/v1/webhooks', keyed(key)),
        ),
      );
      const done = responses.filter(({ status }) => status === 201);
      const refused = responses.filter(({ status }) => status === 409);
      expect(done.length + refused.length).toBe(20);
      expect(new Set(done.map(({ text }) => text)).size).toBe(1);
      for (const { json, headers } of refused) {
        expect([toType(json), headers['retry-after']]).toEqual(['idempotency-in-progress', '1']);
      }
      const { webhooks } = (await two.call('GET', '/v1/webhooks')).json as { webhooks: Webhook[] };
      expect(webhooks).toHaveLength(1);
      const later = await Promise.all(
        [one, two].map((each) => each.call('POST', '/v1/webhooks', keyed(key))),
      );
      for (const { status, text } of later) expect([status, text]).toEqual([201, done[0]?.text]);
    } finally {
      await Promise.all([one.close(), two.close()]);
      await database?.close();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
