import type { TranscriptionWarning } from '../../contract/transcription.ts';
import { AUTO } from './engines/speech.ts';
import type { SpeechQuality, Transcription, TranscriptionStores } from './store.ts';

/** One doubtful segment may be a song or a machine. Speech in another language gives many. */
const MIN_DOUBTFUL = 2;
const MIN_SHARE = 0.1;

/** Returns the warnings about a transcription whose quality is doubtful. */
export async function warningsOf(
  store: Pick<TranscriptionStores, 'transcriptions'>,
  { id, language }: Transcription,
): Promise<{ readonly warnings?: TranscriptionWarning[] }> {
  const qualities = await store.transcriptions.listQualities(id);
  const warnings = qualities.filter(isDoubtful).map(({ identity }) => doubtful(identity, language));
  return warnings.length === 0 ? {} : { warnings };
}

function isDoubtful({ segments, doubtful }: SpeechQuality): boolean {
  return doubtful >= MIN_DOUBTFUL && doubtful >= segments * MIN_SHARE;
}

function doubtful(participantIdentity: string | null, language: string): TranscriptionWarning {
  const said = participantIdentity === null ? 'what was said' : `what ${participantIdentity} said`;
  return {
    code: 'language-doubtful',
    participantIdentity,
    detail: `Much of ${said} has a text that nobody can have said: it is probably not ${languageName(language)}.`,
  };
}

function languageName(language: string): string {
  return language === AUTO ? 'in a language that the model knows' : language;
}
