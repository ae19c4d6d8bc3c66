import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../src/server/app/store.ts';
import { createSecretBox } from '../../../src/server/platform/secrets/encryption-keys.ts';
import { reencryptSecrets } from '../../../src/server/platform/secrets/key-rotation.ts';
import { readOutputs, writeOutputs } from '../../../src/server/recordings/broadcast-outputs.ts';
import { SEALED_BROADCAST_URLS } from '../../../src/server/recordings/broadcasts.ts';
import { SEALED_WEBHOOK_SECRETS } from '../../../src/server/webhooks/webhooks.ts';
import { collectingLog, type LogLine } from '../../support/app.ts';
import {
  postgresTestDatabase,
  sqliteTestDatabase,
  systemClock,
  type TestDatabase,
} from '../platform/storage/test-databases.ts';
import { newWebhook } from '../platform/storage/webhook-records.ts';

const [oldKey, newKey, lostKey] = [randomBytes(32), randomBytes(32), randomBytes(32)] as const;
const oldBox = createSecretBox([oldKey]);
const newBox = createSecretBox([newKey]);
const bothBox = createSecretBox([newKey, oldKey]);
const NEVER = new AbortController().signal;
const LATER = Date.now() + 3_600_000;

describe.each([
  ['SQLite', sqliteTestDatabase],
  ['PostgreSQL', postgresTestDatabase],
])('webhook secrets on %s, after ENCRYPTION_KEY got a new first key', (_engine, prepare) => {
  let testDatabase: TestDatabase;
  let store: Store;
  let lines: LogLine[];
  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
    lines = [];
  });
  afterEach(() => testDatabase.close());

  const reencrypt = (at: Store = store) =>
    reencryptSecrets(
      {
        ...{ store: at, secretBox: bothBox, clock: systemClock, log: collectingLog(lines) },
        sources: [SEALED_WEBHOOK_SECRETS],
      },
      NEVER,
    );
  const openedBy = async (box: typeof newBox, id: string) => {
    const { secret, previousSecret } = (await store.webhooks.find(id)) ?? expect.unreachable();
    return [box.open(secret, id), previousSecret === null ? null : box.open(previousSecret, id)];
  };

  it('are all encrypted with it, in several batches, so that the old key can be dropped', async () => {
    const ids = Array.from({ length: 101 }, (_, index) => `hook ${index}`);
    for (const id of ids) {
      const previousSecret = oldBox.seal(`the one before of ${id}`, id);
      await store.webhooks.insert(
        newWebhook(id, { secret: oldBox.seal(`of ${id}`, id), previousSecret, previousSecretUntil: LATER }),
      );
    }
    const before = await store.webhooks.find('hook 7');
    await reencrypt();
    for (const id of ids) expect(await openedBy(newBox, id)).toEqual([`of ${id}`, `the one before of ${id}`]);
    const after = await store.webhooks.find('hook 7');
    expect(after).toEqual({ ...before, secret: after?.secret, previousSecret: after?.previousSecret });
    expect(lines).toMatchObject([{ level: 'info', fields: { webhooks: 101 } }]);
    await reencrypt();
    expect(await store.webhooks.find('hook 7')).toEqual(after);
    expect(lines).toHaveLength(1);
  });

  it('lose an old secret whose overlap has ended, and only then', async () => {
    const sealedFor = (id: string) => ({
      secret: newBox.seal('the one', id),
      previousSecret: newBox.seal('the one before', id),
      previousSecretUntil: Date.now() - 1,
    });
    const over = newWebhook('over', sealedFor('over'));
    await store.webhooks.insert(over);
    await store.webhooks.insert(
      newWebhook('not yet', { ...sealedFor('not yet'), previousSecretUntil: LATER }),
    );
    await reencrypt();
    expect(await store.webhooks.find('over')).toMatchObject({
      secret: over.secret,
      previousSecret: null,
      previousSecretUntil: null,
    });
    expect(await openedBy(newBox, 'not yet')).toEqual(['the one', 'the one before']);
  });

  it('that no key decrypts are kept and counted', async () => {
    const secret = createSecretBox([lostKey]).seal('lost', 'lost');
    const previousSecret = oldBox.seal('the one before', 'lost');
    await store.webhooks.insert(newWebhook('lost', { secret, previousSecret, previousSecretUntil: LATER }));
    await store.webhooks.insert(newWebhook('kept', { secret: oldBox.seal('kept', 'kept') }));
    expect((await reencrypt()).lost).toEqual({ webhooks: 1 });
    expect(await store.webhooks.find('lost')).toMatchObject({ secret });
    expect(await openedBy(newBox, 'kept')).toEqual(['kept', null]);
    expect(lines).toMatchObject([{ level: 'info', fields: { webhooks: 2 } }]);
  });

  it('are encrypted once by instances that start together, and keep a rotation in the meantime', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `hook ${index}`);
    for (const id of ids)
      await store.webhooks.insert(newWebhook(id, { secret: oldBox.seal(`of ${id}`, id) }));
    const rotated = newBox.seal('rotated', 'hook 3');
    const rotating: Store = {
      ...store,
      transaction: async (work) => {
        await store.webhooks.update('hook 3', { secret: rotated, updatedAt: 1 });
        return await store.transaction(work);
      },
    };
    await Promise.all([reencrypt(rotating), reencrypt(await testDatabase.open()), reencrypt()]);
    for (const id of ids) {
      expect(await openedBy(newBox, id)).toEqual([id === 'hook 3' ? 'rotated' : `of ${id}`, null]);
    }
    const sum = lines.reduce((all, { fields }) => all + Number(fields.webhooks), 0);
    expect([59, 60]).toContain(sum);
  });
});

describe.each([
  ['SQLite', sqliteTestDatabase],
  ['PostgreSQL', postgresTestDatabase],
])('the URLs of broadcasts on %s, after ENCRYPTION_KEY got a new first key', (_engine, prepare) => {
  let testDatabase: TestDatabase;
  let store: Store;
  const lines: LogLine[] = [];
  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
    lines.length = 0;
  });
  afterEach(() => testDatabase.close());

  const start = async (number: number) => {
    const id = `bc_${number}`;
    const stream = { url: 'rtmp://example.org/live/***', fingerprint: `${number}`, state: 'active' } as const;
    const urls = [`rtmp://example.org/live/key-${number}`, `rtmp://example.org/live/other-${number}`];
    const streams = urls.map((url, index) => ({
      ...{ ...stream, id: `bu_${number}_${index}`, since: 1, error: null, retries: 0 },
      sealed: oldBox.seal(url, id),
    }));
    const outputs = writeOutputs({ hls: null, streams });
    const claim = {
      id,
      kind: 'broadcast',
      room: id,
      filepath: '',
      bucket: null,
      owner: 'o',
      claimUntil: 2,
    } as const;
    await store.recordings.claim({ ...claim, outputs }, number);
    return { id, urls };
  };
  const find = async (id: string) => (await store.recordings.find(id)) ?? expect.unreachable();
  const rotate = () =>
    reencryptSecrets(
      {
        ...{ store, secretBox: bothBox, clock: systemClock, log: collectingLog(lines) },
        sources: [SEALED_BROADCAST_URLS],
      },
      NEVER,
    );

  it('are all encrypted with it while they run, also those beyond the first page', async () => {
    const started = [];
    for (let number = 0; number < 230; number += 1) started.push(await start(number));
    expect((await rotate()).encrypted).toEqual({ broadcasts: 230 });
    for (const { id, urls } of started) {
      const { streams } = readOutputs(await find(id));
      expect(streams.map(({ sealed }) => newBox.open(sealed ?? '', id))).toEqual(urls);
    }
    expect((await rotate()).encrypted).toEqual({});
    const logged = JSON.stringify(lines);
    expect(logged).not.toContain('key-1');
  });

  it('are not put back when the broadcast ends at the same time', async () => {
    const { id } = await start(1);
    const [row] = await SEALED_BROADCAST_URLS.list(store, 0);
    const over = writeOutputs({ hls: null, streams: [] });
    await store.recordings.update(await find(id), { status: 'stopped', endedAt: 3, outputs: over });
    expect(await row?.replace(store, ['a', 'b'])).toBe(false);
    expect((await find(id)).outputs).toBe(over);
  });
});
