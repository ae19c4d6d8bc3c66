import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { createArchive, stagePackages } from '../../../scripts/pack/stage.ts';
import { ROOT } from '../../support/parts/built.ts';

export const runFile = promisify(execFile);

const ATTW = join(
  dirname(createRequire(import.meta.url).resolve('@arethetypeswrong/cli/package.json')),
  'dist/index.js',
);

/** One of the three packages, packed by `npm run pack` from the current build. */
export type PackedPackage = {
  readonly folder: string;
  readonly tarball: string;
  readonly unpackedBytes: number;
  /** A folder that belongs to this test file. */
  readonly directory: string;
  /** Unpacks it into the node_modules of a new folder. Returns that folder. */
  install(consumer: string, packages?: readonly string[]): Promise<string>;
  close(): Promise<void>;
};

export async function packPackage(name: 'rtc-service' | 'fiscal' | 'client'): Promise<PackedPackage> {
  const directory = await mkdtemp(join(tmpdir(), 'rtc-package-'));
  await stagePackages(directory);
  const folder = join(directory, name);
  const { path: tarball, unpackedBytes } = await createArchive(folder, directory);
  const packageName = name === 'rtc-service' ? name : `@rtc-service/${name}`;
  return {
    folder,
    tarball,
    unpackedBytes,
    directory,
    install: async (consumer, packages = []) => {
      const modules = join(directory, 'consumers', consumer, 'node_modules');
      const target = join(modules, packageName);
      await mkdir(target, { recursive: true });
      await runFile('tar', ['-xzf', tarball, '--strip-components=1', '-C', target]);
      for (const other of packages) await symlink(`${ROOT}node_modules/${other}`, join(modules, other));
      return dirname(modules);
    },
    close: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Returns the messages of publint. There should be none. */
export async function publintMessages({ folder }: PackedPackage): Promise<readonly unknown[]> {
  const { messages } = await publint({ pkgDir: folder, strict: true, pack: false });
  return messages;
}

/** Returns the report of arethetypeswrong, for ESM only: no supported Node needs the older ways to resolve a package. */
export async function typesReport({ tarball }: PackedPackage): Promise<string> {
  const args = [ATTW, tarball, '--profile', 'esm-only', '--no-color'];
  return (await runFile(process.execPath, args)).stdout;
}

/** Returns the paths in the archive, without its top-level folder. */
export async function listFiles({ tarball }: PackedPackage): Promise<readonly string[]> {
  const { stdout } = await runFile('tar', ['-tzf', tarball]);
  return stdout
    .trim()
    .split('\n')
    .map((path) => path.replace('package/', ''));
}
