import { defaultCacheDir } from '../../src/server/dev/binaries/go-binary.ts';
import { canInstallPackages, installPackages } from './debian.ts';
import { goEnvironment } from './go-toolchain.ts';
import type { Part } from './part.ts';
import { progressLine } from './progress-line.ts';

/** An error with these words may disappear at the next attempt. A compile error will not. */
const passingFault = /dial tcp|i\/o timeout|connection reset|TLS handshake|unexpected EOF|50[234] /;

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
  if (packages.length === 0 || !(await canInstallPackages())) return;
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
    await buildTwiceAtMost(part);
    console.log(`Prepared ${part.name} in ${Math.round((performance.now() - startedAt) / 1000)} s`);
  } catch (cause) {
    console.log(`Preparing ${part.name} failed: ${cause instanceof Error ? cause.message : cause}`);
  }
}

async function buildTwiceAtMost(part: Part): Promise<void> {
  const env = (await goEnvironment()) ?? process.env;
  const line = progressLine();
  const options = { cacheDir: defaultCacheDir(process.env), env, onProgress: line.show };
  try {
    await part.build?.(options).catch((cause: unknown) => {
      if (!passingFault.test(String(cause))) throw cause;
      console.log(`Fetching failed; trying once more: ${String(cause).split('\n').at(-1)}`);
      return part.build?.(options);
    });
  } finally {
    line.end();
  }
}
