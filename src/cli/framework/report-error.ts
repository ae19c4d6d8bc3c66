import { plural } from '../../contract/amounts.ts';
import { CurlPrinted } from '../connection/request-trace.ts';
import { bilingualError, EXIT, type ExitCode } from '../errors/cli-error.ts';
import { describeError } from '../errors/describe-error.ts';
import { didYouMean, forseIntendeva } from '../errors/did-you-mean.ts';
import type { Io } from '../terminal/io.ts';
import { done, nothing, type Result } from '../terminal/result.ts';
import {
  choosePalette,
  colourLevel,
  escapeForTerminal,
  escapeJsonForTerminal,
} from '../terminal/terminal.ts';
import { wrapForTerminal } from '../terminal/wrap-text.ts';
import type { Context } from './context.ts';
import { type Command, commandName } from './parameters.ts';
import { commonParameters, type ParseProblem } from './parsing/program.ts';
import { flagNames, splitLeadingOptions } from './parsing/read-input.ts';

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
  const palette = choosePalette(
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

export type ParseFailure = {
  readonly commands: readonly Command[];
  /** Undefined when the words name no command. */
  readonly command: Command | undefined;
  readonly argv: readonly string[];
  readonly problem: ParseProblem | undefined;
};

/** Returns the usage error for words that no command accepts. */
export function parseError({ commands, command, argv, problem }: ParseFailure): Error {
  const { noun = '' } = commands[0] ?? {};
  const verbs = commands.map(({ verb }) => verb).filter((verb) => verb !== '');
  if (command === undefined || problem === undefined || isVerbExpected(problem, command, verbs)) {
    return verbError(noun, verbs, splitLeadingOptions(argv).noun);
  }
  const name = commandName(command);
  const [help, aiuto] = seeHelp(name);
  switch (problem.kind) {
    case 'unknown-option':
      return unknownOption(command, problem.option);
    case 'missing-value':
      return bilingualError(
        [`${longName(command, problem.option)} needs a value`, help],
        [`${longName(command, problem.option)} richiede un valore`, aiuto],
      );
    case 'excess-arguments':
      return excessArguments(command, problem.count, argv);
    case 'other':
      return bilingualError([problem.message, help], [problem.message, aiuto]);
    case 'help':
      return bilingualError(
        ['these words are not a command', help],
        ['le parole non sono un comando', aiuto],
      );
  }
}

function verbError(noun: string, verbs: readonly string[], word: string | undefined): Error {
  const isNone = word === undefined || word.startsWith('-');
  const [help, aiuto] = seeHelp(noun);
  const all = verbs.join(', ');
  return isNone
    ? bilingualError(
        [`rtc ${noun} needs a verb first: ${all}`, help],
        [`rtc ${noun} richiede prima un verbo: ${all}`, aiuto],
      )
    : bilingualError(
        [`unknown command '${noun} ${word}'${didYouMean(word, verbs)}`, help],
        [`comando sconosciuto '${noun} ${word}'${forseIntendeva(word, verbs)}`, aiuto],
      );
}

function seeHelp(name: string): readonly [english: string, italian: string] {
  return [`see: rtc ${name} --help`, `vedere: rtc ${name} --help`];
}

/** Recognises `rtc dev jion`: dev is a command itself, and takes no argument. */
function isVerbExpected({ kind }: ParseProblem, { verb }: Command, verbs: readonly string[]): boolean {
  return kind === 'excess-arguments' && verb === '' && verbs.length > 0;
}

/** The typed words may be personal, or a token, so the message only counts them. */
function excessArguments(command: Command, count: number, argv: readonly string[]): Error {
  const name = commandName(command);
  const most = Object.keys(command.arguments).length;
  const [help, aiuto] = seeHelp(name);
  const isHelpEnough = most === 0 || argv.includes('--');
  return bilingualError(
    [
      `rtc ${name} takes ${most === 0 ? 'no argument' : plural(most, 'argument')}, but got ${count}`,
      isHelpEnough ? help : `quote what holds a space, 'like this'; ${help}`,
    ],
    [
      `rtc ${name} ${most === 0 ? 'non prende argomenti' : `prende al massimo ${most} argoment${most === 1 ? 'o' : 'i'}`}, ne ha ricevuti ${count}`,
      isHelpEnough ? aiuto : `mettere tra virgolette ciò che contiene uno spazio, 'così'; ${aiuto}`,
    ],
  );
}

function unknownOption(command: Command, option: string): Error {
  const [help, aiuto] = seeHelp(commandName(command));
  const [typed = ''] = option.split('=', 1);
  const known = option.startsWith('--') ? [...allFlags(command).flat(), '--help'] : [];
  return bilingualError(
    [`unknown option '${option}'${didYouMean(typed, known)}`, help],
    [`opzione sconosciuta '${option}'${forseIntendeva(typed, known)}`, aiuto],
  );
}

/** Returns `--data` for `-d`. */
function longName(command: Command, flag: string): string {
  const names = allFlags(command).find((each) => each.includes(flag)) ?? [flag];
  return names.find((name) => name.startsWith('--')) ?? flag;
}

function allFlags(command: Command): readonly (readonly string[])[] {
  return [...Object.values(command.options), ...commonParameters(command)].map(flagNames);
}

type TargetsDone = { readonly exitCode: ExitCode; readonly succeeded: readonly string[] };

/**
 * Does the same to each target, and continues after one that fails. Each error is reported at once, and the exit code is
 * that of the first.
 */
export async function forEachTarget(
  context: Context,
  targets: readonly string[],
  act: (target: string) => Promise<void>,
): Promise<TargetsDone> {
  let exitCode: ExitCode = EXIT.success;
  const succeeded: string[] = [];
  for (const target of targets) {
    try {
      await act(target);
      succeeded.push(target);
    } catch (error) {
      if (error instanceof CurlPrinted) continue;
      // main reports the error of a single target, or a cancellation.
      if (targets.length === 1 || context.io.signal.aborted) throw error;
      const { command, argv } = context;
      const code = await reportError(context.io, { error, argv, command, target });
      if (exitCode === EXIT.success) exitCode = code;
    }
  }
  return { exitCode, succeeded };
}

/** Returns the result that names the targets of which it was done; without text if there are none. */
export function nameSucceeded(
  { exitCode, succeeded }: TargetsDone,
  describe: (names: string) => string,
): Result {
  if (succeeded.length === 0) return nothing({ exitCode });
  return done(describe(succeeded.join(', ')), { exitCode });
}
