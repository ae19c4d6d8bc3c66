import { isObject } from '../../contract/unknown-value.ts';
import { bilingualError } from '../errors/bilingual-error.ts';
import { usageError } from '../errors/cli-error.ts';
import { didYouMean, forseIntendeva } from '../errors/did-you-mean.ts';
import { isCalendarDay, parseDuration } from '../terminal/time.ts';

/** Kinds of things that the service lists; participants, blocks, ingress and deliveries by the first argument, which they belong to. */
export type Listed =
  | 'rooms'
  | 'participants'
  | 'blocks'
  | 'ingress'
  | 'recordings'
  | 'transcriptions'
  | 'sessions'
  | 'webhooks'
  | 'deliveries'
  | 'keys';

/** The list from which completion takes values. */
export type Completes = Listed | 'profiles' | 'events' | 'files';

/** Kinds of things that can be chosen from a list. */
export type Picked = Listed | 'profiles';

/** How a value is read: as typed, also from stdin with `-`, or also from a file with `@file`. */
export type Source = 'typed' | 'typed-or-stdin' | 'typed-or-file';

/** One argument or option; T is what the command gets. */
export type Parameter<T> = {
  readonly description: string;
  /** Commander's flags for an option; undefined for an argument. */
  readonly flags?: string;
  readonly isRequired: boolean;
  /** Takes all that is left. */
  readonly isList: boolean;
  readonly source: Source;
  readonly choices?: readonly string[];
  readonly completes?: Completes;
  /** Names one of what is there: where it is missing, a terminal shows the list of `completes` to choose from. */
  readonly picks?: Picked;
  /** From text to value; throws a usage error whose message follows the parameter's name. Undefined for a flag. */
  readonly parse?: (text: string) => T;
  /** For a list: throws for an element that is not valid, as parse does. */
  readonly checkEach?: (text: string) => void;
  /** Never set: carries T for the compiler. */
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
  /** Default: one of the choices where there are some, else anything but nothing. */
  readonly parse?: (text: string) => T;
};

/** An argument that must be there: asked for on a terminal, a usage error without one. */
export function argument<const T extends string = string>(
  description: string,
  extras: ArgumentExtras<T> = {},
): Parameter<T> {
  const parse = extras.choices === undefined ? notEmpty : oneOf(extras.choices).parse;
  // Sound: without choices T is string.
  const typed = parse as (text: string) => T;
  return { description, isRequired: true, isList: false, source: 'typed', parse: typed, ...extras };
}

/** One that may be left out, and is completed but not asked for. */
export function optionalExisting(description: string, completes: Picked): Parameter<string | undefined> {
  return optionalArgument(description, { completes });
}

export function optionalArgument(
  description: string,
  extras: ArgumentExtras<string> = {},
): Parameter<string | undefined> {
  return { ...argument(description, extras), isRequired: false };
}

/** One or more. */
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

/** An argument that names what is there already: where it is missing, a terminal shows the list to choose from. */
export function existing(description: string, picks: Picked): Parameter<string> {
  return { ...argument(description), completes: picks, picks };
}

/** One or more of what is there already. */
export function listOfExisting(description: string, picks: Picked): Parameter<readonly string[]> {
  return { ...listArgument(description), completes: picks, picks };
}

/** None, one or more. */
export function optionalListArgument(
  description: string,
  extras: ListExtras = {},
): Parameter<readonly string[]> {
  return { ...listArgument(description, extras), isRequired: false };
}

/** An option without a value: false unless given. */
export function flag(flags: string, description: string): Parameter<boolean> {
  return { description, flags, isRequired: false, isList: false, source: 'typed' };
}

type OptionExtras<T> = {
  readonly parse: (text: string) => T;
  readonly source?: Source;
  readonly choices?: readonly string[];
  readonly completes?: Completes;
};

export function option<T>(
  flags: string,
  description: string,
  extras: OptionExtras<T>,
): Parameter<T | undefined> {
  return { description, flags, isRequired: false, isList: false, source: 'typed', ...extras };
}

/** An option that must be there: asked for on a terminal, a usage error without one. */
export function requiredOption<T>(flags: string, description: string, extras: OptionExtras<T>): Parameter<T> {
  return { description, flags, isRequired: true, isList: false, source: 'typed', ...extras };
}

/** An option that may be given several times: the values in their order, none where it is not given. */
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

/** A day of the calendar, `2026-01-31`. */
export function calendarDay(text: string): string {
  if (isCalendarDay(text)) return text;
  throw bilingualError(
    [`${JSON.stringify(text)} is no date`, 'write it such as 2026-01-31'],
    [`${JSON.stringify(text)} non è una data`, 'scriverla come 2026-01-31'],
  );
}

/** Whole seconds, from `90`, `90s`, `10m` or `1h30m`. */
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

export function oneOf<const T extends string>(choices: readonly T[]): OptionExtras<T> {
  return {
    choices,
    parse: (text) => {
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
  const value = parseJson(text);
  if (isObject(value)) return value;
  throw usageError('is JSON, but not an object', OBJECT_EXAMPLE);
}

const OBJECT_EXAMPLE = 'write it such as \'{"team":"blue"}\', in single quotes; or @file, or - for stdin';

/** The value may be personal: it stays out of the message. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw usageError('is not well-formed JSON', OBJECT_EXAMPLE);
  }
}
