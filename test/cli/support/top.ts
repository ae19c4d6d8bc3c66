import { stripVTControlCharacters } from 'node:util';
import { type IPty, spawn } from '@lydell/node-pty';
import { expect } from 'vitest';
import { LAUNCHER } from '../../support/parts/built.ts';
import { COVERAGE_ENVIRONMENT } from './process.ts';

/** The escape sequence that leaves the alternate screen. */
export const LEAVE = '\u001b[?1049l';

/** rtc top in a pseudo-terminal, and the content of its screen. */
export class Top {
  readonly pty: IPty;
  readonly ended: Promise<number>;
  #raw = '';

  constructor(words: readonly string[], { env, home, columns = 80, rows = 24 }: TopOptions) {
    this.pty = spawn(process.execPath, [LAUNCHER, 'top', ...words], {
      cols: columns,
      rows,
      env: {
        ...{ PATH: process.env.PATH ?? '', TERM: 'xterm-256color', LANG: 'C.UTF-8' },
        ...{ XDG_CONFIG_HOME: home, HOME: home, ...COVERAGE_ENVIRONMENT, ...env },
      },
    });
    this.pty.onData((data) => {
      this.#raw += data;
    });
    this.ended = new Promise((resolve) => this.pty.onExit(({ exitCode }) => resolve(exitCode)));
  }

  get raw(): string {
    return this.#raw;
  }

  /** Returns the lines that the terminal shows. Each line is written at its place, after that line was erased. */
  screen(): string {
    const last = this.#raw.slice(this.#raw.lastIndexOf('\u001b[2J') + 4);
    const lines: string[] = [];
    for (const [, row, text] of last.matchAll(/\u001b\[(\d+);1H\u001b\[2K([\s\S]*?)(?=\u001b\[\d+;1H|$)/g)) {
      lines[Number(row) - 1] = stripVTControlCharacters(text ?? '');
    }
    return lines.join('\n');
  }

  async shows(pattern: RegExp): Promise<void> {
    await expect.poll(() => this.screen()).toMatch(pattern);
  }

  type(keys: string): void {
    this.pty.write(keys);
  }
}

export type TopOptions = {
  readonly env: Readonly<Record<string, string>>;
  /** The home folder with the user's settings. */
  readonly home: string;
  readonly columns?: number;
  readonly rows?: number;
};
