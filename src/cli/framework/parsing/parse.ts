import { type Command, matchesVerb } from '../command.ts';
import type { CommandGroup } from '../command-group.ts';
import type { ParseFailure } from './parse-error.ts';
import type { Invocation, ParseProblem, Word } from './program.ts';

export type Parsed =
  | { readonly kind: 'invocation'; readonly invocation: Invocation }
  /** The help of the noun, or of one of its commands. */
  | { readonly kind: 'help'; readonly command: Command | undefined };

/**
 * Finds the command that the words after a noun name, and parses the words of that command alone.
 * @throws CliError (usage) for words that no command accepts, with the most similar name
 */
export async function parseCommand(group: CommandGroup, argv: readonly string[]): Promise<Parsed> {
  const { commands } = await group.load();
  const [verb, ...rest] = argv;
  const named = commands.find((each) => matchesVerb(each, verb));
  const command = named ?? commands.find((each) => each.verb === '');
  if (command === undefined) {
    if (argv.length === 0 || argv.some(isHelp)) return { kind: 'help', command };
    throw await toError({ commands, command, argv, problem: undefined });
  }
  const words = named === undefined ? argv : rest;
  const parsed = await parseWords(command, words);
  if ('kind' in parsed) {
    if (parsed.kind !== 'help') throw await toError({ commands, command, argv, problem: parsed });
    return { kind: 'help', command };
  }
  const reinterpreted = reinterpretJsonValue(parsed, words);
  const again = reinterpreted === undefined ? parsed : await parseWords(command, reinterpreted);
  if ('kind' in again) throw await toError({ commands, command, argv, problem: again });
  return { kind: 'invocation', invocation: again };
}

/** Without options there is nothing to parse, and commander takes longer to load than an offline command to run. */
async function parseWords(command: Command, argv: readonly string[]): Promise<Invocation | ParseProblem> {
  if (!argv.some((word) => word.startsWith('-'))) return assignWords(command, argv);
  const { parseOptions } = await import('./program.ts');
  return parseOptions(command, argv);
}

/** Assigns the words to the arguments in order; a list takes all remaining words. */
function assignWords(command: Command, argv: readonly string[]): Invocation | ParseProblem {
  const parameters = Object.entries(command.arguments);
  const takesAll = parameters.at(-1)?.[1].isList === true;
  if (!takesAll && argv.length > parameters.length) return { kind: 'excess-arguments', count: argv.length };
  const words: Record<string, Word> = {};
  for (const [index, [name, { isList }]] of parameters.entries())
    words[name] = isList ? argv.slice(index) : argv[index];
  return { command, words, common: {} };
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h';
}

async function toError(failure: ParseFailure): Promise<Error> {
  const { parseError } = await import('./parse-error.ts');
  return parseError(failure);
}

/**
 * `--json` may be used alone or with fields, so commander reads `get --json demo` as fields. When an argument is missing and
 * the word after --json is no field list, the word was the argument: --json moves to the end.
 */
function reinterpretJsonValue(invocation: Invocation, argv: readonly string[]): string[] | undefined {
  const { json } = invocation.common;
  if (typeof json !== 'string' || json.includes(',')) return undefined;
  const isMissing = Object.entries(invocation.command.arguments).some(
    ([name, parameter]) => parameter.isRequired && isEmpty(invocation.words[name]),
  );
  const at = argv.indexOf('--json');
  if (!isMissing || at === -1) return undefined;
  return [...argv.slice(0, at), ...argv.slice(at + 1), '--json'];
}

function isEmpty(word: Word): boolean {
  return word === undefined || (typeof word === 'object' && word.length === 0);
}
