import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { HintedError } from '../../../contract/hint.ts';
import { makeFolder } from '../../../folders/make-folder.ts';

/*
 * Installs files of registry packages. The registries' own clients (pip, npm) download one pinned version, and every
 * file must match its SHA-256. The folder is assembled under a temporary name and moved into place as a whole.
 */

export type PackageRecipe = {
  /** Commands that download the package into the folder and unpack it. `*.whl` stands for the one file of that ending. */
  readonly commands: readonly PackageCommand[];
  /** Size of the package, for the progress lines. */
  readonly downloadBytes: number;
  /** SHA-256 by path in the unpacked package. */
  readonly files: Readonly<Record<string, string>>;
  /** Creates further files from the ones in the folder. */
  readonly derive?: (folder: string) => Promise<void>;
};

export type PackageCommand = readonly [program: string, ...args: string[]];

export type PackageTarget = {
  /** Name of the folder that is created in `folder`. */
  readonly name: string;
  readonly folder: string;
  readonly onProgress: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
  /** Writes the recipe's files into the folder in place of its commands. Resolves to false when it does not have them. */
  readonly supply?: ((folder: string) => Promise<boolean>) | undefined;
};

/** Does nothing when the target exists. Rejects with the cause and what to do. */
export async function installPackage(
  recipe: PackageRecipe,
  { name, folder, onProgress, signal, supply }: PackageTarget,
): Promise<void> {
  await makeFolder(folder);
  if ((await readdir(folder)).includes(name)) {
    onProgress(`${name} is installed`);
    return;
  }
  const aside = await mkdtemp(join(folder, `.${name}-`));
  try {
    const unpacked = join(aside, 'package');
    await mkdir(unpacked);
    const watch = watchDownload(aside, { name, total: recipe.downloadBytes, onProgress });
    try {
      const isSupplied = (await supply?.(unpacked)) === true;
      for (const command of isSupplied ? [] : recipe.commands) await run(command, unpacked, signal);
    } finally {
      watch.close();
    }
    onProgress(`checking ${name}`);
    const files = join(aside, 'files');
    await mkdir(files);
    for (const [path, sha256] of Object.entries(recipe.files))
      await takeFile({ path: join(unpacked, path), sha256 }, files);
    await recipe.derive?.(files);
    await putInPlace(files, join(folder, name));
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  onProgress(`${name} is installed`);
}

const WATCH_MS = 1_000;

/** Reports one line at once, and one a second while bytes arrive. */
function watchDownload(
  folder: string,
  { name, total, onProgress }: Pick<PackageTarget, 'name' | 'onProgress'> & { readonly total: number },
): { readonly close: () => void } {
  const whole = `${(total / 1e6).toFixed(0)} MB`;
  let reported = 0;
  onProgress(`fetching ${name}, ${whole}`);
  const timer = setInterval(() => {
    void measureFolder(folder).then((bytes) => {
      // A folder larger than the package means that it is being unpacked.
      if (bytes <= reported || bytes > total) return;
      reported = bytes;
      onProgress(`fetching ${name}: ${(bytes / 1e6).toFixed(0)} of ${whole}`);
    });
  }, WATCH_MS);
  return { close: () => clearInterval(timer) };
}

/** Sums the sizes of files that may be renamed or removed at the same time. */
async function measureFolder(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = files.map(async (file) => {
    const found = await stat(join(folder, file)).catch(() => undefined);
    return found?.isFile() === true ? found.size : 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

type PackageFile = { readonly path: string; readonly sha256: string };

async function takeFile({ path, sha256 }: PackageFile, files: string): Promise<void> {
  const bytes = await readFile(path);
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== sha256)
    throw new Error(`${basename(path)} is not the expected file: its SHA-256 is ${found}.`);
  await writeFile(join(files, basename(path)), bytes);
}

/** When two installations run at once, the second keeps the files of the first, which are the same. */
async function putInPlace(files: string, target: string): Promise<void> {
  await rename(files, target).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
}

async function run([program, ...args]: PackageCommand, folder: string, signal?: AbortSignal): Promise<void> {
  const files = await readdir(folder);
  const real = args.map((arg) =>
    arg.startsWith('*.') ? (files.find((file) => file.endsWith(arg.slice(1))) ?? arg) : arg,
  );
  await new Promise<void>((resolve, reject) => {
    const child = spawn(program, real, {
      cwd: folder,
      // pip downloads to its temporary folder first. This one shows the progress and is removed afterwards.
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
      ...(signal === undefined ? {} : { signal }),
    });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = `${stderr}${chunk.toString()}`.slice(-500);
    });
    child.once('error', (cause) =>
      reject(new HintedError(`${program} cannot be run`, { text: 'install it, and try again' }, { cause })),
    );
    child.once('exit', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${program} failed (exit code ${code}): ${stderr.trim()}`));
    });
  });
}
