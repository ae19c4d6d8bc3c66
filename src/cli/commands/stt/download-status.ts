import { formatBytes } from '../../terminal/byte-size.ts';
import { createStatusLine } from '../../terminal/status-line.ts';
import { printStatus, type Terminal } from '../../terminal/terminal.ts';

export type DownloadStatus = {
  /** Shows a step that stays. */
  readonly step: (line: string) => void;
  /** Draws the bar, ten times a second at most. */
  readonly bytes: (progress: { readonly received: number; readonly total: number | undefined }) => void;
  readonly clear: () => void;
};

const REDRAW_MS = 100;
const BAR_WIDTH = 24;

/** The steps of an installation, and a bar while bytes arrive. */
export function createDownloadStatus(terminal: Terminal): DownloadStatus {
  const { io } = terminal;
  const statusLine = createStatusLine(io);
  let first: { readonly atMs: number; readonly received: number } | undefined;
  let drawnMs = Number.NEGATIVE_INFINITY;
  return {
    step: (line) => {
      statusLine.clear();
      printStatus(terminal, line);
    },
    bytes: ({ received, total }) => {
      const nowMs = io.clock();
      // Bytes of an earlier download do not count towards the speed.
      first ??= { atMs: nowMs, received };
      if (nowMs - drawnMs < REDRAW_MS && received !== total) return;
      drawnMs = nowMs;
      const seconds = (nowMs - first.atMs) / 1000;
      const bytesPerSecond = seconds === 0 ? undefined : (received - first.received) / seconds;
      statusLine.show(downloadLine({ received, total, bytesPerSecond }));
    },
    clear: statusLine.clear,
  };
}

export function downloadLine(progress: {
  readonly received: number;
  readonly total: number | undefined;
  readonly bytesPerSecond: number | undefined;
}): string {
  const { received, total, bytesPerSecond } = progress;
  const speed = bytesPerSecond === undefined ? '' : `, ${formatBytes(Math.round(bytesPerSecond))}/s`;
  if (total === undefined || total === 0) return `${formatBytes(received)}${speed}`;
  const share = Math.min(1, received / total);
  const filled = Math.floor(share * BAR_WIDTH);
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
  const isMoving = bytesPerSecond !== undefined && bytesPerSecond > 0;
  const left = isMoving ? `, ${Math.ceil((total - received) / bytesPerSecond)} s left` : '';
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `${bar} ${percent} %  ${formatBytes(received)} of ${formatBytes(total)}${speed}${left}`;
}
