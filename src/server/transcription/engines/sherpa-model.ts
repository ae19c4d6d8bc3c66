import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { AUTO } from './speech.ts';

/*
 * Recognises the model in a folder as sherpa-onnx itself does: by `model_type` and other metadata in its ONNX files
 * (sherpa-onnx/csrc/offline-recognizer-impl.cc). Only the parts of a model (encoder, decoder, joiner) are distinguished by
 * their file names. Moonshine's files have no metadata, so their names decide.
 */

export type SherpaModel = {
  readonly kind: 'offline' | 'streaming';
  /** Family of the model for messages, such as Whisper. */
  readonly family: string;
  /** Configuration of the recogniser for a language, without the number of threads. */
  readonly modelConfig: (language: string) => Readonly<Record<string, unknown>>;
  /** Primary languages that the model names in its metadata; undefined when it does not name any. */
  readonly languages: readonly string[] | undefined;
  /** Whether the model detects the spoken language when it is configured for AUTO. */
  readonly detectsLanguage: boolean;
  /** Whether each language needs a recogniser of its own. */
  readonly isPerLanguage: boolean;
  /** Longer input fails inside the model. */
  readonly maxSeconds: number;
  /** Files that the model needs to prefer terms; undefined when it cannot. */
  readonly hotwords: HotwordFiles | undefined;
};

export type HotwordFiles = { readonly tokens: string; readonly bpeVocab: string };

export const ABOUT_FILE = 'model.json';

/** The content of the model.json of an installed model. */
type About = {
  readonly languages: readonly string[];
  /** False when no published SHA-256 proved its files. */
  readonly isVerified: boolean;
  /** Names of the published files; undefined when no list of them is published. */
  readonly files?: readonly string[];
};

/** Reads the model.json of a model. */
export function readAbout(file: string): About {
  const { languages = [], isVerified = true, files }: Partial<About> = JSON.parse(readFileSync(file, 'utf8'));
  return { languages, isVerified, ...(files === undefined ? {} : { files }) };
}

const SUPPORTED_FAMILIES =
  'Moonshine, Whisper, Canary, SenseVoice, NeMo transducers such as Parakeet, NeMo CTC, and transducers or CTC models of icefall (Zipformer, Conformer, LSTM)';

const DEFAULT_MAX_SECONDS = 25;

const MOONSHINE_MAX_SECONDS = 8;

const CANARY_LANGUAGES = ['de', 'en', 'es', 'fr'];

const SENSE_VOICE_LANGUAGES = ['en', 'ja', 'ko', 'yue', 'zh'];

/** Reads the model in a folder. Throws an error that names what is missing or unsupported. */
export function readSherpaModel(folder: string): SherpaModel {
  const files = listFiles(folder);
  const tokens = files.find((file) => /(^|-)tokens\.txt$/.test(file));
  const fail = (detail: string): never => {
    throw new Error(`${folder} ${detail}. Supported are ${SUPPORTED_FAMILIES}, each with tokens.txt.`);
  };
  if (tokens === undefined) return fail('has no tokens.txt');
  const parts = findParts(folder, files);
  const create = (model: FamilyModel): SherpaModel => ({
    ...DEFAULTS,
    ...model,
    hotwords: model.takesHotwords === true ? hotwordFiles(folder, { files, tokens }) : undefined,
    modelConfig: (language) => ({
      ...model.modelConfig(primaryLanguage(language)),
      tokens: join(folder, tokens),
    }),
  });
  const moonshine = findMoonshine(parts);
  if (moonshine !== undefined) return create(moonshine);
  const main = parts.encoder ?? parts.model;
  if (main === undefined) return fail('has no speech model');
  const metadata = readOnnxMetadata(main);
  const type = metadata.get('model_type');
  if (type === undefined) return fail(`has a model without model_type in its metadata`);
  const model = findFamily(type)?.({ parts, metadata });
  return model === undefined
    ? fail(`has a model of the unsupported type ${JSON.stringify(type)}`)
    : create(model);
}

/** The published files, if the installation knew them; otherwise all files of the folder. */
function listFiles(folder: string): readonly string[] {
  const files = readdirSync(folder);
  const published = files.includes(ABOUT_FILE) ? readAbout(join(folder, ABOUT_FILE)).files : undefined;
  return published === undefined ? files : files.filter((file) => published.includes(file));
}

type FamilyModel = Pick<SherpaModel, 'family' | 'modelConfig'> &
  Partial<SherpaModel> & { readonly takesHotwords?: boolean };

type ModelFiles = { readonly files: readonly string[]; readonly tokens: string };

/** The vocabulary of the model's byte pairs, with which terms are divided into tokens. */
function hotwordFiles(folder: string, { files, tokens }: ModelFiles): HotwordFiles | undefined {
  const bpeVocab = files.find((file) => file === 'bpe.vocab');
  return bpeVocab && { tokens: join(folder, tokens), bpeVocab: join(folder, bpeVocab) };
}

const DEFAULTS = {
  kind: 'offline',
  languages: undefined,
  detectsLanguage: false,
  isPerLanguage: false,
  maxSeconds: DEFAULT_MAX_SECONDS,
} as const satisfies Partial<SherpaModel>;

const PARTS = {
  mergedDecoder: /^decoder_model_merged\.ort$/,
  moonshineEncoder: /^encoder_model\.ort$/,
  preprocessor: /^preprocess(\.int8)?\.onnx$/,
  encode: /^encode(\.int8)?\.onnx$/,
  uncachedDecoder: /^uncached_decode(\.int8)?\.onnx$/,
  cachedDecoder: /^cached_decode(\.int8)?\.onnx$/,
  encoder: /encoder.*\.onnx$/,
  decoder: /decoder.*\.onnx$/,
  joiner: /joiner.*\.onnx$/,
  model: /^model.*\.onnx$/,
} as const satisfies Readonly<Record<string, RegExp>>;

type Parts = Readonly<Partial<Record<keyof typeof PARTS, string>>>;

/** Prefers quantised files, which run fastest on a processor. */
function findParts(folder: string, files: readonly string[]): Parts {
  const found = Object.entries(PARTS).flatMap(([part, pattern]) => {
    const candidates = files.filter((file) => pattern.test(file));
    const file = candidates.find((name) => name.includes('int8')) ?? candidates[0];
    return file === undefined ? [] : [[part, join(folder, file)] as const];
  });
  return Object.fromEntries(found);
}

function findMoonshine(parts: Parts): FamilyModel | undefined {
  const { moonshineEncoder, mergedDecoder, preprocessor, encode, uncachedDecoder, cachedDecoder } = parts;
  const family = { family: 'Moonshine', maxSeconds: MOONSHINE_MAX_SECONDS };
  if (moonshineEncoder !== undefined && mergedDecoder !== undefined) {
    return { ...family, modelConfig: () => ({ moonshine: { encoder: moonshineEncoder, mergedDecoder } }) };
  }
  if (preprocessor === undefined || encode === undefined) return undefined;
  if (uncachedDecoder === undefined || cachedDecoder === undefined) return undefined;
  const moonshine = { preprocessor, encoder: encode, uncachedDecoder, cachedDecoder };
  return { ...family, modelConfig: () => ({ moonshine }) };
}

type Found = { readonly parts: Parts; readonly metadata: ReadonlyMap<string, string> };

type Family = (found: Found) => FamilyModel | undefined;

function findFamily(type: string): Family | undefined {
  if (type.startsWith('whisper')) return whisper;
  return Object.hasOwn(FAMILIES, type) ? FAMILIES[type] : undefined;
}

const whisper: Family = ({ parts: { encoder, decoder }, metadata }) => {
  if (encoder === undefined || decoder === undefined) return undefined;
  const isMultilingual = metadata.get('is_multilingual') !== '0';
  const codes = metadata.get('all_language_codes')?.split(',');
  return {
    family: 'Whisper',
    languages: isMultilingual ? codes : ['en'],
    detectsLanguage: isMultilingual,
    isPerLanguage: isMultilingual,
    // Without a language the model detects it first.
    modelConfig: (language) => ({
      whisper: {
        encoder,
        decoder,
        task: 'transcribe',
        language: isMultilingual && language !== AUTO ? language : '',
      },
    }),
  };
};

const canary: Family = ({ parts: { encoder, decoder } }) => {
  if (encoder === undefined || decoder === undefined) return undefined;
  return {
    family: 'Canary',
    languages: CANARY_LANGUAGES,
    isPerLanguage: true,
    modelConfig: (language) => ({
      canary: { encoder, decoder, srcLang: language, tgtLang: language, usePnc: 1 },
    }),
  };
};

const senseVoice: Family = ({ parts: { model } }) => {
  if (model === undefined) return undefined;
  return {
    family: 'SenseVoice',
    languages: SENSE_VOICE_LANGUAGES,
    detectsLanguage: true,
    isPerLanguage: true,
    // The model's own word for it is `auto`.
    modelConfig: (language) => ({ senseVoice: { model, language, useInverseTextNormalization: 1 } }),
  };
};

const transducer: Family = ({ parts: { encoder, decoder, joiner }, metadata }) => {
  if (encoder === undefined || decoder === undefined || joiner === undefined) return undefined;
  const modelConfig = () => ({ transducer: { encoder, decoder, joiner } });
  if (isStreaming(metadata)) return { family: 'transducer', kind: 'streaming', modelConfig };
  return { family: 'transducer', modelConfig, takesHotwords: true };
};

const nemo: Family = ({ parts: { encoder, decoder, joiner, model }, metadata }) => {
  if (encoder !== undefined && decoder !== undefined && joiner !== undefined) {
    const isStreamingNemo = metadata.has('chunk_shift');
    const modelConfig = () => ({
      transducer: { encoder, decoder, joiner },
      ...(isStreamingNemo ? {} : { modelType: 'nemo_transducer' }),
    });
    return { family: 'NeMo transducer', kind: isStreamingNemo ? 'streaming' : 'offline', modelConfig };
  }
  return model === undefined
    ? undefined
    : { family: 'NeMo CTC', modelConfig: () => ({ nemoCtc: { model } }) };
};

const zipformerCtc: Family = ({ parts: { model }, metadata }) => {
  if (model === undefined) return undefined;
  if (!isStreaming(metadata))
    return { family: 'Zipformer CTC', modelConfig: () => ({ zipformerCtc: { model } }) };
  const modelConfig = () => ({ zipformer2Ctc: { model } });
  return { family: 'Zipformer CTC', kind: 'streaming', modelConfig };
};

const FAMILIES: Readonly<Record<string, Family>> = {
  EncDecMultiTaskModel: canary,
  sense_voice_ctc: senseVoice,
  conformer: transducer,
  lstm: transducer,
  zipformer: transducer,
  zipformer2: transducer,
  EncDecHybridRNNTCTCBPEModel: nemo,
  EncDecRNNTBPEModel: nemo,
  EncDecCTCModelBPE: nemo,
  EncDecCTCModel: nemo,
  zipformer2_ctc: zipformerCtc,
};

/** Streaming exports of icefall name the length of their chunks. */
function isStreaming(metadata: ReadonlyMap<string, string>): boolean {
  return metadata.has('decode_chunk_len');
}

function primaryLanguage(language: string): string {
  return language.toLowerCase().split('-')[0] ?? language;
}

/*
 * Reads the metadata of an ONNX file (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto): the key-value pairs in
 * field 14 of its ModelProto. The graph, which may have gigabytes, is skipped and never read.
 */

const METADATA_FIELD = 14;

/** Longer metadata entries, such as token tables, are skipped: the ones that we need are short. */
const MAX_ENTRY_BYTES = 1024 * 1024;

const MAX_VARINT_BYTES = 10;

/** How a field of protobuf is encoded: the last three bits of its tag. */
const WIRE = { varint: 0, bits64: 1, bytes: 2, bits32: 5 } as const;

/** Returns the metadata by key. Throws when the file is not ONNX or is cut off. */
export function readOnnxMetadata(path: string): ReadonlyMap<string, string> {
  const file = openSync(path, 'r');
  try {
    return readModel(new ProtobufFile(file));
  } catch (cause) {
    throw new Error(`${path} is not a complete ONNX file.`, { cause });
  } finally {
    closeSync(file);
  }
}

function readModel(file: ProtobufFile): ReadonlyMap<string, string> {
  const metadata = new Map<string, string>();
  let fields = 0;
  for (let tag = file.varintOrEnd(); tag !== undefined; tag = file.varintOrEnd()) {
    fields += 1;
    const [field, wireType] = [tag >>> 3, tag & 7];
    if (wireType === WIRE.varint) file.varint();
    else if (wireType === WIRE.bits64) file.skip(8);
    else if (wireType === WIRE.bits32) file.skip(4);
    else if (wireType === WIRE.bytes) {
      const length = file.varint();
      if (field !== METADATA_FIELD || length > MAX_ENTRY_BYTES) file.skip(length);
      else addEntry(metadata, file.read(length));
    } else throw new Error(`unknown wire type ${wireType}`);
  }
  if (fields === 0) throw new Error('the file is empty');
  return metadata;
}

/** Decodes a StringStringEntryProto: field 1 is the key, field 2 the value. */
function addEntry(metadata: Map<string, string>, entry: Buffer): void {
  const texts = ['', '', ''];
  for (let at = 0; at < entry.length; ) {
    const field = (entry[at] ?? 0) >>> 3;
    const [length, start] = varintAt(entry, at + 1);
    texts[field] = entry.toString('utf8', start, start + length);
    at = start + length;
  }
  metadata.set(texts[1] ?? '', texts[2] ?? '');
}

function varintAt(bytes: Buffer, start: number): readonly [value: number, end: number] {
  let value = 0;
  for (let index = 0; index < MAX_VARINT_BYTES; index += 1) {
    const byte = bytes[start + index];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return [value, start + index + 1];
  }
  throw new Error('a number is cut off');
}

class ProtobufFile {
  readonly #file: number;
  #position = 0;

  constructor(file: number) {
    this.#file = file;
  }

  varintOrEnd(): number | undefined {
    return this.#readUpTo(1).length === 0 ? undefined : this.varint();
  }

  varint(): number {
    const [value, length] = varintAt(this.#readUpTo(MAX_VARINT_BYTES), 0);
    this.#position += length;
    return value;
  }

  read(length: number): Buffer {
    const bytes = this.#readUpTo(length);
    if (bytes.length < length) throw new Error('a field is cut off');
    this.#position += length;
    return bytes;
  }

  /** Reads the last byte, so that a file that is cut off inside the field is noticed. */
  skip(length: number): void {
    if (length === 0) return;
    this.#position += length - 1;
    this.read(1);
  }

  #readUpTo(length: number): Buffer {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(this.#file, bytes, 0, length, this.#position));
  }
}
