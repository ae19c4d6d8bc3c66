/** Progress that overwrites itself on a terminal. Elsewhere it prints a line from time to time. */
export interface ProgressLine {
  readonly show: (text: string) => void;
  readonly end: () => void;
}

const lineEveryMs = 15_000;

export function progressLine(): ProgressLine {
  let shownAt = performance.now();
  if (!process.stdout.isTTY) {
    const show = (text: string) => {
      if (performance.now() - shownAt < lineEveryMs) return;
      shownAt = performance.now();
      console.log(`  ${text}`);
    };
    return { show, end: () => {} };
  }
  const clearLine = '\r\x1b[K';
  return {
    // A line that wraps could not be overwritten. Each step would leave a line behind.
    show: (text) => void process.stdout.write(`${clearLine}${`  ${text}`.slice(0, columns() - 1)}`),
    end: () => void process.stdout.write(clearLine),
  };
}

/** A terminal without a size reports 0. */
function columns(): number {
  return process.stdout.columns || 80;
}
