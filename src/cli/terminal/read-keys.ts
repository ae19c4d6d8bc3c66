import type { Io } from './io.ts';

export type KeyReader = { readonly close: () => void };

const CTRL_C = '\u0003';

/**
 * Calls `onEnd` for q and Ctrl-C while something is drawn. Raw mode keeps typed characters out of the drawing, and delivers
 * Ctrl-C as a character. Returns undefined when nobody can type.
 */
export function readKeys({ stdin }: Io, onEnd: () => void): KeyReader | undefined {
  if (stdin.isTTY !== true || stdin.setRawMode === undefined) return undefined;
  const onData = (typed: Buffer): void => {
    const keys = typed.toString();
    if (keys.includes('q') || keys.includes(CTRL_C)) onEnd();
  };
  stdin.setRawMode(true);
  stdin.on('data', onData);
  return {
    close: () => {
      stdin.off('data', onData);
      stdin.setRawMode?.(false);
      stdin.pause();
    },
  };
}
