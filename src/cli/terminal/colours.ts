import type { Environment, TerminalStream } from './io.ts';
import { isSet } from './io.ts';

export type Paint = (text: string) => string;

/** The meanings of the colours. Commands name a meaning, never a colour. */
export type Palette = {
  readonly heading: Paint;
  readonly name: Paint;
  readonly faint: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly warning: Paint;
  readonly active: Paint;
};

export type ColourChoice = {
  readonly env: Environment;
  /** Whether --no-color was given. */
  readonly isRefused: boolean;
};

/**
 * Returns 0 for no colours. --no-color and NO_COLOR (https://no-color.org) come first, then FORCE_COLOR and CLICOLOR_FORCE,
 * then TERM=dumb, CLICOLOR=0 and whether the stream is a terminal.
 */
export function colourLevel(stream: TerminalStream, { env, isRefused }: ColourChoice): 0 | 1 {
  if (isRefused || (env.NO_COLOR !== undefined && env.NO_COLOR !== '')) return 0;
  if (env.FORCE_COLOR !== undefined) return isSet(env.FORCE_COLOR) || env.FORCE_COLOR === '' ? 1 : 0;
  if (isSet(env.CLICOLOR_FORCE)) return 1;
  if (env.TERM === 'dumb' || env.CLICOLOR === '0') return 0;
  return stream.isTTY === true ? 1 : 0;
}

/** Only sixteen colours are used, so that every terminal's theme decides how they look. */
export async function loadPalette(level: 0 | 1): Promise<Palette> {
  if (level === 0) return PLAIN;
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level });
  return {
    heading: chalk.bold,
    name: chalk.cyan,
    faint: chalk.dim,
    good: chalk.green,
    bad: chalk.red,
    warning: chalk.yellow,
    active: chalk.magenta,
  };
}

const same: Paint = (text) => text;

const PLAIN: Palette = {
  heading: same,
  name: same,
  faint: same,
  good: same,
  bad: same,
  warning: same,
  active: same,
};
