import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join, parse } from 'node:path';
import { HintedError } from '../../../contract/hint.ts';
import { systemClock } from '../../platform/clock.ts';
import { makeFolder } from '../../platform/storage/make-folder.ts';
import { tryModelInProcess } from '../engines/check-models.ts';
import { readSherpaModel } from '../engines/sherpa-model.ts';
import { CATALOGUE, findModel, MOONSHINE_BYTES } from './catalogue.ts';
import { type ByteProgress, copyBeside } from './download-file.ts';
import { installArchive } from './install-archive.ts';
import { installedModels, modelsFolder, VAD_MODEL } from './model-store.ts';

type InstallOptions = {
  readonly cacheDir: string;
  readonly onProgress: (line: string) => void;
  readonly onBytes?: (progress: ByteProgress) => void;
  readonly signal?: AbortSignal;
  /** As in ArchiveInstallation. */
  readonly from?: string | undefined;
  readonly acceptUnverified?: boolean;
};

type Recipe = PackageRecipe & {
  readonly languages: readonly string[];
  readonly licence: string;
};

/** Every platform downloads the same platform's wheel, since the weights in it are the same for all. */
export const MOONSHINE_WHEEL: readonly PackageCommand[] = [
  [
    'python3',
    ...['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps'],
    ...['--only-binary=:all:', '--platform', 'manylinux_2_34_x86_64', '--dest', '.'],
    'moonshine-voice==0.0.44',
  ],
  ['python3', '-m', 'zipfile', '-e', '*.whl', '.'],
];

const RECIPES: Readonly<Record<string, Recipe>> = {
  'moonshine-tiny-en': {
    languages: ['en'],
    licence: 'MIT',
    commands: MOONSHINE_WHEEL,
    downloadBytes: MOONSHINE_BYTES,
    files: {
      'moonshine_voice/assets/tiny-en/encoder_model.ort':
        '94e90a4654fc45cdfedb77c4c08e1739f48862998e58fada384b25118134f221',
      'moonshine_voice/assets/tiny-en/decoder_model_merged.ort':
        'cf524c4862d36e9e5ab032eddc73637efd822d70e868ac575cf1a46e1e4708a0',
      'moonshine_voice/assets/tiny-en/tokenizer.bin':
        '6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d',
    },
    derive: async (folder) => {
      await writeFile(
        join(folder, 'tokens.txt'),
        moonshineTokens(await readFile(join(folder, 'tokenizer.bin'))),
      );
    },
  },
  [VAD_MODEL]: {
    languages: [],
    licence: 'MIT',
    downloadBytes: 5_471_324,
    commands: [
      ['npm', 'pack', '--silent', '@ricky0123/vad-web@0.0.31'],
      ['tar', '-xzf', '*.tgz'],
    ],
    files: {
      'package/dist/silero_vad_legacy.onnx':
        'a35ebf52fd3ce5f1469b2a36158dba761bc47b973ea3382b3186ca15b1f5af28',
    },
  },
};

/**
 * Installs a model of the catalogue and the detector, unless they are installed. Rejects with the cause and what to do.
 */
export async function installModel(name: string, options: InstallOptions): Promise<string> {
  const model = findModel(name);
  if (model === undefined) {
    const names = CATALOGUE.map((one) => one.name).join(', ');
    throw new Error(`There is no model ${JSON.stringify(name)}; there are ${names}.`);
  }
  const { cacheDir, from, onProgress, signal } = options;
  const folder = modelsFolder(cacheDir);
  await installDetector(options);
  const isInstalled = installedModels(cacheDir).some((one) => one.name === name);
  if (isInstalled) onProgress(`${name} is installed`);
  else if (model.isPackage === true && from === undefined) await installOne(name, options);
  else {
    const tryModel = (unpacked: string): Promise<void> => tryInstalledModel(unpacked, model.languages);
    const steps = { onStep: onProgress, onBytes: options.onBytes ?? (() => {}), tryModel };
    const { acceptUnverified = false } = options;
    await installArchive(model, {
      folder,
      from,
      acceptUnverified,
      clock: systemClock,
      ...steps,
      signal: signal ?? new AbortController().signal,
    });
  }
  return join(folder, name);
}

/** More than a detector has. */
const MOST_DETECTOR_BYTES = 64 * 1024 ** 2;

/** Networks without a registry need the detector too, so it may be at the source of the model. */
async function installDetector(options: InstallOptions): Promise<void> {
  const { from, onBytes = () => {}, signal = new AbortController().signal } = options;
  if (from === undefined) return await installOne(VAD_MODEL, options);
  const paths = Object.keys(RECIPES[VAD_MODEL]?.files ?? {});
  await installOne(VAD_MODEL, options, (folder) =>
    copyBeside({ from, paths, folder, mostBytes: MOST_DETECTOR_BYTES, clock: systemClock, signal, onBytes }),
  );
}

async function installOne(
  name: string,
  { cacheDir, onProgress, signal }: InstallOptions,
  supply?: (folder: string) => Promise<boolean>,
): Promise<void> {
  const recipe = RECIPES[name];
  if (recipe === undefined) return;
  const { languages, licence } = recipe;
  const derive = async (folder: string): Promise<void> => {
    await recipe.derive?.(folder);
    await writeFile(join(folder, 'model.json'), `${JSON.stringify({ languages, licence }, null, 2)}\n`);
  };
  await installPackage(
    { ...recipe, derive },
    { name, folder: modelsFolder(cacheDir), onProgress, signal, supply },
  );
}

/**
 * Converts Moonshine's tokenizer.bin to the tokens file of sherpa-onnx. The binary is a sequence of entries: a length
 * (one byte; from 128 on two bytes, second * 128 + first - 128), then the bytes of the token. A length of 0 is an
 * empty token. The tokens file has one line per token: the base64 of its bytes, a tab, its id.
 */
export function moonshineTokens(binary: Uint8Array): string {
  const lines: string[] = [];
  let position = 0;
  while (position < binary.length) {
    const first = binary[position] ?? 0;
    const isLong = first >= 128;
    const length = isLong ? (binary[position + 1] ?? 0) * 128 + first - 128 : first;
    const start = position + (isLong ? 2 : 1);
    position = start + length;
    if (position > binary.length) throw new Error('The tokenizer ends within a token: the file is damaged.');
    lines.push(`${Buffer.from(binary.subarray(start, position)).toString('base64')}\t${lines.length}`);
  }
  return `${lines.join('\n')}\n`;
}

/** The folder of spoken samples in the archives of sherpa-onnx. */
const SAMPLES = 'test_wavs';

/**
 * Tries the model in the folder on a spoken sample of its own, preferably one that is named after a language of the
 * model, such as it.wav. Without a sample it only has to load. Rejects when it gives no text.
 */
async function tryInstalledModel(folder: string, languages: readonly string[]): Promise<void> {
  const names = readdirNames(join(folder, SAMPLES)).filter((name) => name.endsWith('.wav'));
  const named = names.find((name) => languages.includes(parse(name).name));
  const [sample] = named === undefined ? names : [named];
  const language = named === undefined ? defaultLanguage(languages) : parse(named).name;
  const wave = sample === undefined ? undefined : join(folder, SAMPLES, sample);
  await tryModelInProcess(readSherpaModel(folder), language, wave);
}

/** Samples of multilingual models without a language in their name are English. */
function defaultLanguage(languages: readonly string[]): string {
  return languages.includes('en') ? 'en' : (languages[0] ?? 'en');
}

function readdirNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

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

type PackageCommand = readonly [program: string, ...args: string[]];

type PackageTarget = {
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

/** When two installations run at once, the second keeps the files of the first, because they are the same. */
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
