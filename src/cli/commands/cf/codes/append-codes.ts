import { type DecodedCode, decode, messages, type TaxCodeKind } from '../../../../fiscal/index.ts';
import type { Context } from '../../../framework/context.ts';
import type { Result } from '../../../terminal/result.ts';
import { type Addition, appendToRows } from '../files/append.ts';
import type { AddedColumn } from '../texts.ts';
import type { CheckRules } from './check-codes.ts';
import { findCodeColumn, isCodeHeader, type ManyCodes } from './code-column.ts';

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
  return append(context, options, { rules, added: CHECKED });
}

/** Writes every row with the decoded fields of its code. */
export function appendDecoded(context: Context, options: ManyCodes, rules: CheckRules): Promise<Result> {
  return append(context, options, { rules, added: DECODED });
}

type Appending = { readonly rules: CheckRules; readonly added: readonly AddedColumn[] };

function append(context: Context, options: ManyCodes, { rules, added }: Appending): Promise<Result> {
  return appendToRows(context, {
    ...options,
    added,
    isHeader: isCodeHeader(options.column),
    begin: (head) => {
      const index = findCodeColumn(context, head, options);
      return ({ cells }) => additionFor(cells[index] ?? '', rules);
    },
  });
}

function additionFor(code: string, rules: CheckRules): Addition {
  const { warnings, codeFault, checkReasons, kinds } = messages[rules.language];
  const decoded = decode(code, rules);
  if (decoded.ok) return { values: toValues(decoded, warnings) };
  const kind = KINDS[decoded.reason];
  if (kind !== undefined && rules.accept === 'any')
    return { values: { codice_fiscale: code, warning: kinds[kind] } };
  const message = codeFault(decoded.faults[0]);
  const labels = [`${decoded.reason}: ${checkReasons[decoded.reason]}`];
  return { values: { reason: message }, fault: { reason: decoded.reason, message, labels } };
}

type Warnings = (typeof messages)['en']['warnings'];

function toValues(decoded: DecodedCode, texts: Warnings): Addition['values'] {
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
