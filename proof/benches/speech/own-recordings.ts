import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { parseArgs } from 'node:util';
import { HintedError } from '../../../src/contract/hint.ts';
import { shellQuote } from '../../../src/contract/shell-quote.ts';
import { requireNativePackages } from '../../../src/server/app/native-packages.ts';
import { openSpeech } from '../../../src/server/app/open-speech.ts';
import { defaultCacheDir } from '../../../src/server/dev/binaries/go-binary.ts';
import { systemClock } from '../../../src/server/platform/clock.ts';
import { createLog } from '../../../src/server/platform/pino-log.ts';
import { createRecordingFiles } from '../../../src/server/recordings/files/create-recording-files.ts';
import { checkFfmpeg, createFfmpegAudio } from '../../../src/server/transcription/audio/ffmpeg-audio.ts';
import { tryModelInProcess } from '../../../src/server/transcription/engines/check-models.ts';
import { readSherpaModel } from '../../../src/server/transcription/engines/sherpa-model.ts';
import { SAMPLE_RATE, type VoicedSegment } from '../../../src/server/transcription/engines/speech.ts';
import { installedModels } from '../../../src/server/transcription/models/model-store.ts';
import { countWordErrors, type WordErrors } from '../../../test/support/word-error-rate.ts';

/*
 * Measures a speech model on recordings of your own: `node proof/benches/speech/own-recordings.ts MODEL --audio FOLDER --reference
 * FOLDER [--language it] [--ffmpeg PROGRAM]`. MODEL is an installed model, or the folder of one. Each audio file has a text
 * file of the same name: call.mp4 and call.txt. Words are compared without punctuation and capitals.
 */

/** Pauses end a segment sooner than in live transcription, as in the stt-post worker. */
const PAUSE_SECONDS = 0.3;

type ModelBench = {
  readonly language: string | undefined;
  readonly audioFolder: string;
  /** Has what is said in each audio file, as a text file of the same name with the ending .txt. */
  readonly referenceFolder: string;
  /** Path of ffmpeg, which reads the audio files. */
  readonly ffmpeg: string;
};

type BenchedFile = WordErrors & {
  readonly file: string;
  readonly audioSeconds: number;
  readonly processorSeconds: number;
};

/**
 * Transcribes recordings as a stt-post worker does, and compares them with what is said in them. Rejects with the cause and
 * what to do.
 */
export async function benchModel(
  model: string,
  { language: given, audioFolder, referenceFolder, ffmpeg: program }: ModelBench,
): Promise<readonly BenchedFile[]> {
  const cacheDir = defaultCacheDir(process.env);
  const { folder, language } = findModel(model, { cacheDir, given });
  requireNativePackages('stt-post');
  await checkFfmpeg(program);
  await tryModelInProcess(readSherpaModel(folder), language);
  const { engine, createDetector } = openSpeech(
    { engine: 'sherpa', models: { [language]: folder }, threads: 1 },
    cacheDir,
  );
  const recordings = createRecordingFiles({ clock: systemClock, storage: undefined, directory: audioFolder });
  const audio = createFfmpegAudio({
    ...{ files: recordings, clock: systemClock, log: createLog('fatal'), program },
  });
  const texts = new Set(readdirSync(referenceFolder));
  const files = readdirSync(audioFolder).filter((file) => !file.endsWith('.txt') && texts.has(toText(file)));
  if (files.length === 0) {
    throw new Error(
      `No file in ${audioFolder} has a reference in ${referenceFolder}. Use the same name for both: call.wav and call.txt.`,
    );
  }
  await engine.prepare(language);
  const benched: BenchedFile[] = [];
  for (const file of files.toSorted()) {
    const before = process.cpuUsage();
    const detector = createDetector(PAUSE_SECONDS, language);
    let [samples, heard] = [0, ''];
    const recognise = async (segments: readonly VoicedSegment[]): Promise<void> => {
      for (const segment of segments) {
        heard += ` ${(await engine.recognise({ samples: segment.samples, language })).text}`;
      }
    };
    const decoded = audio.decode({ filepath: file, bucket: null }, new AbortController().signal);
    for await (const chunk of decoded) {
      samples += chunk.samples.length;
      await recognise(detector.push(chunk.samples));
    }
    await recognise(detector.flush());
    detector.close();
    const { user, system } = process.cpuUsage(before);
    const said = await readFile(join(referenceFolder, toText(file)), 'utf8');
    const seconds = { audioSeconds: samples / SAMPLE_RATE, processorSeconds: (user + system) / 1e6 };
    benched.push({ file, ...countWordErrors(said, heard), ...seconds });
  }
  return benched;
}

const toText = (file: string): string => `${parse(file).name}.txt`;

type ModelSearch = { readonly cacheDir: string; readonly given: string | undefined };

function findModel(model: string, { cacheDir, given }: ModelSearch) {
  const installed = installedModels(cacheDir).find(({ name }) => name === model);
  const folder = installed?.folder ?? model;
  if (installed === undefined && !existsSync(folder)) {
    throw new HintedError(`${model} is not installed`, {
      text: 'install it',
      command: `rtc stt install ${shellQuote(model)}`,
    });
  }
  const known = installed?.languages ?? readSherpaModel(folder).languages ?? [];
  const language = given ?? (known.length === 1 ? known[0] : undefined);
  if (language === undefined) {
    throw new Error(
      'The model has several languages, or names none. Name the spoken one, such as --language it.',
    );
  }
  return { folder, language };
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      audio: { type: 'string' },
      reference: { type: 'string' },
      language: { type: 'string' },
      ffmpeg: { type: 'string', default: 'ffmpeg' },
    },
  });
  const [model] = positionals;
  const { audio, reference, language, ffmpeg } = values;
  if (model === undefined || audio === undefined || reference === undefined) {
    throw new Error('Name the model and both folders: MODEL --audio FOLDER --reference FOLDER');
  }
  const options = { language, ffmpeg, audioFolder: audio, referenceFolder: reference };
  const files = await benchModel(model, options);
  // Totals over all files, so that a short file does not count as much as a long one.
  const sum = (key: 'words' | 'errors' | 'audioSeconds' | 'processorSeconds'): number =>
    files.reduce((total, file) => total + file[key], 0);
  const all = { file: 'all', words: sum('words'), errors: sum('errors') };
  const seconds = { audioSeconds: sum('audioSeconds'), processorSeconds: sum('processorSeconds') };
  const percent = (part: number, whole: number): string => `${((100 * part) / (whole || 1)).toFixed(1)} %`;
  for (const { file, words, errors, audioSeconds, processorSeconds } of [...files, { ...all, ...seconds }]) {
    console.log(
      `${file}: ${audioSeconds.toFixed(0)} s, ${errors} of ${words} words wrong, ${percent(errors, words)}; ` +
        `${percent(processorSeconds, audioSeconds)} of one core while somebody speaks`,
    );
  }
}
