import { columnsOf } from '../../../terminal/io.ts';
import type { Terminal } from '../../../terminal/terminal.ts';

/** Progress of a run over many lines. */
export type Progress = {
  readonly lines: number;
  readonly bad: number;
  readonly bytes: number;
  readonly sizeBytes: number | undefined;
};

export type ProgressBar = {
  /** Draws at most ten times a second. */
  readonly show: (progress: Progress) => void;
  /** Must be called before anything else is written to the terminal. */
  readonly clear: () => void;
};

const REDRAW_MS = 100;
const BAR_WIDTH = 24;
/** Carriage return, then erase the line (ECMA-48, EL). */
const CLEAR_LINE = '\r\u001b[2K';

/** Shows progress in one line on stderr, if that is a terminal and the results go elsewhere. */
export function createProgressBar(terminal: Terminal): ProgressBar {
  const { stderr, clock } = terminal.io;
  const isShown = stderr.isTTY === true && !terminal.isTerminal;
  const startedMs = clock();
  let drawnMs = startedMs;
  let isDrawn = false;
  return {
    show: (progress) => {
      const nowMs = clock();
      if (!isShown || nowMs - drawnMs < REDRAW_MS) return;
      drawnMs = nowMs;
      isDrawn = true;
      const line = progressLine(progress, (nowMs - startedMs) / 1000);
      stderr.write(`${CLEAR_LINE}${line.slice(0, columnsOf(stderr) - 1)}`);
    },
    clear: () => {
      if (isDrawn) stderr.write(CLEAR_LINE);
      isDrawn = false;
    },
  };
}

function progressLine(progress: Progress, elapsedSeconds: number): string {
  const { lines, bad, bytes, sizeBytes } = progress;
  const parts = [`${grouped(lines)} lines`, `${grouped(rate(lines, elapsedSeconds))}/s`];
  if (bad > 0) parts.push(`${grouped(bad)} bad`);
  if (sizeBytes === undefined || sizeBytes === 0) return parts.join(', ');
  const share = Math.min(1, bytes / sizeBytes);
  const filled = Math.floor(share * BAR_WIDTH);
  const left = bytes === 0 ? undefined : Math.ceil((elapsedSeconds / share) * (1 - share));
  if (left !== undefined) parts.push(`${left} s left`);
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${parts.join(', ')}`;
}

/** Formats `1,234,567` without Intl, whose tables take longer to load than small runs. */
export function grouped(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function rate(lines: number, elapsedSeconds: number): number {
  return elapsedSeconds <= 0 ? lines : lines / elapsedSeconds;
}
