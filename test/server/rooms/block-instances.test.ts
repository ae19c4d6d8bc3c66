import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { createInstances } from '../../support/instances.ts';
import type { TestService } from '../../support/service.ts';
import { startNetwork } from '../platform/storage/network.ts';

const ENCRYPTION_KEY = randomBytes(32).toString('base64');

const { closers, start, folder, database, close } = createInstances();
afterEach(close);

const tokenStatus = async (service: TestService, userId: string): Promise<number> =>
  (
    await service.call('POST', '/v1/token', {
      body: { roomId: 'demo', userId, name: userId, role: 'viewer' },
    })
  ).status;
/** The block is stored, though no media server exists from which somebody could be removed. */
const block = (service: TestService, identity: string) =>
  service.call('DELETE', `/v1/rooms/demo/participants/${identity}?block=forever`);

describe.each(['SQLite', 'PostgreSQL'])('a block at two instances on %s', (engine) => {
  it('refuses tokens on both after one has created it, and on neither after one has lifted it', async () => {
    const environment = {
      DATA_DIR: await folder(),
      API_KEY: 'key',
      API_SECRET: 'secret-of-both-0123456789',
      ENCRYPTION_KEY,
      ...(engine === 'SQLite' ? {} : { DATABASE_URL: await database() }),
    };
    const [one, two] = [await start(environment), await start(environment)];
    expect(await tokenStatus(one, 'ada')).toBe(200);
    expect(await tokenStatus(two, 'ada')).toBe(200);
    await block(one, 'ada');
    expect(await tokenStatus(one, 'ada')).toBe(403);
    await expect.poll(() => tokenStatus(two, 'ada')).toBe(403);
    expect((await two.call('DELETE', '/v1/rooms/demo/blocks/ada')).status).toBe(204);
    expect(await tokenStatus(two, 'ada')).toBe(200);
    await expect.poll(() => tokenStatus(one, 'ada')).toBe(200);
  });
});

describe('while the database does not respond', () => {
  it('tokens are issued by the blocks that were read last, and refused when none were read', async () => {
    const url = await database();
    const network = await startNetwork(new URL(url));
    closers.push(() => network.close());
    const service = await start({ DATABASE_URL: network.url(url), ENCRYPTION_KEY });
    await block(service, 'ada');
    expect(await tokenStatus(service, 'ada')).toBe(403);
    await network.cut();
    expect(await tokenStatus(service, 'ada')).toBe(403);
    expect(await tokenStatus(service, 'bruno')).toBe(200);
    await network.mend();
    await expect
      .poll(async () => (await service.call('DELETE', '/v1/rooms/demo/blocks/ada')).status)
      .toBe(204);
    expect(await tokenStatus(service, 'ada')).toBe(200);
    await network.cut();
    // This process has lifted a block, and has read the blocks since then.
    expect(await tokenStatus(service, 'ada')).toBe(200);
  });
});
