import type { CommandGroup } from '../command-group.ts';
import { LEADING_OPTIONS } from '../common-options.ts';

/**
 * `rtc --profile dev rooms list` means `rtc rooms list --profile dev`: the noun, the words after it, those before, and
 * the option, if any, behind which the words ended.
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
 * The words after a noun with the options that stood before it: behind the verb, as are those between the two, but
 * before its own words, of which a `--` may end the options.
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
