import type { TranscriptionRow } from '../platform/storage/schema/tables.ts';
import type { Transcription } from './store.ts';

export function toTranscription(row: TranscriptionRow): Transcription {
  return {
    ...row,
    speakers: JSON.parse(row.speakers) as Transcription['speakers'],
    options: JSON.parse(row.options) as Transcription['options'],
  };
}

export function toRow(transcription: Transcription): TranscriptionRow {
  const { speakers, options } = transcription;
  return { ...transcription, speakers: JSON.stringify(speakers), options: JSON.stringify(options) };
}
