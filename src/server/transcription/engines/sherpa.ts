import { createRequire } from 'node:module';

/*
 * Types of the parts of sherpa-onnx-node that we use. It is an optional peer dependency with native code that only
 * workers load, when they start.
 */

export type OfflineStream = {
  acceptWaveform(wave: { readonly samples: Float32Array; readonly sampleRate: number }): void;
};

export type OfflineRecognizer = {
  /** Hotwords are separated by `/`; a recogniser without modified_beam_search ignores them. */
  createStream(hotwords?: string): OfflineStream;
  decodeAsync(stream: OfflineStream): Promise<OfflineResult>;
};

export type OfflineResult = {
  readonly text: string;
  /** The configured or detected language, such as `it` or `<|it|>`; empty when the model has none. */
  readonly lang?: string;
  /** The log probability of each token; empty when the model gives none. */
  readonly ys_log_probs?: readonly number[];
} & TimedTokens;

/** Each token with the second in which it begins; without times when the model gives none. */
export type TimedTokens = {
  readonly tokens?: readonly string[];
  readonly timestamps?: readonly number[];
  /** Durations in seconds. Only TDT models return them. */
  readonly durations?: readonly number[];
};

export type OnlineStream = OfflineStream & { inputFinished(): void };

export type OnlineRecognizer = {
  createStream(): OnlineStream;
  isReady(stream: OnlineStream): boolean;
  decode(stream: OnlineStream): void;
  getResult(stream: OnlineStream): { readonly text: string } & TimedTokens;
};

export type Vad = {
  acceptWaveform(samples: Float32Array): void;
  isEmpty(): boolean;
  isDetected(): boolean;
  front(enableExternalBuffer: boolean): { readonly start: number; readonly samples: Float32Array };
  pop(): void;
  flush(): void;
  reset(): void;
};

export type Sherpa = {
  readonly OfflineRecognizer: { createAsync(config: object): Promise<OfflineRecognizer> };
  readonly OnlineRecognizer: new (config: object) => OnlineRecognizer;
  readonly Vad: new (config: object, bufferSeconds: number) => Vad;
};

const PACKAGE = 'sherpa-onnx-node';

/** Path of the package's main file. */
export function resolveSherpa(): string {
  return createRequire(import.meta.url).resolve(PACKAGE);
}

export function loadSherpa(): Sherpa {
  try {
    return createRequire(import.meta.url)(PACKAGE) as Sherpa;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The package sherpa-onnx-node cannot be loaded on this system: ${reason}`, { cause });
  }
}
