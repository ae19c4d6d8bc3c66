import { shellQuote } from '../../../../contract/shell-quote.ts';
import { messages } from '../../../../fiscal/index.ts';
import {
  type Generated,
  generateFrom,
  type PersonRecord,
  placeLabel,
  type Rules,
} from '../../../../people/person-record.ts';
import { CliError, EXIT, SEE_HELP } from '../../../errors/cli-error.ts';
import type { Context } from '../../../framework/context.ts';
import { type Result, text } from '../../../terminal/result.ts';
import { escapeForTerminal, printWarning } from '../../../terminal/terminal.ts';
import { TEXTS } from '../texts.ts';
import { eachPerson } from './each-person.ts';
import { errorsWithPlaces, toFault } from './faults.ts';
import { type PeopleInput, personOfOptions, readPersonJson } from './person-input.ts';

/** Generates the code of one person from options, questions or JSON. */
export async function generateOne(context: Context, input: PeopleInput, rules: Rules): Promise<Result> {
  const isStreamed = input.input === '-' || input.file !== undefined;
  const given = isStreamed
    ? await readPersonJson(context, input.file)
    : await personOfOptions(context, input, rules);
  const generated = await generateOrAsk(context, given, rules);
  if (!generated.ok) throw badPerson(generated, { rules, province: given.province, isStreamed });
  const { warnings } = messages[rules.language];
  for (const warning of generated.warnings) printWarning(context.terminal, warnings[warning]);
  return text(generated.cf, {
    response: { cf: generated.cf },
    notes: [TEXTS[rules.language].birthplace(placeLabel(generated.place, rules.language))],
  });
}

/** Prints a code per line for each person without errors, in order; or every row again with its code. */
export async function generateMany(context: Context, input: PeopleInput, rules: Rules): Promise<Result> {
  const batchRules: Rules = { ...rules, suggest: false };
  if (input.append) {
    const { appendGenerated } = await import('../append.ts');
    return appendGenerated(context, input, batchRules);
  }
  const { json } = context.terminal;
  return eachPerson(context, { ...input, rules, purpose: 'generate' }, (batch, record, where) => {
    const generated = generateFrom(record, batchRules);
    if (!generated.ok) {
      batch.reportBad({ ...where, ...toFault(errorsWithPlaces(generated, rules), rules) });
      return;
    }
    batch.out.text(json === undefined ? `${generated.cf}\n` : `${JSON.stringify({ cf: generated.cf })}\n`);
    batch.countGood();
  });
}

/** Asks on a terminal which of several places was meant, if there is no other error. */
async function generateOrAsk(context: Context, person: PersonRecord, rules: Rules): Promise<Generated> {
  const generated = generateFrom(person, rules);
  if (generated.ok || generated.candidates.length === 0 || !context.prompter.isInteractive) return generated;
  if (Object.keys(generated.errors).length > 1) return generated;
  const { askWhichPlace } = await import('./ask-person.ts');
  const city = await askWhichPlace(context.prompter, generated.candidates, rules);
  return generateFrom({ ...person, city }, rules);
}

type Bad = Exclude<Generated, { readonly ok: true }>;
type ErrorContext = { readonly rules: Rules; readonly province: unknown; readonly isStreamed: boolean };

function badPerson(generated: Bad, context: ErrorContext): CliError {
  const { errors, candidates, suggestions } = generated;
  const dashes = context.isStreamed ? '' : '--';
  const lines = Object.entries(errors).map(([field, { message }]) => `${dashes}${field}: ${message}`);
  const { language } = context.rules;
  const places = [...candidates, ...suggestions].map((place) =>
    escapeForTerminal(`  ${placeLabel(place, language)}`),
  );
  return new CliError(EXIT.usage, TEXTS[language].noCode, {
    next: nextFor(generated, context),
    details: [...lines, ...places],
  });
}

function nextFor({ errors, candidates, hint }: Bad, { rules, province }: ErrorContext): string {
  const { hints } = messages[rules.language];
  if (candidates.length > 0) return hints.ambiguous;
  if (hint !== null) return hints[hint];
  const { city } = errors;
  const isPlaceAlone = Object.keys(errors).every((field) => field === 'city' || field === 'province');
  if (!isPlaceAlone) return SEE_HELP;
  // An unknown province has no places; a place that had ended, or came later, has a history.
  const isUnknown = errors.province !== undefined || typeof province !== 'string' || province === '';
  if (city?.reason === 'not-in-force') return TEXTS[rules.language].seeHistory;
  return isUnknown ? TEXTS[rules.language].findPlace : TEXTS[rules.language].seePlaces(shellQuote(province));
}
