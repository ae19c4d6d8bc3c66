/*
 * Names, metadata and messages are foreign text. On a terminal an escape sequence in them could move the cursor, rewrite
 * printed text or set the clipboard, and a bidirectional override could show another name than the real one (Trojan Source,
 * CVE-2021-42574). Such characters are shown as escapes.
 */

/** C0, DEL, C1, line and paragraph separator, lone surrogates, bidirectional and other invisible format characters. */
const ACTING_CHARACTERS =
  /[\p{Cc}\u2028\u2029\p{Cs}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Returns `text` with every character that would act on a terminal as `\n`, `\u001b` and so on. */
export function escapeForTerminal(text: string): string {
  return text.replace(ACTING_CHARACTERS, (character) => SHORT_ESCAPES[character] ?? unicodeEscape(character));
}

/**
 * Escapes one cell of a tab-separated line: control characters escaped, and the backslash doubled so that it can be undone,
 * like PostgreSQL's COPY. Bidirectional characters are kept, because a program reads this and needs the name unchanged.
 */
export function escapeCell(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replace(/[\p{Cc}\u2028\u2029]/gu, (character) => SHORT_ESCAPES[character] ?? unicodeEscape(character));
}

/** Makes JSON text safe for a terminal: it stays the same JSON, because the escapes are JSON's own. */
export function escapeJsonForTerminal(json: string): string {
  return json.replace(ACTING_CHARACTERS, (character) =>
    character === '\n' ? character : unicodeEscape(character),
  );
}

/** Escapes text of several lines and with tabs: every other harmful character. */
export function escapeLinesForTerminal(text: string): string {
  return text.replace(ACTING_CHARACTERS, (character) =>
    character === '\n' || character === '\t' ? character : unicodeEscape(character),
  );
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
