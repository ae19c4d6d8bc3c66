import { createHash } from 'node:crypto';
import { access, cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultCacheDir, isExecutable } from '../../src/server/dev/binaries/go-binary.ts';
import type { BuildOptions } from './prepare-parts.ts';
import { type CommandOptions, runQuietly } from './run-command.ts';

/** A folder of third-party packages in the cache, whose versions files of this repository pin. */
type PinnedFolder = {
  /** Returns the folder's path, which is another one after any change of the pins. */
  readonly pathIn: (cacheDir: string) => Promise<string>;
  /** Installs the packages into an empty folder. */
  readonly fill: (folder: string) => Promise<void>;
};

/** Returns the path of the folder, whether it exists or not. */
function toPath({ pathIn }: PinnedFolder): Promise<string> {
  return pathIn(defaultCacheDir(process.env));
}

/** Returns the path of the folder; undefined if it does not exist. */
async function findPinned(pinned: PinnedFolder): Promise<string | undefined> {
  const folder = await toPath(pinned);
  return await access(folder).then(
    () => folder,
    () => undefined,
  );
}

/** Fills another folder and then renames it, so that the cache never has an incomplete install. */
async function installPinned({ pathIn, fill }: PinnedFolder, { cacheDir }: BuildOptions): Promise<void> {
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
}

/** Returns the path of a folder in `parent` that is named by the contents of the files. */
async function hashedPath(parent: string, pins: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const path of pins) hash.update(await readFile(path));
  return join(parent, hash.digest('hex').slice(0, 12));
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

const PYTHON_PINS = join(import.meta.dirname, '..', 'python-tools', 'requirements.txt');

/**
 * From the Python package index, for the extended tests: Kubernetes' own schemas of its resources with a validator of
 * manifests (Apache-2.0), and a grammar of PowerShell with its parser (MIT).
 */
const PYTHON_TOOLS: PinnedFolder = {
  pathIn: (cacheDir) => hashedPath(join(cacheDir, 'python-tools'), [PYTHON_PINS]),
  fill: (folder) => pipInstall(folder, PYTHON_PINS),
};

/** Returns the folder of the packages, for PYTHONPATH; undefined if it does not exist. */
export function findPythonTools(): Promise<string | undefined> {
  return findPinned(PYTHON_TOOLS);
}

export function installPythonTools(options: BuildOptions): Promise<void> {
  return installPinned(PYTHON_TOOLS, options);
}

const OPENAPI_PINS = join(import.meta.dirname, '..', 'openapi-tools');

const OPENAPI_REQUIREMENTS = join(OPENAPI_PINS, 'requirements.txt');

/**
 * Linters of OpenAPI documents and generators of clients, from the npm registry and the Python package index. Their
 * versions are pinned separately.
 */
const OPENAPI_TOOLS: PinnedFolder = {
  pathIn: (cacheDir) =>
    hashedPath(join(cacheDir, 'openapi-tools'), [
      join(OPENAPI_PINS, 'package-lock.json'),
      OPENAPI_REQUIREMENTS,
    ]),
  fill: async (folder) => {
    await npmInstall(folder, OPENAPI_PINS);
    await pipInstall(join(folder, 'python'), OPENAPI_REQUIREMENTS);
  },
};

/** Returns the folder with `node_modules` and `python`; undefined if it does not exist. */
export function findOpenApiTools(): Promise<string | undefined> {
  return findPinned(OPENAPI_TOOLS);
}

export function installOpenApiTools(options: BuildOptions): Promise<void> {
  return installPinned(OPENAPI_TOOLS, options);
}

const REQUIREMENTS = join(import.meta.dirname, '..', 'schemathesis', 'requirements.txt');

/** Schemathesis tests an API by its OpenAPI document. It comes from the Python package index. */
const SCHEMATHESIS: PinnedFolder = {
  pathIn: async (cacheDir) => {
    const [, version = ''] = (await readFile(REQUIREMENTS, 'utf8')).trim().split('==');
    return join(cacheDir, `schemathesis-${version}`);
  },
  fill: (folder) => pipInstall(folder, REQUIREMENTS),
};

/** Returns the folder of the Python packages; undefined if it does not exist. */
export function findSchemathesis(): Promise<string | undefined> {
  return findPinned(SCHEMATHESIS);
}

export function installSchemathesis(options: BuildOptions): Promise<void> {
  return installPinned(SCHEMATHESIS, options);
}

const RUNTIME_PINS = join(import.meta.dirname, '..', 'runtimes');

/**
 * Bun, Deno and older versions of Node, in which the libraries also run: 0.4 GB from the npm registry, with their own lock
 * file. They need no install scripts, because the programs are in the packages.
 */
const RUNTIMES: PinnedFolder = {
  pathIn: (cacheDir) => hashedPath(join(cacheDir, 'runtimes'), [join(RUNTIME_PINS, 'package-lock.json')]),
  fill: (folder) => npmInstall(folder, RUNTIME_PINS),
};

const PROGRAMS = {
  bun: '@oven/bun-linux-x64/bin/bun',
  deno: '@deno/linux-x64-glibc/deno',
  node18: 'node18/bin/node',
  node20: 'node20/bin/node',
};

export type Runtime = keyof typeof PROGRAMS;

export async function findRuntime(name: Runtime): Promise<string | undefined> {
  const path = join(await toPath(RUNTIMES), 'node_modules', PROGRAMS[name]);
  return (await isExecutable(path)) ? path : undefined;
}

export async function areRuntimesInstalled(): Promise<boolean> {
  for (const name of ['bun', 'deno', 'node18', 'node20'] as const) {
    if ((await findRuntime(name)) === undefined) return false;
  }
  return true;
}

export function installRuntimes(options: BuildOptions): Promise<void> {
  return installPinned(RUNTIMES, options);
}
