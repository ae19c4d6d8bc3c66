import type { CommandGroup } from '../command-group.ts';
import { LEADING_OPTIONS } from '../common-options.ts';
import type { Parameter } from '../parameters.ts';

/** Returns `--role` for an option, `ROOM` for an argument, for messages. */
export function formatLabel(name: string, parameter: Parameter<unknown>): string {
  return parameter.flags === undefined ? kebab(name).toUpperCase() : longFlag(parameter);
}

/** Returns `--metadata` for `-m, --metadata <text>`. */
function longFlag(parameter: Parameter<unknown>): string {
  const names = flagNames(parameter);
  return names.find((name) => name.startsWith('--')) ?? names[0] ?? '';
}

/** Returns `-m` and `--metadata` for `-m, --metadata <text>`. */
export function flagNames({ flags = '' }: Parameter<unknown>): readonly string[] {
  return flags.split(/[ ,]+/).filter((word) => word.startsWith('-'));
}

/** Returns `<room>`, `[delivery]`, `<names...>` for a usage line. */
export function argumentTerm(name: string, { isList, isRequired }: Parameter<unknown>): string {
  const word = `${kebab(name)}${isList ? '...' : ''}`;
  return isRequired ? `<${word}>` : `[${word}]`;
}

/** Converts `trackSid` to `track-sid`. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * Splits `rtc --profile dev rooms list`, which means `rtc rooms list --profile dev`, into the noun, the words after it,
 * those before it, and the option, if any, after which the words ended.
 */
export function splitLeadingOptions(argv: readonly string[]): {
  readonly noun: string | undefined;
  readonly rest: readonly string[];
  readonly leading: readonly string[];
  readonly lacksValue: string | undefined;
} {
  let at = 0;
  while (at < argv.length) {
    const word = argv[at] ?? '';
    const [name = ''] = word.split('=', 1);
    const takesValue = Object.hasOwn(LEADING_OPTIONS, name) ? LEADING_OPTIONS[name] : undefined;
    if (takesValue === undefined) break;
    at += takesValue && !word.includes('=') ? 2 : 1;
  }
  const lacksValue = at > argv.length ? argv.at(-1) : undefined;
  return { noun: argv[at], rest: argv.slice(at + 1), leading: argv.slice(0, at), lacksValue };
}

/**
 * Returns the words after a noun with the options that preceded it: after the verb, like those between the two, but before
 * its own words, whose `--` may end the options.
 */
export function withLeadingOptions(
  { verbs }: CommandGroup,
  rest: readonly string[],
  leading: readonly string[],
): readonly string[] {
  const { noun: verb, rest: own, leading: between, lacksValue } = splitLeadingOptions(rest);
  const isVerb = verbs.length > 0 && verb !== undefined && !verb.startsWith('-') && lacksValue === undefined;
  return isVerb ? [verb, ...leading, ...between, ...own] : [...leading, ...rest];
}
