import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { developmentCredentials } from '../../../src/server/dev/credentials.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function project(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-dev-'));
  folders.push(folder);
  return folder;
}

describe('the credentials of development', () => {
  it('are made once, for their owner alone', async () => {
    const dataDir = join(await project(), '.rtc');
    const made = await developmentCredentials({}, dataDir);
    expect(made.areNew).toBe(true);
    expect((await stat(join(dataDir, 'credentials.json'))).mode & 0o777).toBe(0o600);
    expect(await developmentCredentials({}, dataDir)).toEqual({ ...made, areNew: false });
  });

  it('stay out of the history of the project that the default folder lies in', async () => {
    const dataDir = join(await project(), '.rtc');
    await developmentCredentials({}, dataDir);
    expect(await readFile(join(dataDir, '.gitignore'), 'utf8')).toBe('*\n');
  });

  it('leave what is ignored already as it is', async () => {
    const dataDir = join(await project(), '.rtc');
    await mkdir(dataDir);
    await writeFile(join(dataDir, '.gitignore'), 'mine\n');
    await developmentCredentials({}, dataDir);
    expect(await readFile(join(dataDir, '.gitignore'), 'utf8')).toBe('mine\n');
  });

  it('have nothing ignored in a folder that was chosen: it may be a project itself', async () => {
    const dataDir = await project();
    await developmentCredentials({}, dataDir);
    expect(await readdir(dataDir)).toEqual(['credentials.json']);
  });
});
