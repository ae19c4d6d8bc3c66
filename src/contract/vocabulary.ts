import { type Static, Type } from 'typebox';
import { closed } from './schema.ts';

export const MAX_TERMS = 200;
export const MAX_TERM_LENGTH = 80;

/** A list of terms. */
export function termsSchema(description: string) {
  return Type.Array(
    Type.String({
      minLength: 1,
      maxLength: MAX_TERM_LENGTH,
      format: 'term',
      description: `At most ${MAX_TERM_LENGTH} characters, with a letter or digit, without control characters`,
      examples: ['Codice fiscale'],
    }),
    { maxItems: MAX_TERMS, description },
  );
}

export const VocabularySchema = closed('Vocabulary', 'Names and terms that are likely to be said in a room', {
  terms: termsSchema(
    'Names and terms. The first ones count most, since a speech server takes some hundred characters',
  ),
});
export type Vocabulary = Static<typeof VocabularySchema>;

/** Returns why `text` cannot be a term; undefined when it can. */
export function termFault(text: string): string | undefined {
  if (text.length > MAX_TERM_LENGTH) return `must be at most ${MAX_TERM_LENGTH} characters`;
  if (/\p{Cc}|\p{Zl}|\p{Zp}/u.test(text)) return 'must not contain control characters';
  if (!text.isWellFormed()) return 'must be well-formed Unicode';
  return /[\p{L}\p{N}]/u.test(text) ? undefined : 'must have a letter or digit';
}
