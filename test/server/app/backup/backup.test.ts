import { createHash } from 'node:crypto';
import { appendFile, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBackup, restoreBackup } from '../../../../src/server/app/backup/backup.ts';
import { newRecording } from '../../platform/storage/store-records.ts';
import { open } from '../../platform/storage/test-databases.ts';

const NOW = Date.UTC(2026, 0, 31, 9, 30);

describe('a backup of a SQLite database', () => {
  let parent: string;
  let dataDir: string;
  let folder: string;

  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'rtc-backup-'));
    dataDir = join(parent, 'data');
    folder = join(parent, 'backup');
    await add('one');
    await writeFile(join(dataDir, 'encryption.key'), 'the key', { mode: 0o600 });
  });
  afterEach(() => rm(parent, { recursive: true }));

  const add = async (id: string) => {
    const store = await open({ sqlitePath: join(dataDir, 'rtc.sqlite') });
    await store.recordings.claim(newRecording(id, { room: `room of ${id}` }), 1000);
    await store.close();
  };
  const ids = async () => {
    const store = await open({ sqlitePath: join(dataDir, 'rtc.sqlite') });
    const recordings = await store.recordings.list({ limit: 10 });
    await store.close();
    return recordings.map(({ id }) => id);
  };
  const back = (changes: Partial<Parameters<typeof createBackup>[0]> = {}) =>
    createBackup({ dataDir, hasKeySetting: false, version: '1.2.3', now: NOW, ...changes }, folder);
  const restore = () => restoreBackup({ dataDir, now: NOW }, folder);
  const readMode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

  it('has the database, the key and a manifest, for the owner alone', async () => {
    const { sizeBytes, ...made } = await back();
    expect(made).toEqual({ folder, key: 'file' });
    expect((await readdir(folder)).sort()).toEqual(['backup.json', 'encryption.key', 'rtc.sqlite']);
    expect(sizeBytes).toBe((await stat(join(folder, 'rtc.sqlite'))).size);
    expect(await readMode(folder)).toBe('700');
    for (const name of await readdir(folder)) expect(await readMode(join(folder, name))).toBe('600');
    expect(await readdir(parent)).toEqual(['backup', 'data']);
    expect(JSON.parse(await readFile(join(folder, 'backup.json'), 'utf8'))).toMatchObject({
      format: 1,
      version: '1.2.3',
      createdAt: '2026-01-31T09:30:00.000Z',
    });
  });

  it('is restored, and existing files are kept under another name', async () => {
    await back();
    await add('two');
    await writeFile(join(dataDir, 'encryption.key'), 'another key');
    const { keptAside } = await restore();
    const suffix = '.before-restore-20260131T093000Z';
    expect(keptAside).toEqual([
      join(dataDir, `rtc.sqlite${suffix}`),
      join(dataDir, `encryption.key${suffix}`),
    ]);
    expect(await ids()).toEqual(['one']);
    expect(await readFile(join(dataDir, 'encryption.key'), 'utf8')).toBe('the key');
    expect(await readMode(join(dataDir, 'rtc.sqlite'))).toBe('600');
    expect(await readMode(join(dataDir, 'encryption.key'))).toBe('600');
    const store = await open({ sqlitePath: keptAside[0] ?? '' });
    expect(await store.recordings.list({ limit: 10 })).toHaveLength(2);
    await store.close();
  });

  it('is restored on a new machine', async () => {
    await back();
    dataDir = join(parent, 'new', 'machine');
    expect((await restore()).keptAside).toEqual([]);
    expect(await ids()).toEqual(['one']);
    expect((await readdir(dataDir)).sort()).toEqual(['encryption.key', 'rtc.sqlite']);
  });

  it('is restored in place of a damaged database', async () => {
    await back();
    await writeFile(join(dataDir, 'rtc.sqlite'), 'Dear diary, '.repeat(1000));
    expect((await restore()).keptAside).toEqual([
      `${join(dataDir, 'rtc.sqlite')}.before-restore-20260131T093000Z`,
    ]);
    expect(await ids()).toEqual(['one']);
  });

  it('is not restored while the database is in use, even by an idle process', async () => {
    await back();
    const store = await open({ sqlitePath: join(dataDir, 'rtc.sqlite') });
    await expect(restore()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('is in use. Stop the service and its workers first.'),
    });
    await store.recordings.claim(newRecording('two', { room: 'another' }), 1000);
    await store.close();
    expect(await ids()).toHaveLength(2);
    expect((await readdir(dataDir)).sort()).toEqual(['encryption.key', 'rtc.sqlite']);
  });

  it('has no key file when ENCRYPTION_KEY is set', async () => {
    expect(await back({ hasKeySetting: true })).toMatchObject({ key: 'setting' });
    expect(await readdir(folder)).not.toContain('encryption.key');
    await writeFile(join(dataDir, 'encryption.key'), 'unused');
    expect(await restore()).toMatchObject({ key: 'setting' });
    expect(await readFile(join(dataDir, 'encryption.key'), 'utf8')).toBe('unused');
  });

  it('is refused when the folder exists, when there is no database, and when the key is missing', async () => {
    await rm(join(dataDir, 'encryption.key'));
    await expect(back()).rejects.toThrow(`${join(dataDir, 'encryption.key')} is missing`);
    await expect(back({ dataDir: join(parent, 'nothing') })).rejects.toMatchObject({
      code: 'storage-unavailable',
      message: expect.stringContaining('There is no database'),
    });
    expect(await readdir(parent)).toEqual(['data']);
    await writeFile(folder, '');
    await expect(back()).rejects.toMatchObject({ code: 'conflict' });
  });

  it('is refused for a damaged database', async () => {
    const path = join(dataDir, 'rtc.sqlite');
    const bytes = await readFile(path);
    await writeFile(path, bytes.fill(0xa5, 5 * 4096, 6 * 4096));
    await expect(back()).rejects.toThrow('is damaged');
    expect(await readdir(parent)).toEqual(['data']);
  });

  it.each([
    [
      'trigger',
      'create trigger spy after insert on recordings begin delete from events; end',
      'the trigger "spy"',
    ],
    ['view', 'create view spied as select * from recordings', 'the view "spied"'],
    [
      'view without end',
      'drop table "rtcMigrations"; create view "rtcMigrations" as with recursive x(name) as (select 1 union all select name + 1 from x) select name from x',
      'the view "rtcMigrations"',
    ],
    ['table', 'create table more (a)', 'the table "more"'],
    ['lacks an index', 'drop index "recordingsEnded"', 'lacks the index "recordingsEnded"'],
    ['other table', 'alter table webhooks add column more text', 'the table "webhooks"'],
  ])(
    'is not restored with a foreign schema, though the manifest has its hash: %s',
    async (_, statement, named) => {
      await back();
      const file = join(folder, 'rtc.sqlite');
      const database = new DatabaseSync(file);
      database.exec(statement);
      database.close();
      const manifest = JSON.parse(await readFile(join(folder, 'backup.json'), 'utf8'));
      manifest.files['rtc.sqlite'] = createHash('sha256')
        .update(await readFile(file))
        .digest('hex');
      await writeFile(join(folder, 'backup.json'), JSON.stringify(manifest));
      await expect(restore()).rejects.toMatchObject({
        code: 'invalid-request',
        message: expect.stringContaining(named),
      });
      expect((await readdir(dataDir)).sort()).toEqual(['encryption.key', 'rtc.sqlite']);
    },
  );

  it.each(['rtc.sqlite', 'encryption.key'])(
    'is not restored when its %s was changed or is missing',
    async (name) => {
      await back();
      await appendFile(join(folder, name), ' ');
      await expect(restore()).rejects.toMatchObject({
        code: 'invalid-request',
        message: expect.stringContaining(`${name} is not the file that was backed up`),
      });
      await rm(join(folder, name));
      await expect(restore()).rejects.toThrow(`${name} is missing`);
      expect(await ids()).toEqual(['one']);
    },
  );

  it.each(['rtc.sqlite', 'backup.json'])('is not read from a device in the place of %s', async (name) => {
    await back();
    await rm(join(folder, name));
    await symlink('/dev/zero', join(folder, name));
    await expect(restore()).rejects.toMatchObject({ code: 'invalid-request' });
  });

  it('is not restored without its manifest, or with that of another program', async () => {
    await back();
    const manifest = join(folder, 'backup.json');
    for (const text of ['{"format":2}', 'null', '{', '{"format":1,"files":[]}']) {
      await writeFile(manifest, text);
      await expect(restore()).rejects.toThrow('is not that of a backup that this version can read');
    }
    await rm(manifest);
    await expect(restore()).rejects.toThrow('There is no backup');
  });

  it('is refused for the database of a newer version', async () => {
    const database = new DatabaseSync(join(dataDir, 'rtc.sqlite'));
    database.exec(`insert into rtcMigrations values ('999-from-the-future', 1)`);
    database.close();
    await expect(back()).rejects.toThrow('newer version');
  });
});
