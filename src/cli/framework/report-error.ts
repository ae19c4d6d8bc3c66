import { CurlPrinted } from '../connection/request-trace.ts';
import { EXIT, type ExitCode } from '../errors/cli-error.ts';
import { describeError } from '../errors/describe-error.ts';
import type { Io } from '../terminal/io.ts';
import { colourLevel, escapeForTerminal, escapeJsonForTerminal, loadPalette } from '../terminal/terminal.ts';
import { wrapForTerminal } from '../terminal/wrap-text.ts';

/** An error, and the form in which it is printed. */
export type Report = {
  readonly error: unknown;
  /** The words of the command line, for --json and --no-color. */
  readonly argv: readonly string[];
  /** The command that failed, such as `rooms create`. */
  readonly command?: string | undefined;
  /** The target of the error, of several. */
  readonly target?: string;
};

/** Columns of `Error: `; further lines are indented by as many. */
const LABEL_WIDTH = 7;

/** Prints an error as two lines, or as a problem with --json. Returns its exit code. */
export async function reportError(io: Io, { error, argv, command, target }: Report): Promise<ExitCode> {
  if (error instanceof CurlPrinted) return EXIT.success;
  const { exitCode, details, next, problem, ...rest } = describeError(error, io.clock(), command);
  const cause = target === undefined ? rest.cause : `${target}: ${rest.cause}`;
  if (argv.some((word) => word === '--json' || word.startsWith('--json='))) {
    const json = JSON.stringify({ ...problem, ...(next === undefined ? {} : { next }), exitCode });
    io.stderr.write(`${io.stderr.isTTY === true ? escapeJsonForTerminal(json) : json}\n`);
    return exitCode;
  }
  const palette = await loadPalette(
    colourLevel(io.stderr, { env: io.env, isRefused: argv.includes('--no-color') }),
  );
  if (exitCode === EXIT.cancelled) {
    io.stderr.write(`Cancelled: ${escapeForTerminal(cause)}\n`);
    return exitCode;
  }
  const shown = (text: string): string => wrapForTerminal(io.stderr, escapeForTerminal(text), LABEL_WIDTH);
  io.stderr.write(`${palette.bad('Error:')} ${shown(cause)}\n`);
  for (const detail of details) io.stderr.write(`${' '.repeat(LABEL_WIDTH)}${shown(detail)}\n`);
  if (next !== undefined) io.stderr.write(`${palette.heading('Next:')}  ${shown(next)}\n`);
  return exitCode;
}
