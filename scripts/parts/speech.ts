import { defaultCacheDir } from '../../src/server/dev/binaries/go-binary.ts';
import { MOONSHINE_BYTES } from '../../src/server/transcription/models/catalogue.ts';
import {
  installModel,
  installPackage,
  MOONSHINE_WHEEL,
  type PackageRecipe,
} from '../../src/server/transcription/models/install-model.ts';
import { findSpeechRecordings, TEST_MODEL, testModel } from '../../test/support/parts/speech-model.ts';
import type { BuildOptions } from './go-toolchain.ts';

/** Recordings of people who read, from the package that contains the model. */
const recordings: PackageRecipe = {
  commands: MOONSHINE_WHEEL,
  downloadBytes: MOONSHINE_BYTES,
  files: {
    'moonshine_voice/assets/beckett.wav': 'e5a26b3d29e5b0bc8dbd72c11d16a3808a4ec0ac45b21f12a27d2a2fe5c5ae61',
    'moonshine_voice/assets/two_cities.wav':
      'f3348494d77cb74a02862f5e685ed09faf3e75832c5cc5c80703282c2cd8b52e',
  },
};

export function isSpeechInstalled(): boolean {
  const cacheDir = defaultCacheDir(process.env);
  return testModel(cacheDir) !== undefined && findSpeechRecordings(cacheDir) !== undefined;
}

/** Installs the model and its detector as a user does, with the recordings beside them. */
export async function installSpeech({ cacheDir, onProgress = () => {} }: BuildOptions): Promise<void> {
  await installModel(TEST_MODEL, { cacheDir, onProgress });
  await installPackage(recordings, { name: 'speech-recordings', folder: cacheDir, onProgress });
}
