import type { TranscriptionFault } from '../../../contract/transcription.ts';
import type { FileLocation } from '../../recordings/files/recording-files.ts';

/** The sound of recordings, whatever their container and codec are. */
export interface RecordingAudio {
  /**
   * Decodes the first audio track piece by piece, in constant memory, as its reader takes it; times are those of
   * the file: gaps are silence. Rejects with a SpeechFault for a file that is missing, empty, no media, without
   * audio, or (after all that can be read of it) damaged; with the ServiceErrors of RecordingFiles.
   */
  decode(location: FileLocation, signal: AbortSignal): AsyncIterable<AudioChunk>;
}

export type AudioChunk = {
  /** 16 kHz, mono, from -1 to 1. */
  readonly samples: Float32Array;
  /** How much of the file has been read, 0 to 1. */
  readonly share: number;
};

/** Why a recording cannot be transcribed; `retryable` when it may be later, without anything being changed. */
export class SpeechFault extends Error {
  override readonly name = 'SpeechFault';
  readonly code: TranscriptionFault;
  readonly retryable: boolean;

  constructor(
    code: TranscriptionFault,
    message: string,
    { retryable = false, cause }: { readonly retryable?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.retryable = retryable;
  }
}
