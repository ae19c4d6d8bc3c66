import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { Key } from '../../../../src/contract/keys.ts';
import type { SelfCheckList } from '../../../../src/contract/self-check.ts';
import { chooseKey } from '../../../../src/server/platform/secrets/key-rotation.ts';
import { createInstances } from '../../../support/instances.ts';
import { startTestService, type TestService } from '../../../support/service.ts';
import { SkippableClock } from '../../../support/skippable-clock.ts';
import { LOOPBACK_ALLOWED, register } from '../../webhooks/support/hooked-service.ts';
import { startReceiver } from '../../webhooks/support/receiver.ts';
import { postgresTestDatabase, sqliteTestDatabase } from '../storage/test-databases.ts';

const { closers, folder, database, close } = createInstances();
afterEach(close);

const newKey = () => randomBytes(32).toString('base64');
/** Shorter than an announcement counts, and as long as the pause between two. */
const BEAT_MS = 20_000;

/** Starts instances that share a database and a clock. */
async function stageFor(engine: string) {
  const clock = new SkippableClock();
  const dataDir = await folder();
  const shared = {
    ...LOOPBACK_ALLOWED,
    ...{ DATA_DIR: dataDir, RECORDING_DIR: await folder(), API_KEY: 'key', API_SECRET: 'of-all-0123456789' },
    ...(engine === 'SQLite' ? {} : { DATABASE_URL: await database() }),
  };
  const start = async (encryptionKey: string): Promise<TestService> => {
    const environment = { ...shared, ENCRYPTION_KEY: encryptionKey };
    const service = await startTestService({ clock, environment });
    closers.push(service.close);
    return service;
  };
  return { clock, start };
}

const makeKey = async (service: TestService): Promise<Key> =>
  (await service.call('POST', '/v1/keys', { body: { name: 'a program', scopes: ['read'] } })).json as Key;
const readStatus = async (service: TestService, { id, secret = '' }: Key): Promise<number> =>
  (await service.call('GET', '/v1/keys/self', { signing: { apiKey: id, apiSecret: secret } })).status;
const testWebhook = async (service: TestService, id: string) =>
  (await service.call('POST', `/v1/webhooks/${id}/test`)).json;
const checkKeys = async (service: TestService) => {
  const { checks } = (await service.call('POST', '/v1/self-check')).json as SelfCheckList;
  return checks.find(({ check }) => check === 'encryption keys');
};
const messages = (service: TestService) => service.logLines.map(({ message }) => message);
const ENCRYPTED = 'encrypted stored secrets with the current ENCRYPTION_KEY';

describe.each(['SQLite', 'PostgreSQL'])('ENCRYPTION_KEY with a new first key on %s', (engine) => {
  it('disturbs nothing while one of two instances has it', async () => {
    const { clock, start } = await stageFor(engine);
    const [before, after] = [newKey(), newKey()];
    const second = await start(before);
    const receiver = await startReceiver();
    closers.push(receiver.close);
    const webhook = await register(second, receiver.url);
    const key = await makeKey(second);
    const rotated = await start(`${after},${before}`);
    const check = { status: 'warning', detail: expect.stringContaining('1 of 2 instances') };
    for (let beats = 0; beats < 5; beats += 1) {
      clock.skip(BEAT_MS);
      await expect.poll(() => checkKeys(rotated)).toMatchObject(check);
    }
    expect(messages(rotated)).not.toContain(ENCRYPTED);
    const keyOfRotated = await makeKey(rotated);
    const webhookOfRotated = await register(rotated, receiver.url);
    for (const instance of [rotated, second]) {
      await expect.poll(() => readStatus(instance, keyOfRotated)).toBe(200);
      expect(await readStatus(instance, key)).toBe(200);
      for (const { id } of [webhook, webhookOfRotated]) {
        expect(await testWebhook(instance, id)).toMatchObject({ delivered: true });
      }
    }
  });

  it('encrypts the stored secrets a minute after both instances have it, so that the former one can go', async () => {
    const { clock, start } = await stageFor(engine);
    const [before, after] = [newKey(), newKey()];
    const rotated = await start(`${after},${before}`);
    const second = await start(before);
    // It sees that the other one has only the former key, and uses that.
    clock.skip(BEAT_MS);
    await expect.poll(() => checkKeys(rotated)).toMatchObject({ status: 'warning' });
    const receiver = await startReceiver();
    closers.push(receiver.close);
    const { id } = await register(rotated, receiver.url);
    const key = await makeKey(second);
    await second.stop();
    const last = await start(`${after},${before}`);
    expect(await checkKeys(rotated)).toMatchObject({
      status: 'note',
      detail: expect.stringContaining('2 stored secrets are encrypted with the first one within minutes'),
    });
    expect([...messages(rotated), ...messages(last)]).not.toContain(ENCRYPTED);
    await expect
      .poll(async () => {
        clock.skip(BEAT_MS);
        return (await checkKeys(last))?.detail;
      })
      .toContain('every stored secret is encrypted with the first one');
    for (const instance of [rotated, last]) await instance.stop();
    expect([...messages(rotated), ...messages(last)]).toContain(ENCRYPTED);
    const alone = await start(after);
    expect(await readStatus(alone, key)).toBe(200);
    expect(await testWebhook(alone, id)).toMatchObject({ delivered: true });
    expect(await checkKeys(alone)).toMatchObject({
      status: 'ok',
      detail: '1 instance has the key that encrypts',
    });
  });

  it('is given up when an instance goes back to the former one', async () => {
    const { clock, start } = await stageFor(engine);
    const [before, after] = [newKey(), newKey()];
    const rotated = await start(`${after},${before}`);
    const key = await makeKey(rotated);
    const former = await start(before);
    expect(await readStatus(former, key)).toBe(503);
    await expect
      .poll(async () => {
        clock.skip(BEAT_MS);
        return await readStatus(former, key);
      })
      .toBe(200);
    expect(await readStatus(rotated, key)).toBe(200);
  });
});

describe('a webhook whose secret this instance cannot decrypt', () => {
  it('is not tested: 503 tells why, and no delivery is stored', async () => {
    const { start } = await stageFor('SQLite');
    const receiver = await startReceiver();
    closers.push(receiver.close);
    const first = await start(newKey());
    const { id } = await register(first, receiver.url);
    await first.stop();
    const second = await start(newKey());
    const { status, json } = await second.call('POST', `/v1/webhooks/${id}/test`);
    expect([status, json]).toMatchObject([503, { type: 'urn:problem-type:rtc:secret-unavailable' }]);
    const list = await second.call('GET', `/v1/webhooks/${id}/deliveries`);
    expect(list.json).toMatchObject({ deliveries: [] });
    expect(await checkKeys(second)).toMatchObject({
      status: 'fault',
      detail: expect.stringContaining('webhooks: 1'),
    });
  });
});

describe('the choice of a key', () => {
  it.each([
    ['its own first key when it is alone', ['n', 'o'], [['n', 'o']], 'n', true, true],
    ['the former key while another has only that', ['n', 'o'], [['n', 'o'], ['o']], 'o', true, true],
    ['the new key when all have it', ['n', 'o'], [['n', 'o'], ['n']], 'n', true, true],
    [
      'its own order, without agreement, while others have another one',
      ['n', 'o'],
      [
        ['n', 'o'],
        ['o', 'n'],
      ],
      'n',
      true,
      false,
    ],
    ['its first key when no key is shared', ['n'], [['n'], ['o']], 'n', false, false],
  ] as const)('is %s', (_, own, all, keyId, isShared, isAgreed) => {
    const instances = all.map((keyIds) => ({ keyIds }));
    expect(chooseKey(own, instances)).toEqual({ keyId, isShared, isAgreed });
  });
});

describe.each([
  ['SQLite', sqliteTestDatabase],
  ['PostgreSQL', postgresTestDatabase],
])('announced instances on %s', (_, prepare) => {
  it('are listed while they are alive, and deleted afterwards', async () => {
    const testDatabase = await prepare();
    closers.push(() => testDatabase.close());
    const { instances } = await testDatabase.open();
    const one = { id: 'one', version: '1.0.0', keyIds: ['a', 'b'], aliveUntil: 1_000 };
    await instances.announce(one, 0);
    await instances.announce({ ...one, id: 'other', aliveUntil: 2_000 }, 0);
    await instances.announce({ ...one, aliveUntil: 1_500 }, 500);
    expect(await instances.listAlive(1_499)).toEqual([
      { ...one, aliveUntil: 1_500 },
      { ...one, id: 'other', aliveUntil: 2_000 },
    ]);
    expect((await instances.listAlive(1_500)).map(({ id }) => id)).toEqual(['other']);
    await instances.announce({ ...one, id: 'third', aliveUntil: 3_000 }, 1_500);
    expect((await instances.listAlive(0)).map(({ id }) => id)).toEqual(['other', 'third']);
    await instances.remove('third');
    expect((await instances.listAlive(0)).map(({ id }) => id)).toEqual(['other']);
    // Announced before the clock was set back.
    await instances.announce({ ...one, aliveUntil: -700_000 }, -800_000);
    expect((await instances.listAlive(-800_000)).map(({ id }) => id)).toEqual(['one']);
  });
});
