import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'postject';
import { ROOT } from '../build/output.ts';

const run = promisify(execFile);

/**
 * The resource into which postject puts the program, and the marker by which Node finds it
 * (https://nodejs.org/api/single-executable-applications.html).
 */
const BLOB = 'NODE_SEA_BLOB';
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

export type SingleFileArch = 'x64' | 'arm64';

/** Makes `rtc` as one executable file for Linux from the staged package in `packageFolder`. Returns its path. */
export async function makeSingleFile(
  arch: SingleFileArch,
  { packageFolder, work }: { readonly packageFolder: string; readonly work: string },
): Promise<string> {
  const folder = join(work, `single-${arch}`);
  await mkdir(folder, { recursive: true });
  const blob = await makeBlob(packageFolder, folder);
  const program = join(folder, 'rtc');
  await copyFile(await nodeFor(arch, folder), program);
  await chmod(program, 0o755);
  await inject(program, BLOB, await readFile(blob), { sentinelFuse: FUSE });
  return program;
}

/** The blob has neither a snapshot nor compiled code. Therefore it is the same for every processor. */
async function makeBlob(packageFolder: string, folder: string): Promise<string> {
  const names = (await readdir(packageFolder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(packageFolder.length + 1))
    .filter((name) => !/^(README|dist\/(types|man|completions)\/)/.test(name))
    .toSorted();
  const hash = createHash('sha256');
  for (const name of names) hash.update(`${name}\0`).update(await readFile(join(packageFolder, name)));
  const manifest = join(folder, 'single.json');
  await writeFile(manifest, JSON.stringify({ id: hash.digest('hex').slice(0, 32), files: names }));
  const config = join(folder, 'sea.json');
  const output = join(folder, 'rtc.blob');
  const assets = Object.fromEntries(names.map((name) => [name, join(packageFolder, name)]));
  await writeFile(
    config,
    JSON.stringify({
      main: join(import.meta.dirname, 'single-main.cjs'),
      output,
      disableExperimentalSEAWarning: true,
      assets: { ...assets, 'single.json': manifest },
    }),
  );
  await run(process.execPath, ['--experimental-sea-config', config]);
  return output;
}

/** Returns the Node of this checkout, or that of another processor from the npm registry, in the same version. */
async function nodeFor(arch: SingleFileArch, folder: string): Promise<string> {
  if (arch === process.arch) return process.execPath;
  const manifest = createRequire(import.meta.url)(`${ROOT}package.json`) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  const name = `node-linux-${arch}`;
  const spec = `${name}@${manifest.optionalDependencies[name]}`;
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder, spec], {
    cwd: folder,
  });
  await run('tar', ['-xzf', join(folder, stdout.trim()), '-C', folder]);
  return join(folder, 'package', 'bin', 'node');
}
