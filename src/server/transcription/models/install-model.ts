import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { systemClock } from '../../platform/system.ts';
import { tryModelInProcess } from '../engines/check-models.ts';
import { readSherpaModel } from '../engines/sherpa-model.ts';
import { CATALOGUE, findModel, MOONSHINE_BYTES } from './catalogue.ts';
import { type ByteProgress, copyBeside } from './download-file.ts';
import { installArchive } from './install-archive.ts';
import { installPackage, type PackageCommand, type PackageRecipe } from './install-package.ts';
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
      ...{ folder, from, acceptUnverified, clock: systemClock },
      ...{ ...steps, signal: signal ?? new AbortController().signal },
    });
  }
  return join(folder, name);
}

/** Networks without a registry need the detector too, so it may be at the source of the model. */
async function installDetector(options: InstallOptions): Promise<void> {
  const { from, onBytes = () => {}, signal = new AbortController().signal } = options;
  if (from === undefined) return await installOne(VAD_MODEL, options);
  const paths = Object.keys(RECIPES[VAD_MODEL]?.files ?? {});
  await installOne(VAD_MODEL, options, (folder) =>
    copyBeside({ from, paths, folder, clock: systemClock, signal, onBytes }),
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
