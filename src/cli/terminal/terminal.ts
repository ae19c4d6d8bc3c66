import { colourLevel, loadPalette, type Palette } from './colours.ts';
import { escapeForTerminal, escapeJsonForTerminal } from './escape-for-terminal.ts';
import { countColumns, type Io, type TerminalStream } from './io.ts';
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

export async function openTerminal(
  io: Io,
  choice: { readonly json: JsonChoice; readonly isColourRefused: boolean },
): Promise<Terminal> {
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
    palette: await loadPalette(colourLevel(io.stdout, colours)),
    errorPalette: await loadPalette(colourLevel(io.stderr, colours)),
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
