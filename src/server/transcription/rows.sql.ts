import type { TranscriptionRow } from '../schema/tables.ts';
import type { Transcription } from './store.ts';

/** Rows of earlier versions do not have this option. */
const CAPTIONS_BY_DEFAULT: Partial<Transcription['options']> = { captions: true };

export function toTranscription(row: TranscriptionRow): Transcription {
  return {
    ...row,
    speakers: JSON.parse(row.speakers) as Transcription['speakers'],
    options: { ...CAPTIONS_BY_DEFAULT, ...(JSON.parse(row.options) as Transcription['options']) },
  };
}

export function toRow(transcription: Transcription): TranscriptionRow {
  const { speakers, options } = transcription;
  return { ...transcription, speakers: JSON.stringify(speakers), options: JSON.stringify(options) };
}
