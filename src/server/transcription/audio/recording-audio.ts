import type { TranscriptionFault } from '../../../contract/transcription.ts';
import type { FileLocation } from '../../recordings/files/recording-files.ts';

/** Decodes the audio of recordings, whatever their container and codec. */
export interface RecordingAudio {
  /**
   * Decodes the first audio track in chunks and in constant memory, at the pace of its reader. Gaps become silence, so
   * that sample times are times in the file. Rejects with a TranscriptionError for a file that is missing, empty, not
   * media, without audio, or damaged (after everything readable was decoded), and with the ServiceErrors of
   * RecordingFiles.
   */
  decode(file: RecordingFile, signal: AbortSignal): AsyncIterable<AudioChunk>;
}

export type RecordingFile = FileLocation & {
  /** Length of the recording as the recorder reported it. Null or undefined if it is not known. */
  readonly durationMs?: number | null;
};

export type AudioChunk = {
  /** 16 kHz, mono, from -1 to 1. */
  readonly samples: Float32Array;
  /** Share of the file that was read, 0 to 1. */
  readonly share: number;
};

/** Why a transcription failed. `retryable` means that a later attempt may succeed without any change. */
export class TranscriptionError extends Error {
  override readonly name = 'TranscriptionError';
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
