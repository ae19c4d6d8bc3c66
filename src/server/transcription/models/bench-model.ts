import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, parse } from 'node:path';
import type { RecordingAudio } from '../audio/recording-audio.ts';
import {
  SAMPLE_RATE,
  type SpeechEngine,
  type VoiceActivityDetector,
  type VoicedSegment,
} from '../engines/speech.ts';
import { countWordErrors, type WordErrors } from './word-errors.ts';

export type BenchDeps = {
  /** Reads the files of `audioFolder` by their names. */
  readonly audio: RecordingAudio;
  readonly engine: SpeechEngine;
  readonly createDetector: (language: string) => VoiceActivityDetector;
  /** Processor time of this process so far, in seconds. */
  readonly processorSeconds: () => number;
};

export type BenchRequest = {
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
export async function benchModel(deps: BenchDeps, request: BenchRequest): Promise<readonly BenchedFile[]> {
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
  const before = deps.processorSeconds();
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
    processorSeconds: deps.processorSeconds() - before,
  };
}
