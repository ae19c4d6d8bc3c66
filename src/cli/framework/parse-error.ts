import { usageError } from '../errors/cli-error.ts';
import { didYouMean } from '../errors/did-you-mean.ts';
import { plural } from '../terminal/time.ts';
import { type Command, commandName } from './command.ts';
import { splitLeadingOptions } from './leading-options.ts';
import { flagNames } from './parameter-names.ts';
import { commonParameters, type ParseProblem } from './program.ts';

type Refused = {
  readonly commands: readonly Command[];
  /** Undefined where the words name no command. */
  readonly command: Command | undefined;
  readonly argv: readonly string[];
  readonly problem: ParseProblem | undefined;
};

/** The usage error for words that no command takes. */
export function parseError({ commands, command, argv, problem }: Refused): Error {
  const { noun = '' } = commands[0] ?? {};
  const verbs = commands.map(({ verb }) => verb).filter((verb) => verb !== '');
  if (command === undefined || problem === undefined || isVerbExpected(problem, command, verbs)) {
    return verbError(noun, verbs, splitLeadingOptions(argv).noun);
  }
  const name = commandName(command);
  const help = `see: rtc ${name} --help`;
  switch (problem.kind) {
    case 'unknown-option':
      return usageError(`unknown option '${problem.option}'${suggestion(command, problem.option)}`, help);
    case 'missing-value':
      return usageError(`${longName(command, problem.option)} needs a value`, help);
    case 'excess-arguments':
      return excessArguments(command, problem.count, argv);
    case 'other':
      return usageError(problem.message, help);
    case 'help':
      return usageError('the words are no command', help);
  }
}

function verbError(noun: string, verbs: readonly string[], word: string | undefined): Error {
  const isNone = word === undefined || word.startsWith('-');
  const message = isNone
    ? `rtc ${noun} needs a verb first: ${verbs.join(', ')}`
    : `unknown command '${noun} ${word}'${didYouMean(word, verbs)}`;
  return usageError(message, `see: rtc ${noun} --help`);
}

/** `rtc dev jion`: dev is a command itself, and takes no argument. */
function isVerbExpected({ kind }: ParseProblem, { verb }: Command, verbs: readonly string[]): boolean {
  return kind === 'excess-arguments' && verb === '' && verbs.length > 0;
}

/** The words that were typed may be personal, or a token: the message only counts them. */
function excessArguments(command: Command, count: number, argv: readonly string[]): Error {
  const name = commandName(command);
  const most = Object.keys(command.arguments).length;
  const help = `see: rtc ${name} --help`;
  return usageError(
    `rtc ${name} takes ${most === 0 ? 'no argument' : plural(most, 'argument')}, but got ${count}`,
    most === 0 || argv.includes('--') ? help : `quote what holds a space, 'like this'; ${help}`,
  );
}

function suggestion(command: Command, option: string): string {
  if (!option.startsWith('--')) return '';
  const known = allFlags(command).flat();
  return didYouMean(option.split('=', 1)[0] ?? '', [...known, '--help']);
}

/** `--data` for `-d`. */
function longName(command: Command, flag: string): string {
  const names = allFlags(command).find((each) => each.includes(flag)) ?? [flag];
  return names.find((name) => name.startsWith('--')) ?? flag;
}

function allFlags(command: Command): readonly (readonly string[])[] {
  return [...Object.values(command.options), ...commonParameters(command)].map(flagNames);
}
