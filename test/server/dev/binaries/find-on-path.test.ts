import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findOnPath, programFile } from '../../../../src/server/dev/binaries/go-binary.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-path-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function install(name: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, '');
  await chmod(path, 0o755);
  return path;
}

describe('a program on PATH', () => {
  it('is searched in the folders that a colon separates, in order', async () => {
    const path = await install('second/redis-server');
    const searchPath = `${folder}/first:${folder}/second`;
    expect(await findOnPath(['redis-server'], searchPath, 'linux')).toEqual({ name: 'redis-server', path });
    const earlier = await install('first/redis-server');
    expect(await findOnPath(['redis-server'], searchPath, 'darwin')).toMatchObject({ path: earlier });
  });

  it('ends with .exe on Windows, in folders that a semicolon separates', async () => {
    await install('first/redis-server');
    const path = await install('second folder/redis-server.exe');
    const searchPath = `${folder}/first;${folder}/second folder`;
    expect(await findOnPath(['redis-server'], searchPath, 'win32')).toEqual({ name: 'redis-server', path });
    expect(await findOnPath(['redis-server'], `${folder}/first`, 'win32')).toBeUndefined();
  });

  it("has the file name of Go's build on Windows", () => {
    expect([programFile('livekit-server', 'win32'), programFile('livekit-server', 'darwin')]).toEqual([
      'livekit-server.exe',
      'livekit-server',
    ]);
  });
});
