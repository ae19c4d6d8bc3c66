import type { CommanderError } from 'commander';
import { usageError } from '../errors/cli-error.ts';
import { didYouMean } from '../errors/did-you-mean.ts';
import { plural } from '../terminal/time.ts';
import { type Command, commandName, matchesVerb } from './command.ts';
import { splitLeadingOptions } from './leading-options.ts';

/** What commander found, in our own words: its own quote whole flags, and what was typed. */
export function parseError(
  error: CommanderError,
  commands: readonly Command[],
  argv: readonly string[],
): Error {
  const { noun = '' } = commands[0] ?? {};
  const verbs = commands.map(({ verb }) => verb).filter((verb) => verb !== '');
  const command =
    commands.find((each) => matchesVerb(each, argv[0])) ?? commands.find(({ verb }) => verb === '');
  if (command === undefined || isVerbMissed(error, command, verbs)) {
    return verbError(noun, verbs, splitLeadingOptions(argv).noun);
  }
  const name = commandName(command);
  return usageError(messageOf(error, name), nextOf(error, `see: rtc ${name} --help`, argv));
}

function verbError(noun: string, verbs: readonly string[], word: string | undefined): Error {
  const isNone = word === undefined || word.startsWith('-');
  const message = isNone
    ? `rtc ${noun} needs a verb first: ${verbs.join(', ')}`
    : `unknown command '${noun} ${word}'${didYouMean(word, verbs)}`;
  return usageError(message, `see: rtc ${noun} --help`);
}

/** `rtc dev jion`: dev is a command itself, and takes no argument. */
function isVerbMissed(error: CommanderError, { verb }: Command, verbs: readonly string[]): boolean {
  return verb === '' && verbs.length > 0 && error.code === 'commander.excessArguments';
}

function messageOf({ code, message }: CommanderError, name: string): string {
  const [, count = '', given = ''] = /Expected (\d+) arguments? but got (\d+)/.exec(message) ?? [];
  switch (code) {
    case 'commander.excessArguments':
      // What was typed may be personal, or a token.
      return `rtc ${name} takes ${count === '0' ? 'no argument' : plural(Number(count), 'argument')}, but got ${given}`;
    case 'commander.optionMissingArgument':
      return `${/--[\w-]+/.exec(message)?.[0] ?? 'an option'} needs a value`;
    default:
      return message.replace(/^error: /, '').replace(/\n\(Did you mean (.*)\?\)$/, ', did you mean $1?');
  }
}

function nextOf({ code, message }: CommanderError, help: string, argv: readonly string[]): string {
  const isSplit =
    code === 'commander.excessArguments' && !/Expected 0 /.test(message) && !argv.includes('--');
  return isSplit ? `quote what holds a space, 'like this'; ${help}` : help;
}
