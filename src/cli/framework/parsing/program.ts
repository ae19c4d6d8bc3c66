import { type CommanderError, Option, Command as Program } from 'commander';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../common-options.ts';
import type { Command, Parameter } from '../parameters.ts';

/** One word of a command line, a list of words, or true for a flag. */
export type Word = string | readonly string[] | boolean | undefined;

/** A parsed command line: the command, and its words before they are checked. */
export type Invocation = {
  readonly command: Command;
  /** The words typed for each parameter, by the parameter's name. */
  readonly words: Readonly<Record<string, Word>>;
  /** The options of every command, by commander's attribute names. */
  readonly common: Readonly<Record<string, unknown>>;
};

/** Why commander rejected the words, without its prose. */
export type ParseProblem =
  | { readonly kind: 'help' }
  | { readonly kind: 'unknown-option'; readonly option: string }
  | { readonly kind: 'missing-value'; readonly option: string }
  | { readonly kind: 'excess-arguments'; readonly count: number }
  | { readonly kind: 'other'; readonly message: string };

/**
 * Parses the words and options of one command with commander. Only this command's options are built, without their
 * descriptions: help/layout.ts lays out the help, and only on request.
 */
export function parseOptions(command: Command, argv: readonly string[]): Invocation | ParseProblem {
  const program = new Program().exitOverride().configureOutput({ writeOut: () => {}, outputError: () => {} });
  const names = Object.keys(command.arguments);
  for (const name of names) program.argument(command.arguments[name]?.isList ? `[${name}...]` : `[${name}]`);
  const options = Object.entries(command.options).map(([name, parameter]) => ({
    name,
    option: toOption(parameter),
  }));
  for (const { option } of options) program.addOption(option);
  for (const parameter of commonParameters(command)) program.addOption(toOption(parameter));
  let received: readonly Word[] | undefined;
  program.action((...values: Word[]) => {
    received = values;
  });
  try {
    program.parse(argv, { from: 'user' });
  } catch (error) {
    if (isCommanderError(error)) return toProblem(error, program, argv);
    throw error;
  }
  const common = program.opts<Record<string, Word>>();
  const words: Record<string, Word> = {};
  for (const [index, name] of names.entries()) words[name] = received?.[index];
  for (const { name, option } of options) words[name] = negateWord(option, common[option.attributeName()]);
  return { command, words, common };
}

/** `--no-surname` shares its attribute with `--surname <surname>`: false means that it was given. */
function negateWord({ negate }: Option, word: Word): Word {
  if (negate) return word === false ? true : undefined;
  return word === false ? undefined : word;
}

/** The options of a command beside its own. */
export function commonParameters({ needs }: Command): readonly Parameter<unknown>[] {
  const common = Object.values(COMMON_OPTIONS);
  return needs === 'service' ? [...common, ...Object.values(CONNECTION_OPTIONS)] : common;
}

function toOption({ flags = '', isList }: Parameter<unknown>): Option {
  const option = new Option(flags);
  if (isList) option.argParser((word: string, before: readonly string[] = []) => [...before, word]);
  return option;
}

function isCommanderError(error: unknown): error is CommanderError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('commander.');
}

function toProblem(error: CommanderError, program: Program, argv: readonly string[]): ParseProblem {
  switch (error.code) {
    case 'commander.helpDisplayed':
      return { kind: 'help' };
    case 'commander.unknownOption':
      return { kind: 'unknown-option', option: program.parseOptions([...argv]).unknown[0] ?? '' };
    case 'commander.optionMissingArgument':
      // Only the last word can lack its value.
      return { kind: 'missing-value', option: argv.at(-1) ?? '' };
    case 'commander.excessArguments':
      return { kind: 'excess-arguments', count: program.args.length };
    default:
      return { kind: 'other', message: error.message };
  }
}
