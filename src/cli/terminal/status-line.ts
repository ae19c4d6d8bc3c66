import { countColumns, type Io } from './io.ts';
import { escapeForTerminal } from './terminal.ts';

/** A line that each new text overwrites on a terminal. */
export type StatusLine = {
  readonly show: (text: string) => void;
  /** Removes the text, before lines that stay are printed. */
  readonly clear: () => void;
};

/** Only a terminal can overwrite a line; elsewhere a line is printed from time to time. */
const LINE_INTERVAL_MS = 15_000;
const CLEAR = '\r\x1b[K';

/** @returns a line on stderr, which starts out empty */
export function createStatusLine({ stderr, clock }: Pick<Io, 'stderr' | 'clock'>): StatusLine {
  if (stderr.isTTY !== true) {
    let shownAt = clock();
    return {
      show: (text) => {
        if (clock() - shownAt < LINE_INTERVAL_MS) return;
        shownAt = clock();
        stderr.write(`${escapeForTerminal(text)}\n`);
      },
      clear: () => {},
    };
  }
  let isShown = false;
  return {
    // A line that wraps could not be overwritten.
    show: (text) => {
      isShown = true;
      stderr.write(`${CLEAR}${escapeForTerminal(text).slice(0, countColumns(stderr) - 1)}`);
    },
    clear: () => {
      if (isShown) stderr.write(CLEAR);
      isShown = false;
    },
  };
}
