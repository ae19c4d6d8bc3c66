/**
 * PostgreSQL keeps neither NUL nor half of a surrogate pair, and a receiver may answer, or a client be called,
 * anything: one such text must not keep all that is stored with it from being stored.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
