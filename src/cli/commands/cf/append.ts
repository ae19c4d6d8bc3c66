import {
  type DecodedCode,
  decode,
  type Language,
  messages,
  type TaxCodeKind,
} from '../../../fiscal/index.ts';
import type { CellValue, Row, RowProblem } from '../../../people/csv-rows.ts';
import { generateFrom, matchFrom, type PersonRecord, type Rules } from '../../../people/person-record.ts';
import type { Context } from '../../framework/context.ts';
import type { Result } from '../../terminal/result.ts';
import type { CheckRules } from './codes/check-codes.ts';
import { findCodeColumn, isCodeHeader, type ManyCodes } from './codes/code-column.ts';
import { type Batch, type BatchOptions, runBatch } from './files/batch.ts';
import { eachTableRow, type TableHead } from './files/each-table-row.ts';
import { errorsWithPlaces, type RowFault, rowFault, toFault } from './people/faults.ts';
import { createHeaderTest, type Purpose, readPeople } from './people/people-table.ts';
import { type AddedColumn, TEXTS } from './texts.ts';

/* The option --append: every row of a table is written again, in order and complete, with added columns. */

const CHECKED: readonly AddedColumn[] = ['codice_fiscale', 'place', 'warning', 'reason'];
const DECODED: readonly AddedColumn[] = [
  'codice_fiscale',
  'gender',
  'birthday',
  'place',
  'province',
  'warning',
  'reason',
];

/** Writes every row with its code, the place in it, and warnings or errors. */
export function appendChecks(context: Context, options: ManyCodes, rules: CheckRules): Promise<Result> {
  return appendToCodes(context, options, { rules, added: CHECKED });
}

/** Writes every row with the decoded fields of its code. */
export function appendDecoded(context: Context, options: ManyCodes, rules: CheckRules): Promise<Result> {
  return appendToCodes(context, options, { rules, added: DECODED });
}

type CodeWork = { readonly rules: CheckRules; readonly added: readonly AddedColumn[] };

function appendToCodes(context: Context, options: ManyCodes, { rules, added }: CodeWork): Promise<Result> {
  return appendToRows(context, {
    ...options,
    added,
    isHeader: isCodeHeader(options.column),
    begin: (head) => {
      const index = findCodeColumn(context, head, options);
      return ({ cells }) => addToCode(cells[index] ?? '', rules);
    },
  });
}

function addToCode(code: string, rules: CheckRules): Addition {
  const { warnings, codeFault, checkReasons, kinds } = messages[rules.language];
  const decoded = decode(code, rules);
  if (decoded.ok) return { values: readDecoded(decoded, warnings) };
  const kind = KINDS[decoded.reason];
  if (kind !== undefined && rules.accept === 'any')
    return { values: { codice_fiscale: code, warning: kinds[kind] } };
  const message = codeFault(decoded.faults[0]);
  const labels = [`${decoded.reason}: ${checkReasons[decoded.reason]}`];
  return { values: { reason: message }, fault: { reason: decoded.reason, message, labels } };
}

type Warnings = (typeof messages)['en']['warnings'];

function readDecoded(decoded: DecodedCode, texts: Warnings): Addition['values'] {
  return {
    codice_fiscale: decoded.codiceFiscale,
    gender: decoded.sex,
    birthday: decoded.birthDate,
    place: decoded.birthplace.name,
    province: decoded.birthplace.province,
    warning: decoded.warnings.map((warning) => texts[warning]).join('; '),
  };
}

const KINDS: Partial<Readonly<Record<string, TaxCodeKind>>> = {
  'provisional-code': 'provisional',
  'vat-number': 'vat',
  'organisation-code': 'organisation',
};

type TableInput = Omit<AppendWork, 'added' | 'isHeader' | 'begin'>;

/** Writes every row of the input with its code, or the reason without one. */
export function appendGenerated(context: Context, input: TableInput, rules: Rules): Promise<Result> {
  return appendToPeople(context, input, {
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
  return appendToPeople(context, input, {
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

function appendToPeople(
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

/** Cells that are added to a row, and the error of the row, if there is one. */
type Addition = {
  readonly values: Readonly<Partial<Record<AddedColumn, string>>>;
  readonly fault?: RowFault;
};

type AppendWork = BatchOptions & {
  readonly delimiter: string | undefined;
  readonly sheet: string | undefined;
  readonly added: readonly AddedColumn[];
  readonly isHeader: (cells: readonly string[]) => boolean;
  /** Called once. Returns a function that is called for each row. Throws a usage error when columns are missing. */
  readonly begin: (head: TableHead) => (row: Row) => Addition;
};

/** Writes every row of a table again, in order and complete, with added columns. */
function appendToRows(context: Context, work: AppendWork): Promise<Result> {
  return runBatch(context, work, async (batch, source) => {
    await eachTableRow(context, batch, {
      source,
      language: work.language,
      delimiter: work.delimiter,
      sheet: work.sheet,
      isHeader: work.isHeader,
      begin: (head) => beginRows(batch, head, work),
    });
  });
}

async function beginRows(batch: Batch, head: TableHead, work: AppendWork): Promise<(row: Row) => void> {
  const addTo = work.begin(head);
  const { columns } = TEXTS[work.language];
  const rows = await batch.openRows(head.delimiter);
  const width = head.header?.cells.length ?? 0;
  for (const row of head.above) rows.row(toValues(row));
  if (head.header !== undefined)
    rows.row([...toValues(head.header), ...work.added.map((column) => columns[column])]);
  return (row) => {
    const values = toValues(row);
    while (values.length < width) values.push(null);
    const { values: added, fault } =
      row.problem === undefined ? addTo(row) : brokenRow(row.problem, work.language);
    for (const column of work.added) values.push(added[column] ?? '');
    rows.row(values);
    if (fault === undefined) batch.countGood();
    else batch.reportBad({ ...fault, line: row.line, input: () => row.raw });
  };
}

function toValues({ values, cells, problem, raw }: Row): CellValue[] {
  return problem === undefined ? [...(values ?? cells)] : [raw];
}

function brokenRow(problem: RowProblem, language: Language): Addition {
  const fault = rowFault(problem, language);
  return { values: { reason: fault.message }, fault };
}
