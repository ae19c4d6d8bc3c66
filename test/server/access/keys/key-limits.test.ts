import { afterEach, describe, expect, it } from 'vitest';
import type { Scope } from '../../../../src/contract/choices.ts';
import type { Key } from '../../../../src/contract/keys.ts';
import type { CallOptions, JsonResponse } from '../../../support/http-call.ts';
import { createInstances } from '../../../support/instances.ts';
import type { TestService } from '../../../support/service.ts';

const { start, database, close } = createInstances();
afterEach(close);

type By = (method: string, path: string, options?: CallOptions) => Promise<JsonResponse>;

async function makeKey(
  service: TestService,
  scopes: readonly Scope[],
): Promise<By & { readonly id: string }> {
  const made = await service.call('POST', '/v1/keys', { body: { name: 'a program', scopes } });
  const { id, secret = '' } = made.json as Key;
  const by: By = (method, path, options) =>
    service.call(method, path, { ...options, signing: { apiKey: id, apiSecret: secret } });
  return Object.assign(by, { id });
}

const HOOK = { body: { url: 'https://example.org/hook' } };
const TERMS = { body: { terms: ['Ada'] } };

describe.each(['SQLite', 'PostgreSQL'])('the limits of an API key on %s', (engine) => {
  const serve = async (): Promise<TestService> =>
    await start({
      MAX_WEBHOOKS: '4',
      MAX_WEBHOOKS_PER_KEY: '2',
      MAX_VOCABULARIES_PER_KEY: '2',
      MAX_BLOCKS_PER_KEY: '2',
      ...(engine === 'SQLite'
        ? {}
        : { DATABASE_URL: await database(), ENCRYPTION_KEY: Buffer.alloc(32).toString('base64') }),
    });
  const refusal = (kind: string) => [
    409,
    { type: 'urn:problem-type:rtc:key-limit-reached', kind, limit: 2, hint: { text: expect.any(String) } },
  ];
  const statusAndProblem = ({ status, json }: JsonResponse) => [status, json];

  it('keep one key from taking the webhooks of all, and tell whose they are', async () => {
    const service = await serve();
    const [one, two] = [await makeKey(service, ['webhooks']), await makeKey(service, ['webhooks'])];
    const made = await Promise.all([one, one, one].map((by) => by('POST', '/v1/webhooks', HOOK)));
    expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 409]);
    expect(statusAndProblem(await one('POST', '/v1/webhooks', HOOK))).toMatchObject(refusal('webhooks'));
    const other = await two('POST', '/v1/webhooks', HOOK);
    expect([other.status, other.json]).toMatchObject([201, { createdBy: two.id }]);
    const asRoot = await service.call('POST', '/v1/webhooks', HOOK);
    expect([asRoot.status, asRoot.json]).toMatchObject([201, { createdBy: 'root' }]);
    // The limit of all is another one.
    expect(statusAndProblem(await two('POST', '/v1/webhooks', HOOK))).toMatchObject([
      409,
      { type: 'urn:problem-type:rtc:webhook-limit-reached' },
    ]);
    const { webhooks } = (await one('GET', '/v1/webhooks')).json as {
      webhooks: { id: string; createdBy: string }[];
    };
    const own = webhooks.filter(({ createdBy }) => createdBy === one.id);
    expect(own).toHaveLength(2);
    await one('DELETE', `/v1/webhooks/${own[0]?.id}`);
    expect((await one('POST', '/v1/webhooks', HOOK)).status).toBe(201);
  });

  it('hold for vocabularies and blocks, which may always be replaced, and not for the root key', async () => {
    const service = await serve();
    const by = await makeKey(service, ['rooms']);
    const setTerms = (caller: By, room: string) => caller('PUT', `/v1/rooms/${room}/vocabulary`, TERMS);
    const block = (caller: By, identity: string) =>
      caller('DELETE', `/v1/rooms/demo/participants/${identity}?block=forever`);
    for (const room of ['a', 'b', 'a']) expect((await setTerms(by, room)).status).toBe(200);
    expect(statusAndProblem(await setTerms(by, 'c'))).toMatchObject(refusal('vocabularies'));
    expect((await setTerms(service.call, 'c')).status).toBe(200);
    // The media server is not there: it is asked after the block is stored.
    for (const identity of ['a', 'b', 'a']) expect((await block(by, identity)).status).toBe(503);
    expect(statusAndProblem(await block(by, 'c'))).toMatchObject(refusal('blocks'));
    expect((await block(service.call, 'c')).status).toBe(503);
    await by('DELETE', '/v1/rooms/demo/blocks/a');
    expect((await block(by, 'd')).status).toBe(503);
  });

  it('are shown to the key with what it has, and refusals are counted', async () => {
    const service = await serve();
    const by = await makeKey(service, ['webhooks', 'rooms']);
    await by('POST', '/v1/webhooks', HOOK);
    for (const room of ['a', 'b', 'c']) await by('PUT', `/v1/rooms/${room}/vocabulary`, TERMS);
    expect((await by('GET', '/v1/keys/self')).json).toMatchObject({
      limits: {
        webhooks: { used: 1, limit: 2 },
        vocabularies: { used: 2, limit: 2 },
        blocks: { used: 0, limit: 2 },
      },
    });
    expect((await service.call('GET', '/v1/keys/self')).json).not.toHaveProperty('limits');
    const metrics = await service.call('GET', '/metrics');
    expect(metrics.text).toContain('rtc_key_limit_refusals_total{kind="vocabularies"} 1');
    expect(metrics.text).toContain('rtc_key_limit_refusals_total{kind="webhooks"} 0');
  });
});
