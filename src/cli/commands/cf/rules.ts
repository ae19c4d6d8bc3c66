import { todayInItaly } from '../../../contract/today-in-italy.ts';
import type { Language } from '../../../fiscal/index.ts';
import type { Rules } from '../../../people/rules.ts';
import type { Context } from '../../framework/context.ts';
import { LANG } from '../../framework/language.ts';
import { calendarDay, flag, oneOf, option } from '../../framework/parameters.ts';

const CENTURIES = ['1800', '1900', '2000'] as const;

/** Rules for checking codes; options of every command that reads codes. */
export const RULE_OPTIONS = {
  strict: flag('--strict', 'refuse a place that did not exist on the birth date'),
  century: option('--century <year>', 'fix the century of the two-digit year', oneOf(CENTURIES)),
  asOf: option('--as-of <date>', 'check as of this day instead of today, YYYY-MM-DD', { parse: calendarDay }),
  lang: LANG,
};

/** The kinds of codes that `check` accepts. */
export const ACCEPT = option(
  '--accept <kinds>',
  'person: only codes of persons are valid (default); any: also provisional codes, VAT numbers and codes of organisations',
  oneOf(['person', 'any']),
);

type RuleInput = {
  readonly strict: boolean;
  readonly century: (typeof CENTURIES)[number] | undefined;
  readonly asOf: string | undefined;
  readonly lang: Language | undefined;
};

export function rulesOf(context: Context, input: RuleInput): Rules {
  return {
    asOf: input.asOf ?? todayInItaly(context.io.clock()),
    strict: input.strict,
    century: input.century === undefined ? undefined : Number(input.century),
    language: input.lang ?? 'en',
  };
}
