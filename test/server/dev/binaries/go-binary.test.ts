import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  cachedProgramPath,
  defaultCacheDir,
  findCachedLivekitServer,
  findLivekitServer,
  type GoProgram,
  installGoProgram,
  livekitServerVersion,
} from '../../../../src/server/dev/binaries/go-binary.ts';
import { writeGoModule } from '../../../support/parts/go.ts';

const run = promisify(execFile);
const greeting = 'package main\n\nfunc main() { println("good morning") }\n';

let cacheDir: string;

beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'rtc-cache-'));
});

afterEach(() => rm(cacheDir, { recursive: true, force: true }));

describe('installGoProgram', () => {
  const makeProgram = (packagePath: string): GoProgram => ({
    name: 'greeter',
    packagePath,
    version: 'v1.0.0',
  });

  it('builds once, under our own name, also when two callers ask at the same time', async () => {
    const module = await writeGoModule(greeting);
    const program = makeProgram(module.packagePath);
    const lines: string[] = [];
    const onProgress = (line: string) => lines.push(line);
    // Either of the two may be the one that builds.
    const options = { cacheDir, env: module.env, moduleFolder: module.folder, onProgress };
    const paths = await Promise.all([installGoProgram(program, options), installGoProgram(program, options)]);
    const path = cachedProgramPath(program, cacheDir);
    expect(paths).toEqual([path, path]);
    expect((await run(path)).stderr).toBe('good morning\n');
    expect(await readdir(join(cacheDir, 'greeter', 'v1.0.0'))).toEqual(['greeter']);
    expect(lines.at(-1)).toMatch(/^greeter v1\.0\.0: \d+ modules downloaded, \d+ packages compiled$/);

    await module.close();
    expect(await installGoProgram(program, options)).toBe(path);
  });

  it("repeats the compiler's output when the build fails, and leaves no incomplete program", async () => {
    const module = await writeGoModule('package main\n\nfunc main() { undefinedName() }\n');
    const program = makeProgram(module.packagePath);
    const building = installGoProgram(program, { cacheDir, env: module.env, moduleFolder: module.folder });
    await expect(building).rejects.toThrow(/undefined: undefinedName/);
    expect(await readdir(join(cacheDir, 'greeter', 'v1.0.0'))).toEqual([]);
    await module.close();
  });

  it('reports a missing Go', async () => {
    const building = installGoProgram(makeProgram('example.test/hello'), {
      cacheDir,
      env: { PATH: cacheDir },
    });
    await expect(building).rejects.toThrow(/cannot run go install example\.test\/hello@v1\.0\.0/);
  });

  it('stops when its signal aborts', async () => {
    const module = await writeGoModule(greeting);
    const signal = AbortSignal.abort();
    const options = { cacheDir, env: module.env, moduleFolder: module.folder, signal };
    await expect(installGoProgram(makeProgram(module.packagePath), options)).rejects.toThrow(/abort/);
    await module.close();
  });
});

describe('findLivekitServer', () => {
  const writeProgram = async (folder: string, mode: number) => {
    await mkdir(folder, { recursive: true });
    const path = join(folder, 'livekit-server');
    await writeFile(path, '#!/bin/sh\n');
    await chmod(path, mode);
    return path;
  };

  it('prefers the program on PATH, then uses the pinned one of the cache', async () => {
    const pathFolder = join(cacheDir, 'bin');
    const search = { env: { PATH: `${join(cacheDir, 'absent')}:${pathFolder}` }, cacheDir };
    expect(await findLivekitServer(search)).toBeUndefined();

    const pinned = await writeProgram(join(cacheDir, 'livekit-server', livekitServerVersion), 0o755);
    expect(await findLivekitServer(search)).toBe(pinned);

    const own = await writeProgram(pathFolder, 0o755);
    expect(await findLivekitServer(search)).toBe(own);
    expect(await findCachedLivekitServer(cacheDir)).toBe(pinned);
  });

  it('ignores a file that may not be executed', async () => {
    const pathFolder = join(cacheDir, 'bin');
    await writeProgram(pathFolder, 0o644);
    expect(await findLivekitServer({ env: { PATH: pathFolder }, cacheDir })).toBeUndefined();
  });
});

describe('defaultCacheDir', () => {
  it.each([
    [{ XDG_CACHE_HOME: '/caches', HOME: '/home/ada' }, '/caches/rtc-service'],
    [{ XDG_CACHE_HOME: '', HOME: '/home/ada' }, '/home/ada/.cache/rtc-service'],
    [{ HOME: '/home/ada' }, '/home/ada/.cache/rtc-service'],
  ])('of %j is %s', (env, expected) => {
    expect(defaultCacheDir(env)).toBe(expected);
  });
});
