import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { modelsFolder, VAD_MODEL } from './model-store.ts';
import { moonshineTokens } from './moonshine-tokens.ts';

/*
 * Models come out of registry packages, fetched by the registries' own clients (pip, npm), pinned to one version, and
 * every file that is taken is held to its SHA-256. A model is put together aside and moved into place whole.
 */

export type InstallOptions = {
  readonly cacheDir: string;
  readonly onProgress: (line: string) => void;
  readonly signal?: AbortSignal;
};

type Recipe = {
  readonly languages: readonly string[];
  readonly licence: string;
  readonly about: string;
  /** Fetches the package into the folder and unpacks it there. */
  readonly commands: readonly (readonly [program: string, ...args: string[]])[];
  /** Path in the unpacked package to SHA-256. */
  readonly files: Readonly<Record<string, string>>;
  readonly derive?: (folder: string) => Promise<void>;
};

const RECIPES: Readonly<Record<string, Recipe>> = {
  'moonshine-tiny-en': {
    languages: ['en'],
    licence: 'MIT',
    about: 'Moonshine tiny, English: small and fast',
    commands: [
      // One platform's wheel on every platform: the weights in it are the same for all.
      [
        'python3',
        '-m',
        'pip',
        'download',
        '--quiet',
        '--disable-pip-version-check',
        '--no-deps',
        '--only-binary=:all:',
        '--platform',
        'manylinux_2_34_x86_64',
        '--dest',
        '.',
        'moonshine-voice==0.0.44',
      ],
      ['python3', '-m', 'zipfile', '-e', '*.whl', '.'],
    ],
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
    about: 'Silero voice activity detector, which every local model needs',
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

/** What can be installed, beside the detector that comes along. */
export function installableModels(): readonly {
  readonly name: string;
  readonly about: string;
  readonly licence: string;
}[] {
  return Object.entries(RECIPES)
    .filter(([name]) => name !== VAD_MODEL)
    .map(([name, { about, licence }]) => ({ name, about, licence }));
}

/** Installs the model and the detector; one that is there is left as it is. Rejects with what failed and what to do. */
export async function installModel(name: string, options: InstallOptions): Promise<string> {
  const recipe = Object.hasOwn(RECIPES, name) ? RECIPES[name] : undefined;
  if (recipe === undefined)
    throw new Error(
      `There is no model ${JSON.stringify(name)}; there are ${installableModels()
        .map((model) => model.name)
        .join(', ')}.`,
    );
  for (const each of new Set([VAD_MODEL, name])) await installOne(each, options);
  return join(modelsFolder(options.cacheDir), name);
}

async function installOne(name: string, { cacheDir, onProgress, signal }: InstallOptions): Promise<void> {
  const recipe = RECIPES[name];
  const folder = modelsFolder(cacheDir);
  if (recipe === undefined) return;
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).includes(name)) {
    onProgress(`${name} is installed`);
    return;
  }
  const aside = await mkdtemp(join(folder, `.${name}-`));
  try {
    onProgress(`fetching ${name}`);
    const unpacked = join(aside, 'package');
    await mkdir(unpacked);
    for (const command of recipe.commands) await run(command, unpacked, signal);
    onProgress(`checking ${name}`);
    const model = join(aside, 'model');
    await mkdir(model);
    for (const [path, sha256] of Object.entries(recipe.files)) await takeFile(unpacked, path, sha256, model);
    await recipe.derive?.(model);
    const { languages, licence } = recipe;
    await writeFile(join(model, 'model.json'), `${JSON.stringify({ languages, licence }, null, 2)}\n`);
    await putInPlace(model, join(folder, name));
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  onProgress(`${name} is installed`);
}

async function takeFile(unpacked: string, path: string, sha256: string, model: string): Promise<void> {
  const bytes = await readFile(join(unpacked, path));
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== sha256)
    throw new Error(`${path} is not the file that was expected: its SHA-256 is ${found}.`);
  await writeFile(join(model, path.split('/').at(-1) ?? path), bytes);
}

/** Two installations at once end with the same files: who is second finds the first one's. */
async function putInPlace(model: string, target: string): Promise<void> {
  await rename(model, target).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
}

/** `*.whl` and the like stand for the one file of that ending. */
async function run(
  [program, ...args]: readonly [string, ...string[]],
  folder: string,
  signal?: AbortSignal,
): Promise<void> {
  const files = await readdir(folder);
  const real = args.map((arg) =>
    arg.startsWith('*.') ? (files.find((file) => file.endsWith(arg.slice(1))) ?? arg) : arg,
  );
  await new Promise<void>((resolve, reject) => {
    const child = spawn(program, real, {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      ...(signal === undefined ? {} : { signal }),
    });
    let complaint = '';
    child.stderr.on('data', (chunk: Buffer) => {
      complaint = `${complaint}${chunk.toString()}`.slice(-500);
    });
    child.once('error', (cause) =>
      reject(new Error(`${program} cannot be run: install it, or try again.`, { cause })),
    );
    child.once('exit', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${program} failed (exit code ${code}): ${complaint.trim()}`));
    });
  });
}
