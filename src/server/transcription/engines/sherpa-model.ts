import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

/*
 * Which model is in a folder, told by the names of its files as sherpa-onnx's model packages have them
 * (https://k2-fsa.github.io/sherpa/onnx/pretrained_models/). Full-precision files go before quantised ones of the
 * same part only where there are no quantised ones: int8 is what runs fast on a processor.
 */

export type SherpaModel = {
  readonly kind: 'offline' | 'streaming';
  /** The recogniser's configuration but for threads. */
  readonly modelConfig: Readonly<Record<string, unknown>>;
  /** Longer input fails inside of the model. */
  readonly maxSeconds: number;
};

const DEFAULT_MAX_SECONDS = 25;

/** Throws with what was looked for when the folder holds no model that is known. */
export function readSherpaModel(folder: string): SherpaModel {
  const files = readdirSync(folder);
  const model =
    moonshine(folder, files) ??
    transducer(folder, files) ??
    whisper(folder, files) ??
    senseVoice(folder, files);
  if (model !== undefined) return model;
  throw new Error(
    `${folder} holds no speech model that is known: encoder_model.ort and decoder_model_merged.ort (Moonshine), encoder, decoder and joiner (transducer), encoder and decoder (Whisper), or model.onnx (SenseVoice), each with tokens.txt.`,
  );
}

type Finder = (folder: string, files: readonly string[]) => SherpaModel | undefined;

const moonshine: Finder = (folder, files) => {
  if (!files.includes('encoder_model.ort') || !files.includes('decoder_model_merged.ort')) return undefined;
  const encoder = join(folder, 'encoder_model.ort');
  const mergedDecoder = join(folder, 'decoder_model_merged.ort');
  // It fails on more than about 9 s.
  return offline(folder, files, { moonshine: { encoder, mergedDecoder } }, 8);
};

const transducer: Finder = (folder, files) => {
  const [encoder, decoder, joiner] = ['encoder', 'decoder', 'joiner'].map((part) =>
    find(folder, files, part),
  );
  if (encoder === undefined || decoder === undefined || joiner === undefined) return undefined;
  const parts = { encoder, decoder, joiner };
  // Streaming models name the size of their chunks; NeMo's are offline and of a type of their own.
  const name = basename(folder);
  if (/chunk|streaming/.test(`${name} ${basename(encoder)}`)) {
    const modelConfig = { transducer: parts, tokens: tokensOf(folder, files) };
    return { kind: 'streaming', modelConfig, maxSeconds: DEFAULT_MAX_SECONDS };
  }
  const isNemo = /nemo|parakeet/.test(name);
  return offline(folder, files, { transducer: parts, ...(isNemo ? { modelType: 'nemo_transducer' } : {}) });
};

const whisper: Finder = (folder, files) => {
  const [encoder, decoder] = ['encoder', 'decoder'].map((part) => find(folder, files, part));
  if (encoder === undefined || decoder === undefined) return undefined;
  return offline(folder, files, { whisper: { encoder, decoder, task: 'transcribe' } });
};

const senseVoice: Finder = (folder, files) => {
  const model = find(folder, files, 'model');
  return model === undefined
    ? undefined
    : offline(folder, files, { senseVoice: { model, useInverseTextNormalization: 1 } });
};

function offline(
  folder: string,
  files: readonly string[],
  parts: Readonly<Record<string, unknown>>,
  maxSeconds = DEFAULT_MAX_SECONDS,
): SherpaModel {
  return { kind: 'offline', modelConfig: { ...parts, tokens: tokensOf(folder, files) }, maxSeconds };
}

function tokensOf(folder: string, files: readonly string[]): string {
  const tokens = files.find((file) => /(^|-)tokens\.txt$/.test(file));
  if (tokens === undefined) throw new Error(`${folder} has no tokens.txt.`);
  return join(folder, tokens);
}

function find(folder: string, files: readonly string[], part: string): string | undefined {
  const candidates = files.filter((file) => file.includes(part) && file.endsWith('.onnx'));
  const file = candidates.find((name) => name.includes('int8')) ?? candidates[0];
  return file === undefined ? undefined : join(folder, file);
}
