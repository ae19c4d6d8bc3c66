import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { HintedError } from '../../../src/contract/hint.ts';
import { shellQuote } from '../../../src/contract/shell-quote.ts';
import { requireNativePackages } from '../../../src/server/app/native-packages.ts';
import { openSpeech } from '../../../src/server/app/open-speech.ts';
import { defaultCacheDir } from '../../../src/server/dev/binaries/go-binary.ts';
import { createLog } from '../../../src/server/platform/pino-log.ts';
import { systemClock } from '../../../src/server/platform/system.ts';
import { createRecordingFiles } from '../../../src/server/recordings/files/create-recording-files.ts';
import {
  checkFfmpeg,
  createFfmpegAudio,
  type RecordingAudio,
} from '../../../src/server/transcription/audio/ffmpeg-audio.ts';
import { tryModelInProcess } from '../../../src/server/transcription/engines/check-models.ts';
import { readSherpaModel } from '../../../src/server/transcription/engines/sherpa-model.ts';
import {
  SAMPLE_RATE,
  type SpeechEngine,
  type VoiceActivityDetector,
  type VoicedSegment,
} from '../../../src/server/transcription/engines/speech.ts';
import { installedModels } from '../../../src/server/transcription/models/model-store.ts';
import { countWordErrors, type WordErrors } from '../../../test/support/word-error-rate.ts';
import { processorSeconds } from '../../support/process-figures.ts';

export type ModelBench = {
  readonly language: string | undefined;
  readonly audioFolder: string;
  readonly referenceFolder: string;
  /** Path of ffmpeg, which reads the audio files. */
  readonly ffmpeg: string;
  readonly signal: AbortSignal;
  readonly onFile: (file: BenchedFile) => void;
};

/** Pauses end a segment sooner than in live transcription, as in the stt-post worker. */
const BENCH_PAUSE_SECONDS = 0.3;

/** Measures an installed model, or one in a folder, on recordings with known text. Rejects with the cause and what to do. */
export async function benchModel(nameOrFolder: string, options: ModelBench): Promise<readonly BenchedFile[]> {
  const { audioFolder, ffmpeg } = options;
  const cacheDir = defaultCacheDir(process.env);
  const installed = installedModels(cacheDir).find(({ name }) => name === nameOrFolder);
  const folder = installed?.folder ?? nameOrFolder;
  if (installed === undefined && !existsSync(folder)) {
    throw new HintedError(`${nameOrFolder} is not installed`, {
      text: 'install it',
      command: `rtc stt install ${shellQuote(nameOrFolder)}`,
    });
  }
  const known = installed?.languages ?? readSherpaModel(folder).languages ?? [];
  const language = options.language ?? (known.length === 1 ? known[0] : undefined);
  if (language === undefined) {
    throw new Error(
      'The model has several languages, or names none. Name the spoken one, such as --language it.',
    );
  }
  requireNativePackages('stt-post');
  await checkFfmpeg(ffmpeg);
  await tryModelInProcess(readSherpaModel(folder), language);
  const config = { engine: 'sherpa', models: { [language]: folder }, threads: 1 } as const;
  const speech = openSpeech(config, cacheDir);
  const files = createRecordingFiles({ clock: systemClock, storage: undefined, directory: audioFolder });
  const audio = createFfmpegAudio({ files, clock: systemClock, log: createLog('fatal'), program: ffmpeg });
  const createDetector = (spoken: string) => speech.createDetector(BENCH_PAUSE_SECONDS, spoken);
  const deps = { audio, engine: speech.engine, createDetector };
  return await benchFiles(deps, { ...options, language });
}

type BenchDeps = {
  /** Reads the files of `audioFolder` by their names. */
  readonly audio: RecordingAudio;
  readonly engine: SpeechEngine;
  readonly createDetector: (language: string) => VoiceActivityDetector;
};

type BenchRequest = {
  readonly language: string;
  readonly audioFolder: string;
  /** Has what is said in each audio file, as a text file of the same name with the ending .txt. */
  readonly referenceFolder: string;
  readonly signal: AbortSignal;
  readonly onFile: (file: BenchedFile) => void;
};

export type BenchedFile = WordErrors & {
  readonly file: string;
  readonly audioSeconds: number;
  readonly processorSeconds: number;
  readonly text: string;
};

/**
 * Transcribes recordings as a stt-post worker does, and compares them with what is said in them. Throws when no audio
 * file has a reference.
 */
async function benchFiles(deps: BenchDeps, request: BenchRequest): Promise<readonly BenchedFile[]> {
  const pairs = findPairs(request);
  if (pairs.length === 0) {
    throw new Error(
      `No file in ${request.audioFolder} has a reference in ${request.referenceFolder}. Use the same name for both: call.wav and call.txt.`,
    );
  }
  await deps.engine.prepare(request.language);
  const benched: BenchedFile[] = [];
  for (const pair of pairs) {
    const one = await benchFile(deps, request, pair);
    request.onFile(one);
    benched.push(one);
  }
  return benched;
}

type Pair = { readonly file: string; readonly reference: string };

function findPairs({ audioFolder, referenceFolder }: BenchRequest): readonly Pair[] {
  const references = new Map(
    readdirSync(referenceFolder)
      .filter((name) => name.endsWith('.txt'))
      .map((name) => [parse(name).name, join(referenceFolder, name)]),
  );
  return readdirSync(audioFolder)
    .toSorted()
    .filter((file) => !file.endsWith('.txt'))
    .flatMap((file) => {
      const reference = references.get(parse(file).name);
      return reference === undefined ? [] : [{ file, reference }];
    });
}

async function benchFile(
  deps: BenchDeps,
  { language, signal }: BenchRequest,
  { file, reference }: Pair,
): Promise<BenchedFile> {
  const before = processorSeconds();
  const detector = deps.createDetector(language);
  const texts: string[] = [];
  const recognise = async (segments: readonly VoicedSegment[]): Promise<void> => {
    for (const { samples } of segments) {
      texts.push((await deps.engine.recognise({ samples, language })).text.trim());
    }
  };
  let samples = 0;
  try {
    for await (const chunk of deps.audio.decode({ filepath: file, bucket: null }, signal)) {
      samples += chunk.samples.length;
      await recognise(detector.push(chunk.samples));
    }
    await recognise(detector.flush());
  } finally {
    detector.close();
  }
  const text = texts.filter((one) => one !== '').join(' ');
  return {
    ...countWordErrors(await readFile(reference, 'utf8'), text),
    ...{ file, text, audioSeconds: samples / SAMPLE_RATE },
    processorSeconds: processorSeconds() - before,
  };
}
