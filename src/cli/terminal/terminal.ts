import { styleText } from 'node:util';
import { countColumns, type Environment, type Io, isTurnedOn, type TerminalStream } from './io.ts';
import { wrapForTerminal } from './wrap-text.ts';

/** `--json`: not given, everything, or these fields. */
export type JsonChoice = undefined | 'everything' | readonly string[];

/** The streams of a command's result, and the form in which it is written. */
export type Terminal = {
  readonly io: Io;
  readonly json: JsonChoice;
  readonly isTerminal: boolean;
  /** Columns of the terminal; undefined when nothing is cut. */
  readonly width: number | undefined;
  readonly palette: Palette;
  readonly errorPalette: Palette;
};

export function openTerminal(
  io: Io,
  choice: { readonly json: JsonChoice; readonly isColourRefused: boolean },
): Terminal {
  const isTerminal = io.stdout.isTTY === true;
  const colours = { env: io.env, isRefused: choice.isColourRefused };
  return {
    io,
    json: choice.json,
    isTerminal,
    // Read each time, because a user who watches a list may resize the window.
    get width() {
      return isTerminal ? countColumns(io.stdout) : undefined;
    },
    palette: choosePalette(colourLevel(io.stdout, colours)),
    errorPalette: choosePalette(colourLevel(io.stderr, colours)),
  };
}

/** Prints one line for the user on stderr; `text` may have foreign names. With --json it is JSON, like errors. */
export function printStatus(terminal: Terminal, text: string): void {
  const { stderr } = terminal.io;
  if (terminal.json !== undefined) {
    printJsonLine(stderr, { status: text });
    return;
  }
  stderr.write(`${wrapForTerminal(stderr, escapeForTerminal(text))}\n`);
}

/** Like printStatus, but only for people: a script's log does not need it. */
export function printHint(terminal: Terminal, text: string): void {
  const { stderr } = terminal.io;
  if (stderr.isTTY !== true) return;
  stderr.write(`${terminal.errorPalette.faint(wrapForTerminal(stderr, escapeForTerminal(text)))}\n`);
}

export function printWarning(terminal: Terminal, text: string): void {
  const { stderr } = terminal.io;
  if (terminal.json !== undefined) {
    printJsonLine(stderr, { warning: text });
    return;
  }
  const label = 'Warning:';
  stderr.write(
    `${terminal.errorPalette.warning(label)} ${wrapForTerminal(stderr, escapeForTerminal(text), label.length + 1)}\n`,
  );
}

function printJsonLine(stream: TerminalStream, value: object): void {
  const json = JSON.stringify(value);
  stream.write(`${stream.isTTY === true ? escapeJsonForTerminal(json) : json}\n`);
}

export type Paint = (text: string) => string;

/**
 * The meanings of the colours. Commands name a meaning, never a colour. Only sixteen colours are used, so that every
 * terminal's theme decides how they look.
 */
export type Palette = Readonly<
  Record<'heading' | 'name' | 'faint' | 'good' | 'bad' | 'warning' | 'active', Paint>
>;

export type ColourChoice = {
  readonly env: Environment;
  /** Whether --no-color was given. */
  readonly isRefused: boolean;
};

/**
 * Returns 0 for no colours. --no-color and NO_COLOR (https://no-color.org) come first, then FORCE_COLOR and CLICOLOR_FORCE,
 * then TERM=dumb, CLICOLOR=0 and whether the stream is a terminal.
 */
export function colourLevel(stream: TerminalStream, { env, isRefused }: ColourChoice): 0 | 1 {
  if (isRefused || (env.NO_COLOR !== undefined && env.NO_COLOR !== '')) return 0;
  if (env.FORCE_COLOR !== undefined) return isTurnedOn(env.FORCE_COLOR) || env.FORCE_COLOR === '' ? 1 : 0;
  if (isTurnedOn(env.CLICOLOR_FORCE)) return 1;
  if (env.TERM === 'dumb' || env.CLICOLOR === '0') return 0;
  return stream.isTTY === true ? 1 : 0;
}

export function choosePalette(level: 0 | 1): Palette {
  // Line by line, because a pager forgets colours at the end of a line.
  const paint = (style: 'bold' | 'cyan' | 'dim' | 'green' | 'red' | 'yellow' | 'magenta'): Paint =>
    level === 0
      ? (text) => text
      : (text) => text.replace(/[^\n]+/g, (line) => styleText(style, line, { validateStream: false }));
  return {
    heading: paint('bold'),
    name: paint('cyan'),
    faint: paint('dim'),
    good: paint('green'),
    bad: paint('red'),
    warning: paint('yellow'),
    active: paint('magenta'),
  };
}

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

/** Does the same as escapeForTerminal, but keeps line feeds and tabs. */
export function escapeLinesForTerminal(text: string): string {
  return text.replace(ACTING_CHARACTERS, (character) =>
    character === '\n' || character === '\t' ? character : unicodeEscape(character),
  );
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
