import type { Result } from '../terminal/result.ts';
import type { Context } from './context.ts';
import type { Parameter } from './parameters.ts';

/*
 * A command is a value: its name, its parameters, and a function from these to data. It prints nothing: output.ts does, in
 * the form that the user's terminal, pipe or --json needs.
 *
 * To add a command:
 * 1. write it in commands/<noun>.ts, or in a file of commands/<noun>/, with defineCommand, and put it into that file's
 *    `commands` list;
 * 2. add its verb (for a new noun: a line) to registry.ts, which is what `rtc --help` and completion read without
 *    loading any command; a test compares the two. Help, prompts for missing arguments, --json, tables, --debug, --curl,
 * exit codes and completion come from the value.
 *
 * `needs` selects what is loaded: `service` has the connection options and a signing client on first use; `nothing` has
 * neither, so that an offline command (`rtc cf check`) loads its own file and, for example, src/fiscal, and never the
 * client, the settings or a profile.
 */

export type Needs = 'service' | 'nothing';

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

export type Values<P extends Parameters> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer T> ? T : never;
};

export type CommandDefinition<A extends Parameters, O extends Parameters> = {
  readonly noun: string;
  /** Empty for a noun that is a command itself, such as `rtc doctor`. */
  readonly verb: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** Further paragraphs of the help. */
  readonly description?: string;
  readonly needs: Needs;
  /** In order; the names are those of `run`'s input. */
  readonly arguments: A;
  readonly options: O;
  /** The names that `--json a,b` may choose; none when it is left out. */
  readonly fields?: Fields | ((input: Values<A & O>) => Fields);
  /** Whole command lines with explanations. The first one comes first, also in the help of the noun. */
  readonly examples: readonly Example[];
  /** Whether its output never ends by itself, so that a signal is its normal end. */
  readonly isStream?: (input: Values<A & O>) => boolean;
  run(context: Context, input: Values<A & O>): Promise<Result>;
};

/** Field names, or `of-response` when only the response shows them. */
export type Fields = readonly string[] | 'of-response';

export type Example = { readonly line: string; readonly does: string };

/** A definition whose input is checked at the definition and read by name at the call. */
export type Command = CommandDefinition<Parameters, Parameters>;

export function defineCommand<A extends Parameters, O extends Parameters>(
  definition: CommandDefinition<A, O>,
): Command {
  // Sound: read-input.ts builds the input from these very parameters.
  return definition as unknown as Command;
}

/** Whether a word after the noun is the command's verb, or an alias of it. */
export function matchesVerb(command: Command, word: string | undefined): boolean {
  return word !== undefined && word !== '' && [command.verb, ...(command.aliases ?? [])].includes(word);
}

/** `rooms list`, `doctor`. */
export function commandName(command: Command): string {
  return command.verb === '' ? command.noun : `${command.noun} ${command.verb}`;
}
