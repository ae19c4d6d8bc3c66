import { createHash } from 'node:crypto';
import {
  chmod,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkSqliteFile } from '../../../../src/server/platform/storage/sqlite/file.ts';
import { asNobody } from '../../../support/as-nobody.ts';
import { startClaimer } from './start-claimer.ts';
import { expectUnavailable, newRecording } from './store-records.ts';
import { open as openStore } from './test-databases.ts';

describe('opening a SQLite file', () => {
  let folder: string;
  let path: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rtc-store-'));
    path = join(folder, 'store.sqlite');
  });
  afterEach(() => rm(folder, { recursive: true }));

  const openPath = () => openStore({ sqlitePath: path });

  /** Makes a database with `count` recordings and closes it. */
  const make = async (count: number) => {
    const store = await openPath();
    await store.transaction(async ({ recordings }) => {
      for (let n = 0; n < count; n++)
        await recordings.claim(newRecording(`id ${n}`, { room: `room ${n}` }), 1000);
    });
    await store.close();
  };

  /** Opens the database, which fails. Checks that nothing in the folder has changed, and returns the message. */
  const catchRefusal = async () => {
    const before = await contents(folder);
    const { message } = await expectUnavailable(openPath(), { retryable: false });
    expect(await contents(folder)).toEqual(before);
    expect(message).toContain(path);
    return message;
  };

  it('creates the file and its folders only for this user', async () => {
    path = join(folder, 'new', 'data', 'store.sqlite');
    const store = await openPath();
    await store.recordings.claim(newRecording('one'), 1000);
    expect(await readMode(dirname(path))).toBe('700');
    for (const name of await readdir(dirname(path)))
      expect(await readMode(join(dirname(path), name))).toBe('600');
    await store.close();
    expect(await readdir(dirname(path))).toEqual(['store.sqlite']);
  });

  it('accepts an empty file, and its own file again', async () => {
    await writeFile(path, '');
    await make(3);
    const store = await openPath();
    expect(await store.recordings.list({ limit: 10 })).toHaveLength(3);
    await store.close();
  });

  it('uses a write-ahead log', async () => {
    await make(1);
    const database = new DatabaseSync(path);
    expect(database.prepare('pragma journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
    database.close();
  });

  it('rejects a file that is no database', async () => {
    await writeFile(path, 'Dear diary, '.repeat(1000));
    expect(await catchRefusal()).toContain('is not a SQLite database');
  });

  it('rejects a file that is shorter than the header of a database', async () => {
    await writeFile(path, 'SQLite');
    expect(await catchRefusal()).toContain('is not a SQLite database');
  });

  it('rejects a folder in place of the file', async () => {
    await mkdir(path);
    expect(await catchRefusal()).toContain('is not a file');
  });

  it("rejects another program's database", async () => {
    const database = new DatabaseSync(path);
    database.exec('create table cookies (name text)');
    database.close();
    expect(await catchRefusal()).toContain('another program');
  });

  it.each([
    ['the schema', 100, 3000],
    ['a page in the middle', 5 * 4096, 4096],
    ['the size in the header', 16, 2],
  ])('rejects a file with damage in %s and leaves it unchanged', async (_place, position, length) => {
    await make(200);
    const file = await open(path, 'r+');
    await file.write(Buffer.alloc(length, 0xa5), 0, length, position);
    await file.close();
    expect(await catchRefusal()).toMatch(/is damaged \(.+\); nothing was changed\. Restore it from a backup/);
  });

  it('rejects a file that was cut short', async () => {
    await make(200);
    await truncate(path, 6 * 4096);
    expect(await catchRefusal()).toContain('is damaged');
  });

  it('rejects the database of a newer version and names the unknown migrations', async () => {
    await make(1);
    addMigration(path);
    const message = await catchRefusal();
    expect(message).toContain('newer version');
    expect(message).toContain('"999-from-the-future"');
  });

  it('rejects a newer database whose last writer was killed', async () => {
    const claimer = await startClaimer(path, 'killed');
    addMigration(path);
    await claimer.kill();
    expect(await readdir(folder)).toContain('store.sqlite-wal');
    const before = await readFile(path);
    const { message } = await expectUnavailable(openPath(), { retryable: false });
    expect(message).toContain('newer version');
    expect(await readFile(path)).toEqual(before);
  });

  it('keeps everything that a killed writer had committed', async () => {
    const claimer = await startClaimer(path, 'killed');
    expect(await claimer.claim({ rooms: ['a', 'b'], endEach: false })).toEqual({
      got: ['a', 'b'],
      errors: [],
    });
    await claimer.kill();
    const store = await openPath();
    const rows = await store.recordings.list({ limit: 10 });
    expect(rows.map((row) => row.room)).toEqual(['b', 'a']);
    await store.close();
  });

  it('rejects a file that it may not write', async () => {
    await make(1);
    await chmod(folder, 0o777);
    await chmod(path, 0o444);
    expect(await asNobody(catchRefusal)).toMatch(/cannot be written \(EACCES\)/);
  });

  it('rejects a folder that it may not write', async () => {
    await make(1);
    await chmod(path, 0o666);
    await chmod(folder, 0o555);
    expect(await asNobody(catchRefusal)).toContain('its folder cannot be written');
    await chmod(folder, 0o700);
  });

  it('names the path when a part of it, which should be a folder, is a file', async () => {
    await writeFile(path, '');
    const below = join(path, 'data');
    const check = checkSqliteFile(join(below, 'store.sqlite'), []);
    expect((await expectUnavailable(check, { retryable: false })).message).toContain(
      `${below} cannot be looked up (ENOTDIR)`,
    );
  });

  it('rejects a folder that it may not create', async () => {
    await chmod(folder, 0o555);
    path = join(folder, 'new', 'store.sqlite');
    const { message } = await asNobody(() => expectUnavailable(openPath(), { retryable: false }));
    expect(message).toContain(`${join(folder, 'new')} cannot be created (EACCES)`);
    await chmod(folder, 0o700);
  });
});

function addMigration(path: string): void {
  const database = new DatabaseSync(path);
  database.exec(`insert into rtcMigrations values ('999-from-the-future', 1)`);
  database.close();
}

async function contents(folder: string): Promise<Record<string, string>> {
  const names = await readdir(folder);
  const entries = names.map(async (name) => {
    const path = join(folder, name);
    const { mtimeMs, mode } = await stat(path);
    const bytes = (await stat(path)).isFile() ? await readFile(path) : '';
    return [name, `${mode} ${mtimeMs} ${createHash('sha256').update(bytes).digest('hex')}`] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function readMode(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}
