import { isObject } from '../../contract/unknown-value.ts';
import { bilingualError, usageError } from '../errors/cli-error.ts';
import { didYouMean, forseIntendeva } from '../errors/did-you-mean.ts';
import type { Result } from '../terminal/result.ts';
import { isCalendarDay, parseDuration } from '../terminal/time.ts';
import type { Context } from './context.ts';

/** Kinds of objects that the service lists. Participants, blocks, ingress and deliveries belong to the first argument. */
export type Listed =
  | 'rooms'
  | 'participants'
  | 'blocks'
  | 'waiting'
  | 'plans'
  | 'ingress'
  | 'recordings'
  | 'transcriptions'
  | 'sessions'
  | 'webhooks'
  | 'deliveries'
  | 'keys';

/** The source of values for completion. */
type Completes = Listed | 'profiles' | 'events' | 'files';

/** Kinds of objects that can be chosen from a list. */
export type Picked = Listed | 'profiles';

/** The sources of a value: typed, also from stdin with `-`, or also from a file with `@file`. */
type Source = 'typed' | 'typed-or-stdin' | 'typed-or-file';

/** One argument or option; T is the type of the command's input. */
export type Parameter<T> = {
  readonly description: string;
  /** Commander's flags for an option; undefined for an argument. */
  readonly flags?: string;
  readonly isRequired: boolean;
  /** Whether it takes all remaining words. */
  readonly isList: boolean;
  readonly source: Source;
  readonly choices?: readonly string[];
  readonly completes?: Completes;
  /** Names an existing object: when it is missing, a terminal shows the list of `completes` to choose from. */
  readonly picks?: Picked;
  /**
   * Converts the text to the value. Throws a usage error whose message follows the parameter's name. Undefined for a flag.
   */
  readonly parse?: (text: string) => T;
  /** For a list: throws for an invalid element, like parse. */
  readonly checkEach?: (text: string) => void;
  /** Never set: has the type T for the compiler. */
  readonly type?: T;
};

type ListExtras = {
  readonly completes?: Completes;
  readonly choices?: readonly string[];
  readonly checkEach?: (text: string) => void;
};

type ArgumentExtras<T extends string> = {
  readonly completes?: Completes;
  readonly choices?: readonly T[];
  readonly source?: Source;
  /** Default: one of the choices if there are some, else any text that is not empty. */
  readonly parse?: (text: string) => T;
};

/** Creates a required argument: asked for on a terminal, a usage error without one. */
export function argument<const T extends string = string>(
  description: string,
  extras: ArgumentExtras<T> = {},
): Parameter<T> {
  const parse = extras.choices === undefined ? notEmpty : choice(extras.choices).parse;
  // Sound: without choices T is string.
  const typed = parse as (text: string) => T;
  return { description, isRequired: true, isList: false, source: 'typed', parse: typed, ...extras };
}

/** Creates an optional argument. The shell completes it, and no prompt asks for it. */
export function optionalExisting(description: string, completes: Picked): Parameter<string | undefined> {
  return optionalArgument(description, { completes });
}

export function optionalArgument(
  description: string,
  extras: ArgumentExtras<string> = {},
): Parameter<string | undefined> {
  return { ...argument(description, extras), isRequired: false };
}

/** Creates an argument with one or more values. */
export function listArgument(description: string, extras: ListExtras = {}): Parameter<readonly string[]> {
  return {
    description,
    isRequired: true,
    isList: true,
    source: 'typed',
    checkEach: (text) => void notEmpty(text),
    ...extras,
  };
}

/** Creates an argument that names an existing object: when it is missing, a terminal shows the list to choose from. */
export function existing(description: string, picks: Picked): Parameter<string> {
  return { ...argument(description), completes: picks, picks };
}

/** Creates an argument that names one or more existing objects. */
export function listOfExisting(description: string, picks: Picked): Parameter<readonly string[]> {
  return { ...listArgument(description), completes: picks, picks };
}

/** Creates an argument with none, one or more values. */
export function optionalListArgument(
  description: string,
  extras: ListExtras = {},
): Parameter<readonly string[]> {
  return { ...listArgument(description, extras), isRequired: false };
}

/** Creates an option without a value: false by default. */
export function flag(flags: string, description: string): Parameter<boolean> {
  return { description, flags, isRequired: false, isList: false, source: 'typed' };
}

type Parse<T> = (text: string) => T;

type OptionExtras = Pick<ArgumentExtras<string>, 'source' | 'choices' | 'completes'>;

type ParsedExtras<T> = OptionExtras & { readonly parse: Parse<T> };

/** Creates an option whose value is any text that is not empty, or what it is parsed to. */
export function option<T>(
  flags: string,
  description: string,
  extras: ParsedExtras<T> | Parse<T>,
): Parameter<T | undefined>;
export function option(
  flags: string,
  description: string,
  extras?: OptionExtras,
): Parameter<string | undefined>;
export function option(
  flags: string,
  description: string,
  extras: OptionExtras | ParsedExtras<unknown> | Parse<unknown> = {},
): Parameter<unknown> {
  const given = typeof extras === 'function' ? { parse: extras } : extras;
  return { description, flags, isRequired: false, isList: false, source: 'typed', parse: notEmpty, ...given };
}

/** Creates a required option: asked for on a terminal, a usage error without one. */
export function requiredOption<T>(flags: string, description: string, extras: ParsedExtras<T>): Parameter<T> {
  return { description, flags, isRequired: true, isList: false, source: 'typed', ...extras };
}

/** Creates an option that may be given several times: the values in order, by default none. */
export function listOption(
  flags: string,
  description: string,
  extras: ListExtras = {},
): Parameter<readonly string[]> {
  return { ...optionalListArgument(`${description}; may be repeated`, extras), flags };
}

export function asText(text: string): string {
  return text;
}

export function notEmpty(text: string): string {
  if (text === '') throw bilingualError(['must not be empty'], ['non può essere vuoto']);
  return text;
}

export function wholeNumber(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    throw bilingualError(
      [`${JSON.stringify(text)} is not a whole number from ${minimum} to ${maximum}`],
      [`${JSON.stringify(text)} non è un numero intero da ${minimum} a ${maximum}`],
    );
  };
}

/** Parses a day of the calendar, `2026-01-31`. */
export function calendarDay(text: string): string {
  if (isCalendarDay(text)) return text;
  throw bilingualError(
    [`${JSON.stringify(text)} is not a date`, 'write it such as 2026-01-31'],
    [`${JSON.stringify(text)} non è una data`, 'scriverla come 2026-01-31'],
  );
}

/** Parses whole seconds from `90`, `90s`, `10m` or `1h30m`. */
export function wholeSeconds(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const seconds = parseDuration(text);
    if (seconds !== undefined && Number.isInteger(seconds) && seconds >= minimum && seconds <= maximum) {
      return seconds;
    }
    throw usageError(
      `${JSON.stringify(text)} is not a duration`,
      `write it such as 90s, 10m or 1h30m; at least ${minimum} s`,
    );
  };
}

export function choice<const T extends string>(choices: readonly T[]) {
  return {
    choices,
    parse: (text: string): T => {
      const choice = choices.find((candidate) => candidate === text);
      if (choice !== undefined) return choice;
      const [typed, all] = [JSON.stringify(text), choices.join(', ')];
      throw bilingualError(
        [`${typed} is not one of ${all}${didYouMean(text, choices)}`],
        [`${typed} non è tra i valori ammessi: ${all}${forseIntendeva(text, choices)}`],
      );
    },
  };
}

export function jsonObject(text: string): Readonly<Record<string, unknown>> {
  const value = requireJson(text);
  if (isObject(value)) return value;
  throw usageError('is JSON, but not an object', OBJECT_EXAMPLE);
}

const OBJECT_EXAMPLE = 'write it such as \'{"team":"blue"}\', in single quotes; or @file, or - for stdin';

/** The value may be personal, so the message does not contain it. */
function requireJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw usageError('is not well-formed JSON', OBJECT_EXAMPLE);
  }
}

/*
 * A command is a value: its name, its parameters, and a function from these to data. It prints nothing: output.ts does, in
 * the form that the user's terminal, pipe or --json needs.
 *
 * To add a command:
 * 1. write it in commands/<noun>.ts, or in a file of commands/<noun>/, with defineCommand, and put it into the noun's list
 *    `commands`;
 * 2. add its verb (for a new noun: a line) to registry.ts, which is what `rtc --help` and completion read without
 *    loading any command; a test compares the two. Help, prompts for missing arguments, --json, tables, --debug, --curl,
 * exit codes and completion come from the value.
 *
 * `needs` selects what is loaded: `service` has the connection options and a signing client on first use; `nothing` has
 * neither, so that an offline command (`rtc cf check`) loads its own file and, for example, src/fiscal, and never the
 * client, the settings or a profile.
 */

type Needs = 'service' | 'nothing';

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** The input that parameters give. */
export type Values<P extends Parameters> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer T> ? T : never;
};

type CommandDefinition<A extends Parameters, O extends Parameters> = {
  /** Absent for a noun that is a command itself, such as `rtc doctor`. */
  readonly verb?: string;
  /** Default: {@link ALIASES}. */
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** Further paragraphs of the help. */
  readonly description?: string;
  /** Default `service`. */
  readonly needs?: Needs;
  /** In order. `run` gets its input under these names. */
  readonly arguments?: A;
  readonly options?: O;
  /** The names that `--json a,b` may choose; none when it is left out. */
  readonly fields?: Fields | ((input: Values<A & O>) => Fields);
  /** Whole command lines with explanations. The first one comes first, also in the help of the noun. */
  readonly examples: readonly Example[];
  /** Returns whether its output never ends by itself, so that a signal is its normal end. Default: with --watch. */
  readonly isStream?: (input: Values<A & O>) => boolean;
  run(context: Context, input: Values<A & O>): Promise<Result>;
};

/** Field names, or `of-response` when only the response shows them. */
export type Fields = readonly string[] | 'of-response';

export type Example = { readonly line: string; readonly does: string };

type None = Readonly<Record<never, never>>;

/** A command before it has its noun. Its input is checked at the definition and read by name at the call. */
type Verb = Required<Omit<CommandDefinition<Parameters, Parameters>, 'description' | 'fields'>> &
  Pick<CommandDefinition<Parameters, Parameters>, 'description' | 'fields'>;

export type Command = Verb & { readonly noun: string };

const ALIASES: Readonly<Record<string, readonly string[]>> = { list: ['ls'], delete: ['rm'], remove: ['rm'] };

export function defineCommand<A extends Parameters = None, O extends Parameters = None>(
  definition: CommandDefinition<A, O>,
): Verb {
  const { verb = '' } = definition;
  const aliases = ALIASES[verb] ?? [];
  const isStream = ({ watch }: Readonly<Record<string, unknown>>): boolean => watch === true;
  const defaults = { verb, aliases, needs: 'service', arguments: {}, options: {}, isStream };
  // Sound: read-input.ts builds the input from these very parameters.
  return { ...defaults, ...definition } as unknown as Verb;
}

/** Returns the commands of a noun. */
export function ofNoun(noun: string, verbs: readonly Verb[]): readonly Command[] {
  return verbs.map((verb) => ({ noun, ...verb }));
}

/** Returns whether a word after the noun is the command's verb, or an alias of it. */
export function matchesVerb(command: Command, word: string | undefined): boolean {
  return word !== undefined && word !== '' && [command.verb, ...command.aliases].includes(word);
}

/** `rooms list`, `doctor`. */
export function commandName(command: Command): string {
  return command.verb === '' ? command.noun : `${command.noun} ${command.verb}`;
}

/** One line of `rtc --help`, and the loader of its commands. */
export type CommandGroup = {
  readonly noun: string;
  readonly section: string;
  readonly summary: string;
  /** Verbs, without the empty one of a noun that is a command itself. */
  readonly verbs: readonly string[];
  readonly load: () => Promise<{ readonly commands: readonly Command[] }>;
};
