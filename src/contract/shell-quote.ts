/** Quotes a text for a POSIX shell: inside single quotes only the quote itself is special. */
export function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
