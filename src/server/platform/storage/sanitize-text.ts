/**
 * Replaces NUL and unpaired surrogates, which PostgreSQL cannot store, by U+FFFD. Receivers and clients may send either, and
 * one such text would make the whole statement fail.
 */
export function sanitizeText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
