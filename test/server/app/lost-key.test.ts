import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/server/app/config/config.ts';
import { startService } from '../../../src/server/app/service.ts';
import { requireKeyOfSecrets } from '../../../src/server/app/stored-key.ts';
import { systemClock, systemIds } from '../../../src/server/platform/clock.ts';
import { collectingLog, type LogLine } from '../../support/app.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import type { Registered } from '../webhooks/support/hooked-service.ts';

describe('a start without the key file', () => {
  let dataDir: string;
  let keyFile: string;

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'rtc-lost-key-'));
    keyFile = join(dataDir, 'encryption.key');
  });
  afterEach(async () => {
    await rm(dataDir, { recursive: true });
  });

  const config = (environment: Readonly<Record<string, string>> = {}) =>
    loadConfig({ API_KEY: 'k', API_SECRET: 's', PORT: '0', DATA_DIR: dataDir, ...environment });

  async function start(parts: { readonly isNewKeyAccepted?: boolean } = {}): Promise<readonly LogLine[]> {
    const lines: LogLine[] = [];
    const log = collectingLog(lines);
    const service = await startService(config(), { log, clock: systemClock, ids: systemIds, ...parts });
    await service.close();
    return lines;
  }

  /** Runs a service that stores something, then loses its key. */
  async function loseKeyAfter(store: (service: TestService) => Promise<{ status: number }>): Promise<Buffer> {
    const service = await startTestService({ environment: { DATA_DIR: dataDir } });
    try {
      expect((await store(service)).status).toBeLessThan(300);
    } finally {
      await service.close();
    }
    const key = await readFile(keyFile);
    await rm(keyFile);
    return key;
  }

  const createWebhook = (service: TestService) =>
    service.call('POST', '/v1/webhooks', { body: { url: 'https://example.org/hook' } });

  const SEALED: readonly (readonly [string, Parameters<typeof loseKeyAfter>[0]])[] = [
    ['the secret of a webhook', createWebhook],
    [
      'the secret of an API key',
      (service) => service.call('POST', '/v1/keys', { body: { name: 'program', scopes: ['read'] } }),
    ],
    [
      'the URL of a broadcast that runs',
      async () => {
        const database = new DatabaseSync(join(dataDir, 'rtc.sqlite'));
        database.exec(`insert into recordings (id, room, status, filepath, "createdAt", kind, outputs) values
          ('bc_1', 'demo', 'recording', '', 1, 'broadcast', '{"hls":null,"streams":[{"sealed":"a text"}]}'),
          ('bc_2', 'demo', 'finished', '', 1, 'broadcast', '{"hls":null,"streams":[{"sealed":null}]}')`);
        database.close();
        return { status: 200 };
      },
    ],
    [
      'the response to a request with an Idempotency-Key',
      async (service) => {
        const { json } = await service.call('POST', '/v1/webhooks', {
          body: { url: 'https://example.org/hook' },
          headers: { 'idempotency-key': 'once' },
        });
        return await service.call('DELETE', `/v1/webhooks/${(json as Registered).id}`);
      },
    ],
  ];

  it.each(SEALED)('is refused while the database holds %s, and changes nothing', async (_what, store) => {
    const key = await loseKeyAfter(store);
    const before = await readdir(dataDir);
    await expect(start()).rejects.toMatchObject({
      reason: `${keyFile} is missing, and the database holds secrets that are encrypted with it`,
      hint: { text: expect.stringContaining('--new-key') },
    });
    await expect(requireKeyOfSecrets(config())).rejects.toThrow(`${keyFile} is missing`);
    expect(await readdir(dataDir)).toEqual(before);
    await writeFile(keyFile, key, { mode: 0o600 });
    await start();
  });

  it('is refused while the database holds the speech of a recording', async () => {
    await start();
    const database = new DatabaseSync(join(dataDir, 'rtc.sqlite'));
    database.exec(
      `insert into "turnSounds" ("recordingId", "trackId", "startedAt", "part", "keyId", "sealed") values ('EG_1', 'TR_1', 1, 0, 'key', 'text')`,
    );
    database.close();
    await rm(keyFile);
    await expect(start()).rejects.toThrow(`${keyFile} is missing`);
  });

  it('is refused while the database holds a secret and the journal of a writer that was killed', async () => {
    await loseKeyAfter(createWebhook);
    await leaveJournal(join(dataDir, 'rtc.sqlite'));
    await expect(start()).rejects.toThrow(`${keyFile} is missing`);
  });

  it('goes on when the loss is accepted, says so, and needs no acceptance again', async () => {
    await loseKeyAfter(createWebhook);
    expect(await start({ isNewKeyAccepted: true })).toContainEqual({
      level: 'warn',
      fields: { path: keyFile },
      message: expect.stringContaining('a new one'),
    });
    const key = await readFile(keyFile);
    await start();
    await start({ isNewKeyAccepted: true });
    expect(await readFile(keyFile)).toEqual(key);
  });

  it('goes on when the database holds no secret', async () => {
    await start();
    await rm(keyFile);
    await start();
    expect(await readdir(dataDir)).toContain('encryption.key');
  });

  it('goes on with ENCRYPTION_KEY, which needs no file', async () => {
    const key = await loseKeyAfter(createWebhook);
    await requireKeyOfSecrets(config({ ENCRYPTION_KEY: key.toString().trim() }));
  });
});

/** Leaves the files as a writer leaves them that is killed between two statements of a transaction. */
async function leaveJournal(path: string): Promise<void> {
  const files = [path, `${path}-journal`];
  const database = new DatabaseSync(path);
  // Without `synchronous` SQLite completes the header of the journal at once.
  database.exec('pragma journal_mode = delete; pragma synchronous = off; begin; delete from webhooks');
  const killed = await Promise.all(files.map((file) => readFile(file)));
  database.close();
  await Promise.all(files.map((file, index) => writeFile(file, killed[index] ?? '')));
}
