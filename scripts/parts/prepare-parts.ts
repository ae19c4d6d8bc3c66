import { existsSync } from 'node:fs';
import { defaultCacheDir } from '../../src/server/dev/binaries/go-binary.ts';
import { type BuildOptions, goEnvironment } from './go-toolchain.ts';
import { runQuietly } from './run-command.ts';

/**
 * Prints which of the needed parts are missing, then installs and builds what it can.
 *
 * @param needed The parts that the selected tests run.
 * @param all Every part in building order. They include what a needed one runs with or is built with.
 * @returns The parts of `all` that are still missing and that a needed one requires.
 */
export async function prepareParts(needed: readonly Part[], all: readonly Part[]): Promise<readonly Part[]> {
  const absent = await absentParts(needed, all);
  if (absent.length === 0) return [];
  console.log(`Missing: ${absent.map((part) => part.name).join(', ')}`);
  await installFrom(absent);
  for (const part of absent) await buildWhenAbsent(part, all);
  return absentParts(needed, all);
}

/**
 * Returns the missing parts among the needed ones, those that they run with, and those that missing ones are built with.
 */
async function absentParts(needed: readonly Part[], all: readonly Part[]): Promise<readonly Part[]> {
  const absent = new Set<Part>();
  const look = async (part: Part): Promise<void> => {
    if (absent.has(part)) return;
    for (const other of named(part.runsWith, all)) await look(other);
    if (await part.isInstalled()) return;
    absent.add(part);
    for (const other of named(part.builtWith, all)) await look(other);
  };
  for (const part of needed) await look(part);
  return all.filter((part) => absent.has(part));
}

function named(names: readonly string[] | undefined, all: readonly Part[]): readonly Part[] {
  return all.filter((part) => names?.includes(part.name));
}

async function installFrom(absent: readonly Part[]): Promise<void> {
  const packages = absent.flatMap((part) => part.debianPackages ?? []);
  // On Debian or a descendant, as root, this script may install packages.
  const mayInstall = process.getuid?.() === 0 && existsSync('/etc/debian_version');
  if (packages.length === 0 || !mayInstall) return;
  console.log(`Installing with apt-get: ${packages.join(' ')}`);
  await installPackages(packages);
}

async function buildWhenAbsent(part: Part, all: readonly Part[]): Promise<void> {
  if (part.build === undefined || (await part.isInstalled())) return;
  const tools = named([...(part.runsWith ?? []), ...(part.builtWith ?? [])], all);
  for (const tool of tools) if (!(await tool.isInstalled())) return;
  const startedAt = performance.now();
  console.log(`Preparing ${part.name}, once`);
  try {
    const env = (await goEnvironment()) ?? process.env;
    await part.build({ cacheDir: defaultCacheDir(process.env), env, onProgress: createProgress() });
    console.log(`Prepared ${part.name} in ${Math.round((performance.now() - startedAt) / 1000)} s`);
  } catch (cause) {
    console.log(`Preparing ${part.name} failed: ${cause instanceof Error ? cause.message : cause}`);
  }
}

/** A third-party program that some tests run: a server or a tool. Also a program that is needed to build one. */
export interface Part {
  /** Its name in messages. */
  readonly name: string;
  /** The test modules that use it, as `file` or `file#export`, relative to the project. See needed-parts.ts. */
  readonly fixtures: readonly string[];
  /** Names of the parts that must be installed whenever it runs. */
  readonly runsWith?: readonly string[];
  /** Names of the parts that must be installed when it is built, and only then. */
  readonly builtWith?: readonly string[];
  /** Instructions for a system on which this script cannot install it. */
  readonly instructions: string;
  readonly isInstalled: () => Promise<boolean>;
  readonly debianPackages?: readonly string[];
  /** Builds it into the cache, if the system's packages do not have it. Throws if that fails. */
  readonly build?: (options: BuildOptions) => Promise<unknown>;
}

const lineEveryMs = 15_000;

/** Returns a function that prints a line from time to time. */
function createProgress(): (text: string) => void {
  let shownAt = performance.now();
  return (text) => {
    if (performance.now() - shownAt < lineEveryMs) return;
    shownAt = performance.now();
    console.log(`  ${text}`);
  };
}

/** Number of lines of a failed apt-get to print: the packages' own scripts print a lot before the error. */
const keptLines = 30;

/** Installs the packages with apt-get, without the recommended ones. If it fails, the terminal shows its last lines. */
async function installPackages(packages: readonly string[]): Promise<void> {
  if (await aptGet(['update'])) await aptGet(['install', '--yes', '--no-install-recommends', ...packages]);
}

async function aptGet(args: readonly string[]): Promise<boolean> {
  // Another apt-get (unattended upgrades) may hold the lock for a while.
  const waits = ['-o', 'DPkg::Lock::Timeout=120', '-o', 'Acquire::Retries=3'];
  const result = await runQuietly('apt-get', ['--quiet=2', '-o', 'Dpkg::Use-Pty=0', ...waits, ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (result.status !== 0) console.log(result.output.split('\n').slice(-keptLines).join('\n'));
  return result.status === 0;
}
