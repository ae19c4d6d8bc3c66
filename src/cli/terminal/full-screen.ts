import ansiEscapes from 'ansi-escapes';
import type { Io } from './io.ts';

/*
 * The whole terminal while a command draws on it: a screen of its own, no cursor, and single keys. The terminal is restored
 * whatever ends the command: its own end, an exception, a signal, Ctrl-Z and its continuation.
 */

export type FullScreen = {
  readonly columns: number;
  readonly rows: number;
  /** Writes the lines that differ from those on the screen. Each must not be wider than the screen. */
  draw(lines: readonly string[]): void;
  close(): void;
};

type Surroundings = Pick<Io, 'stdin' | 'stdout' | 'runtime' | 'processControl'>;

export type FullScreenEvents = {
  /** A character, or `up`, `down`, `enter`, `escape`, `tab`, `backspace`, `ctrl-c`. */
  readonly onKey: (key: string) => void;
  /** Called when the size has changed, or when the process was continued: everything has to be drawn. */
  readonly onRedraw: () => void;
};

const {
  cursorHide,
  cursorShow,
  cursorTo,
  enterAlternativeScreen,
  eraseLine,
  eraseScreen,
  exitAlternativeScreen,
} = ansiEscapes;
/** Whether a line that is too long continues in the next one. */
const WRAP = { off: '\u001b[?7l', on: '\u001b[?7h' } as const;
const ENTER = enterAlternativeScreen + cursorHide + WRAP.off;
const LEAVE = WRAP.on + cursorShow + exitAlternativeScreen;

export function openFullScreen(io: Surroundings, { onKey, onRedraw }: FullScreenEvents): FullScreen {
  const { stdin, stdout, processControl, runtime } = io;
  // Windows stops no process for a shell.
  const canSuspend = runtime.platform !== 'win32';
  let shown: readonly string[] = [];
  let isOpen = false;
  const enter = (): void => {
    isOpen = true;
    shown = [];
    stdin.setRawMode?.(true);
    stdout.write(ENTER + eraseScreen);
  };
  const leave = (): void => {
    if (!isOpen) return;
    isOpen = false;
    stdin.setRawMode?.(false);
    stdout.write(LEAVE);
  };
  const suspend = (): void => {
    leave();
    processControl.stop();
  };
  const onData = (data: Buffer): void => {
    for (const key of splitKeys(data.toString())) {
      if (key !== 'ctrl-z') onKey(key);
      else if (canSuspend) suspend();
    }
  };
  const onResize = (): void => {
    shown = [];
    stdout.write(eraseScreen);
    onRedraw();
  };
  const onContinue = (): void => {
    leave();
    enter();
    onRedraw();
  };
  const stops = [processControl.onExit(leave)];
  if (canSuspend) {
    stops.push(processControl.onSignal('SIGTSTP', suspend), processControl.onSignal('SIGCONT', onContinue));
  }
  enter();
  stdin.on('data', onData);
  stdout.on('resize', onResize);
  return {
    get columns() {
      return stdout.columns || 80;
    },
    get rows() {
      return stdout.rows || 24;
    },
    draw: (lines) => {
      if (!isOpen) return;
      const changed = lines.flatMap((line, index) =>
        line === shown[index] ? [] : [`${cursorTo(0, index)}${eraseLine}${line}`],
      );
      shown = lines;
      if (changed.length > 0) stdout.write(changed.join(''));
    },
    close: () => {
      for (const stop of stops) stop();
      stdin.off('data', onData);
      stdout.off('resize', onResize);
      leave();
      stdin.pause();
    },
  };
}

const NAMED: Readonly<Record<string, string>> = {
  '\u001b[A': 'up',
  '\u001bOA': 'up',
  '\u001b[B': 'down',
  '\u001bOB': 'down',
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\u001b': 'escape',
  '\u007f': 'backspace',
  '\b': 'backspace',
  '\u0003': 'ctrl-c',
  '\u001a': 'ctrl-z',
};

/** Escape sequences are one key each. Unknown ones, such as those of function keys, are left out. */
function splitKeys(typed: string): readonly string[] {
  const sequences = typed.match(/\u001b[[O][\d;]*[A-Za-z~]|[\s\S]/gu) ?? [];
  return sequences.flatMap((sequence) => {
    const named = NAMED[sequence];
    if (named !== undefined) return [named];
    return /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}]$/u.test(sequence) ? [sequence] : [];
  });
}
