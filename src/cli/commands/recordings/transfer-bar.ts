import { formatBytes, formatDuration } from '../../../contract/amounts.ts';
import { countColumns, type Io } from '../../terminal/io.ts';

export type TransferBar = {
  /** Shows that `done` bytes of the file were received; draws at most ten times a second. */
  readonly show: (done: number) => void;
  /** Must be called before anything else is written to the terminal. */
  readonly clear: () => void;
};

const REDRAW_MS = 100;
const BAR_WIDTH = 24;
/** Carriage return, then erase the line (ECMA-48, EL). */
const CLEAR_LINE = '\r\u001b[2K';

/** Draws one line on stderr if that is a terminal. */
export function createTransferBar(
  { stderr, clock }: Pick<Io, 'stderr' | 'clock'>,
  { from, sizeBytes }: { readonly from: number; readonly sizeBytes: number | undefined },
): TransferBar {
  const startedMs = clock();
  let drawnMs = Number.NEGATIVE_INFINITY;
  return {
    show: (done) => {
      const nowMs = clock();
      if (stderr.isTTY !== true || nowMs - drawnMs < REDRAW_MS) return;
      drawnMs = nowMs;
      const line = transferLine({ from, done, sizeBytes, seconds: (nowMs - startedMs) / 1000 });
      stderr.write(`${CLEAR_LINE}${line.slice(0, countColumns(stderr) - 1)}`);
    },
    clear: () => {
      if (drawnMs > 0) stderr.write(CLEAR_LINE);
    },
  };
}

export type Transfer = {
  /** Bytes that were on disk before the transfer began. */
  readonly from: number;
  readonly done: number;
  readonly sizeBytes: number | undefined;
  /** Seconds since the beginning. */
  readonly seconds: number;
};

export function transferLine({ from, done, sizeBytes, seconds }: Transfer): string {
  const perSecond = seconds <= 0 ? 0 : (done - from) / seconds;
  const speed = perSecond === 0 ? [] : [`${formatBytes(Math.round(perSecond))}/s`];
  if (sizeBytes === undefined || sizeBytes === 0) return [formatBytes(done), ...speed].join('  ');
  const share = Math.min(1, done / sizeBytes);
  const filled = Math.floor(share * BAR_WIDTH);
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
  const left = perSecond === 0 ? [] : [`${formatDuration(Math.ceil((sizeBytes - done) / perSecond))} left`];
  const percent = `${String(Math.floor(share * 100)).padStart(3)} %`;
  return [`${bar} ${percent}`, `${formatBytes(done)} of ${formatBytes(sizeBytes)}`, ...speed, ...left].join(
    '  ',
  );
}
