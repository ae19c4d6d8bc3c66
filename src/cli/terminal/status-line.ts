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

const REDRAW_MS = 100;
const BAR_WIDTH = 24;

export type ProgressLine = {
  /** `line` gets the seconds since the beginning. */
  readonly show: (line: (seconds: number) => string) => void;
  /** Must be called before anything else is written to the terminal. */
  readonly clear: () => void;
};

/**
 * Creates a status line that only a terminal shows, drawn ten times a second at most.
 * @param delayMs time before it is first drawn, so that short work draws nothing
 */
export function createProgressLine(io: Pick<Io, 'stderr' | 'clock'>, delayMs = 0): ProgressLine {
  const { clear, show } = createStatusLine(io);
  const startedMs = io.clock();
  let nextMs = startedMs + delayMs;
  return {
    show: (line) => {
      const nowMs = io.clock();
      if (io.stderr.isTTY !== true || nowMs < nextMs) return;
      nextMs = nowMs + REDRAW_MS;
      show(line((nowMs - startedMs) / 1000));
    },
    clear,
  };
}

/** Draws `██████░░░░  60 %` for a share from 0 to 1. */
export function drawBar(share: number): string {
  const filled = Math.floor(share * BAR_WIDTH);
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %`;
}
