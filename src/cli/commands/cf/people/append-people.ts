import { messages } from '../../../../fiscal/index.ts';
import { generateFrom, matchFrom, type PersonRecord, type Rules } from '../../../../people/person-record.ts';
import type { Context } from '../../../framework/context.ts';
import type { Result } from '../../../terminal/result.ts';
import { type Addition, type AppendWork, appendToRows } from '../files/append.ts';
import { TEXTS } from '../texts.ts';
import { errorsWithPlaces, toFault } from './faults.ts';
import { createHeaderTest, type Purpose, readPeople } from './people-table.ts';

type TableInput = Omit<AppendWork, 'added' | 'isHeader' | 'begin'>;

/** Writes every row of the input with its code, or the reason without one. */
export function appendGenerated(context: Context, input: TableInput, rules: Rules): Promise<Result> {
  return append(context, input, {
    rules,
    purpose: 'generate',
    added: ['codice_fiscale', 'place', 'warning', 'reason'],
    additionFor: (record) => {
      const generated = generateFrom(record, rules);
      if (!generated.ok) return faulty(toFault(errorsWithPlaces(generated, rules), rules));
      const { cf, place, warnings } = generated;
      const texts = messages[rules.language].warnings;
      return {
        values: {
          codice_fiscale: cf,
          place: place.name,
          warning: warnings.map((warning) => texts[warning]).join('; '),
        },
      };
    },
  });
}

/** Writes every row of the input with whether its code belongs to its person, and the differences. */
export function appendMatches(context: Context, input: TableInput, rules: Rules): Promise<Result> {
  const texts = TEXTS[rules.language];
  return append(context, input, {
    rules,
    purpose: 'match',
    added: ['matches', 'differs', 'reason', 'skipped'],
    additionFor: (record) => {
      const matched = matchFrom(record, rules);
      if (!matched.ok) return faulty(toFault(matched.errors, rules));
      const differing = matched.response.parts.filter(({ matches }) => !matches);
      const skipped = matched.response.skipped.map((part) => texts.fields[part] ?? part).join(', ');
      if (differing.length === 0) return { values: { matches: texts.yes, skipped } };
      const differs = differing
        .map(({ part, expected, found }) => `${texts.fields[part] ?? part} ${found} / ${expected}`)
        .join('; ');
      return {
        values: { matches: texts.no, differs, reason: texts.notOfPerson, skipped },
        fault: {
          reason: differing.map(({ part }) => part).join(','),
          message: texts.notOfPerson,
          labels: differing.map(
            ({ part }) => `${texts.fields[part] ?? part}: ${texts.reasons.differs ?? ''}`,
          ),
        },
      };
    },
  });
}

type PeopleWork = {
  readonly rules: Rules;
  readonly purpose: Purpose;
  readonly added: AppendWork['added'];
  readonly additionFor: (record: PersonRecord) => Addition;
};

function append(
  context: Context,
  input: TableInput,
  { rules, purpose, added, additionFor }: PeopleWork,
): Promise<Result> {
  return appendToRows(context, {
    ...input,
    added,
    isHeader: createHeaderTest(purpose),
    begin: (head) => {
      const readRecord = readPeople(context, head, { ...rules, purpose });
      return (row) => additionFor(readRecord(row));
    },
  });
}

function faulty(fault: NonNullable<Addition['fault']>): Addition {
  return { values: { reason: fault.message }, fault };
}
