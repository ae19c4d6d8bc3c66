import { createHash } from 'node:crypto';
import { access, cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultCacheDir, isExecutable } from '../../src/server/dev/binaries/go-binary.ts';
import type { Cached } from './go-toolchain.ts';
import { type CommandOptions, runQuietly } from './run-command.ts';

/** A folder of third-party packages in the cache, whose versions files of this repository pin. */
type PinnedFolder = {
  /** Returns the folder's path, which is another one after any change of the pins. */
  readonly pathIn: (cacheDir: string) => Promise<string>;
  /** Installs the packages into an empty folder. */
  readonly fill: (folder: string) => Promise<void>;
};

function pinned({ pathIn, fill }: PinnedFolder): Cached {
  return {
    find: async () => {
      const folder = await pathIn(defaultCacheDir(process.env));
      return await access(folder).then(
        () => folder,
        () => undefined,
      );
    },
    // Fills another folder and then renames it, so that the cache never has an incomplete install.
    install: async ({ cacheDir }) => {
      const folder = await pathIn(cacheDir);
      const aside = `${folder}-${process.pid}`;
      try {
        await mkdir(aside, { recursive: true });
        await fill(aside);
        await rm(folder, { recursive: true, force: true });
        await rename(aside, folder);
      } finally {
        await rm(aside, { recursive: true, force: true });
      }
    },
  };
}

/** Returns the path of a folder of the cache that is named by the contents of the files. */
function hashedPath(name: string, pins: readonly string[]): PinnedFolder['pathIn'] {
  return async (cacheDir) => {
    const hash = createHash('sha256');
    for (const path of pins) hash.update(await readFile(path));
    return join(cacheDir, name, hash.digest('hex').slice(0, 12));
  };
}

/** Installs the packages of a package-lock.json. Their install scripts are not run. Throws with npm's output. */
async function npmInstall(folder: string, pins: string): Promise<void> {
  for (const file of ['package.json', 'package-lock.json']) await cp(join(pins, file), join(folder, file));
  await run('npm', ['ci', '--ignore-scripts'], { cwd: folder });
}

/** Installs the packages of a requirements.txt, without building any. Throws with pip's output. */
async function pipInstall(folder: string, requirements: string): Promise<void> {
  const args = ['--quiet', '--only-binary', ':all:', '--target', folder, '--requirement', requirements];
  await run('python3', ['-m', 'pip', 'install', ...args]);
}

async function run(program: string, args: readonly string[], options: CommandOptions = {}): Promise<void> {
  const { status, output } = await runQuietly(program, args, options);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${output.trim()}`);
}

const findPins = (...names: readonly string[]): string => join(import.meta.dirname, '..', ...names);
const PYTHON = findPins('python-tools', 'requirements.txt');
const OPENAPI = findPins('openapi-tools');
const OPENAPI_PYTHON = findPins('openapi-tools', 'requirements.txt');
const SCHEMATHESIS = findPins('schemathesis', 'requirements.txt');
const RUNTIMES = findPins('runtimes');

/**
 * From the Python package index, for the extended tests: Kubernetes' own schemas of its resources with a validator of
 * manifests (Apache-2.0), and a grammar of PowerShell with its parser (MIT). The folder is for PYTHONPATH.
 */
export const pythonTools = pinned({
  pathIn: hashedPath('python-tools', [PYTHON]),
  fill: (folder) => pipInstall(folder, PYTHON),
});

/**
 * Linters of OpenAPI documents and generators of clients, from the npm registry and the Python package index. The folder has
 * `node_modules` and `python`.
 */
export const openApiTools = pinned({
  pathIn: hashedPath('openapi-tools', [join(OPENAPI, 'package-lock.json'), OPENAPI_PYTHON]),
  fill: async (folder) => {
    await npmInstall(folder, OPENAPI);
    await pipInstall(join(folder, 'python'), OPENAPI_PYTHON);
  },
});

/** Tests an API by its OpenAPI document. It comes from the Python package index. */
export const schemathesis = pinned({
  pathIn: async (cacheDir) => {
    const [, version = ''] = (await readFile(SCHEMATHESIS, 'utf8')).trim().split('==');
    return join(cacheDir, `schemathesis-${version}`);
  },
  fill: (folder) => pipInstall(folder, SCHEMATHESIS),
});

/**
 * Bun, Deno and older versions of Node, in which the libraries also run: 0.4 GB from the npm registry, with their own lock
 * file. They need no install scripts, because the programs are in the packages.
 */
export const runtimes = pinned({
  pathIn: hashedPath('runtimes', [join(RUNTIMES, 'package-lock.json')]),
  fill: (folder) => npmInstall(folder, RUNTIMES),
});

const PROGRAMS = {
  bun: '@oven/bun-linux-x64/bin/bun',
  deno: '@deno/linux-x64-glibc/deno',
  node18: 'node18/bin/node',
  node20: 'node20/bin/node',
};

export type Runtime = keyof typeof PROGRAMS;

export async function findRuntime(name: Runtime): Promise<string | undefined> {
  const path = join((await runtimes.find()) ?? '', 'node_modules', PROGRAMS[name]);
  return (await isExecutable(path)) ? path : undefined;
}
