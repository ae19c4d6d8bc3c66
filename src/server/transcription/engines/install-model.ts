import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installPackage, type PackageCommand, type PackageRecipe } from './install-package.ts';
import { modelsFolder, VAD_MODEL } from './model-store.ts';
import { moonshineTokens } from './moonshine-tokens.ts';

export type InstallOptions = {
  readonly cacheDir: string;
  readonly onProgress: (line: string) => void;
  readonly signal?: AbortSignal;
};

type Recipe = PackageRecipe & {
  readonly languages: readonly string[];
  readonly licence: string;
  readonly about: string;
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

export const MOONSHINE_BYTES = 84_884_737;

const RECIPES: Readonly<Record<string, Recipe>> = {
  'moonshine-tiny-en': {
    languages: ['en'],
    licence: 'MIT',
    about: 'Moonshine tiny, English: small and fast',
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
    about: 'Silero voice activity detector, which every local model needs',
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

/** Lists the models that can be installed. The voice activity detector is installed along with any of them. */
export function installableModels(): readonly InstallableModel[] {
  return Object.entries(RECIPES)
    .filter(([name]) => name !== VAD_MODEL)
    .map(([name, { about, licence, languages, downloadBytes }]) => ({
      ...{ name, about, licence, languages, downloadBytes },
    }));
}

export type InstallableModel = Pick<Recipe, 'about' | 'licence' | 'languages' | 'downloadBytes'> & {
  readonly name: string;
};

/** Installs the model and the detector unless they are installed. Rejects with the cause and what to do. */
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
  if (recipe === undefined) return;
  const { languages, licence } = recipe;
  const derive = async (folder: string): Promise<void> => {
    await recipe.derive?.(folder);
    await writeFile(join(folder, 'model.json'), `${JSON.stringify({ languages, licence }, null, 2)}\n`);
  };
  await installPackage({ ...recipe, derive }, { name, folder: modelsFolder(cacheDir), onProgress, signal });
}
