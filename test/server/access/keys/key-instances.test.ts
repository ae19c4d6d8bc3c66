import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { Key } from '../../../../src/contract/keys.ts';
import { createInstances } from '../../../support/instances.ts';
import { startTestService, type TestService } from '../../../support/service.ts';
import { startNetwork } from '../../platform/storage/network.ts';

const { closers, start, folder, database, close } = createInstances();
afterEach(close);
const encryptionKey = () => randomBytes(32).toString('base64');

const make = async (service: TestService): Promise<Key> =>
  (await service.call('POST', '/v1/keys', { body: { name: 'a program', scopes: ['read'] } })).json as Key;
const readStatus = async (service: TestService, { id, secret = '' }: Key): Promise<number> =>
  (await service.call('GET', '/v1/keys/self', { signing: { apiKey: id, apiSecret: secret } })).status;

describe.each(['SQLite', 'PostgreSQL'])('an API key at two instances on %s', (engine) => {
  it('is accepted by both after one has created it, and refused by both after one has revoked it', async () => {
    const environment = {
      DATA_DIR: await folder(),
      API_KEY: 'key',
      API_SECRET: 'secret-of-both-0123456789',
      ENCRYPTION_KEY: encryptionKey(),
      ...(engine === 'SQLite' ? {} : { DATABASE_URL: await database() }),
    };
    const [one, two] = [await start(environment), await start(environment)];
    // The other instance does not know this key yet.
    const earlier = await make(one);
    await expect.poll(() => readStatus(two, earlier)).toBe(200);
    const key = await make(one);
    expect(await readStatus(one, key)).toBe(200);
    await expect.poll(() => readStatus(two, key)).toBe(200);
    await two.call('DELETE', `/v1/keys/${key.id}`);
    expect(await readStatus(two, key)).toBe(401);
    await expect.poll(() => readStatus(one, key)).toBe(401);
    expect(await readStatus(one, earlier)).toBe(200);
  });
});

describe('while the database does not respond', () => {
  it('the root key is accepted, and other keys get 503, known or not', async () => {
    const url = await database();
    const network = await startNetwork(new URL(url));
    closers.push(() => network.close());
    const service = await start({ DATABASE_URL: network.url(url), ENCRYPTION_KEY: encryptionKey() });
    const key = await make(service);
    await network.cut();
    const response = await service.call('GET', '/v1/keys/self', {
      signing: { apiKey: key.id, apiSecret: key.secret ?? '' },
    });
    expect([response.status, response.json]).toMatchObject([
      503,
      { type: 'urn:problem-type:rtc:storage-unavailable' },
    ]);
    expect(await readStatus(service, { ...key, id: 'key_unknown' })).toBe(503);
    expect(await readStatus(service, { ...key, id: 'no key of ours' })).toBe(401);
    expect((await service.call('GET', '/v1/keys/self')).status).toBe(200);
    await network.mend();
    await expect.poll(() => readStatus(service, key)).toBe(200);
  });
});

describe('a new ENCRYPTION_KEY', () => {
  it('without the old one causes its keys to be unavailable, and named in the log', async () => {
    const dataDir = await folder();
    const first = await startTestService({
      environment: { DATA_DIR: dataDir, ENCRYPTION_KEY: encryptionKey() },
    });
    const key = await make(first);
    await first.close();
    const second = await start({ DATA_DIR: dataDir, ENCRYPTION_KEY: encryptionKey() });
    expect(await readStatus(second, key)).toBe(503);
    await expect
      .poll(() => second.logLines.filter(({ level }) => level === 'error').map(({ fields }) => fields))
      .toContainEqual({ lost: { apiKeys: 1 }, ids: { apiKeys: [key.id] } });
  });
});
