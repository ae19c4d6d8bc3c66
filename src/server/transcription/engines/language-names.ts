import { WHISPER_LANGUAGES } from '../models/whisper-languages.ts';

const NAMES = new Intl.DisplayNames('en', { type: 'language' });

/** The BCP 47 tag of a language that a speech server names: OpenAI's says `italian`, others say `it`. */
export function tagOfLanguageName(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined;
  const wanted = name.toLowerCase();
  return WHISPER_LANGUAGES.find((tag) => tag === wanted || NAMES.of(tag)?.toLowerCase() === wanted);
}
