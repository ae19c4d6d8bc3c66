import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/server/app/config/config.ts';
import { checkDataFolder } from '../../../src/server/main.ts';
import { asNobody } from '../../support/as-nobody.ts';
import { mountMemory } from '../../support/mount-memory.ts';
import { startTestService } from '../../support/service.ts';

describe('checking DATA_DIR before a start', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rtc-check-'));
  });
  afterEach(async () => {
    await chmod(folder, 0o700);
    await rm(folder, { recursive: true });
  });

  const check = (environment: Readonly<Record<string, string>> = {}) =>
    checkDataFolder(loadConfig({ API_KEY: 'k', API_SECRET: 's', DATA_DIR: folder, ...environment }));

  it('accepts a new folder, and leaves it empty', async () => {
    await check();
    await check({ DATA_DIR: join(folder, 'of', 'tomorrow') });
    expect(await readdir(folder)).toEqual([]);
  });

  it('accepts the folder of a running service', async () => {
    const service = await startTestService({ environment: { DATA_DIR: folder } });
    const before = await readdir(folder);
    await check();
    expect(await readdir(folder)).toEqual(before);
    await service.close();
  });

  it('names a folder that cannot be written', async () => {
    await chmod(folder, 0o555);
    await asNobody(async () => {
      await expect(check()).rejects.toThrow(`${folder} cannot be written (EACCES)`);
      await expect(check({ DATA_DIR: join(folder, 'of', 'tomorrow') })).rejects.toThrow(
        `${folder} cannot be written (EACCES)`,
      );
    });
  });

  it('names a folder on a file system that is read-only', async (context) => {
    const disk = await mountMemory(context);
    try {
      await check({ DATA_DIR: disk.path });
      await disk.makeReadOnly();
      await expect(check({ DATA_DIR: disk.path })).rejects.toThrow(`${disk.path} cannot be written (EROFS)`);
    } finally {
      await disk.unmount();
    }
  });

  it('names a file in place of the folder', async () => {
    const path = join(folder, 'file');
    await writeFile(path, '');
    await expect(check({ DATA_DIR: path })).rejects.toThrow(`${path} cannot be written (ENOTDIR)`);
    await expect(check({ DATA_DIR: join(path, 'below') })).rejects.toThrow('ENOTDIR');
  });

  it('names a file that is no database, and a key file without a key', async () => {
    await writeFile(join(folder, 'encryption.key'), 'short');
    await expect(check()).rejects.toThrow('encryption.key does not contain a key');
    await writeFile(join(folder, 'rtc.sqlite'), 'Dear diary, '.repeat(1000));
    await expect(check()).rejects.toThrow('rtc.sqlite is not a SQLite database');
  });

  it('does not check the folder when nothing is stored in it', async () => {
    const locked = join(folder, 'locked');
    await mkdir(locked, { mode: 0o555 });
    const environment = {
      DATA_DIR: locked,
      DATABASE_URL: 'postgres://rtc@localhost/rtc',
      ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
    };
    await asNobody(async () => {
      await check(environment);
    });
  });
});
