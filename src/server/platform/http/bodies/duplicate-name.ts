import { escapePointer } from '../json-pointer.ts';

/*
 * When an object has two members of the same name, JSON.parse takes the last one and other parsers take the first (RFC 8259,
 * section 4). Two parts of a system would then act on different values, so such bodies are rejected.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OBJECT_START = 0x7b;
const OBJECT_END = 0x7d;
const ARRAY_START = 0x5b;
const ARRAY_END = 0x5d;

/** An open object with its names so far, or an open array with its position. */
type Level = { readonly names: Set<string> | undefined; name: string; position: number };

/** Returns the JSON pointer of the first repeated member, or undefined. `text` must be well-formed JSON. */
export function findDuplicateName(text: string): string | undefined {
  const levels: Level[] = [];
  let isName = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      const level = levels.at(-1);
      if (isName && level?.names !== undefined) {
        level.name = nameOf(text, at, end);
        if (level.names.has(level.name)) return pointerTo(levels);
        level.names.add(level.name);
        isName = false;
      }
      at = end;
    } else if (code === OBJECT_START || code === ARRAY_START) {
      isName = code === OBJECT_START;
      levels.push({ names: isName ? new Set() : undefined, name: '', position: 0 });
    } else if (code === OBJECT_END || code === ARRAY_END) {
      levels.pop();
    } else if (code === COMMA) {
      const level = levels.at(-1);
      isName = level?.names !== undefined;
      if (level !== undefined) level.position += 1;
    }
  }
  return undefined;
}

/** Resolves escapes, because `\u0061` is the same name as `a`. */
function nameOf(text: string, start: number, end: number): string {
  const name = text.slice(start + 1, end);
  return name.includes('\\') ? JSON.parse(`"${name}"`) : name;
}

/** Returns the position of the closing quote, which follows an even number of backslashes. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

function pointerTo(levels: readonly Level[]): string {
  const parts = levels.map(({ names, name, position }) => (names === undefined ? String(position) : name));
  return parts.map((part) => `/${escapePointer(part)}`).join('');
}
