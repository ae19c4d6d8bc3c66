import type { DecodedCode as DecodedResponse } from '../../../../contract/fiscal-codes.ts';
import {
  type CheckFailure,
  type DecodedCode,
  decode,
  messages,
  omocodie,
  translateFailure,
} from '../../../../fiscal/index.ts';
import { decodedResponse } from '../../../../people/fiscal-responses.ts';
import type { Rules } from '../../../../people/person-record.ts';
import { CliError, EXIT } from '../../../errors/cli-error.ts';
import { translateHeadings } from '../../../framework/language.ts';
import { type Column, list, type Result, record, text } from '../../../terminal/result.ts';
import { printStatus, type Terminal } from '../../../terminal/terminal.ts';
import { TEXTS } from '../texts.ts';
import { markedCode } from './marked-code.ts';

type Row = DecodedResponse & { readonly decoded: DecodedCode };

/** Also the columns when many codes are read. */
const LIST_COLUMNS: readonly Column<DecodedResponse>[] = [
  { heading: 'CODICE FISCALE', value: ({ cf }) => cf, paint: 'name' },
  { heading: 'SURNAME', value: ({ surname }) => surname },
  { heading: 'NAME', value: ({ name }) => name },
  { heading: 'GENDER', value: ({ gender }) => gender },
  { heading: 'BIRTHDAY', value: ({ birthday }) => birthday },
  { heading: 'BIRTHPLACE', value: ({ birthplace }) => birthplace },
  { heading: 'PROVINCE', value: ({ birthplaceProvincia }) => birthplaceProvincia },
];

type DecodeOptions = { readonly rules: Rules; readonly withDetails: boolean };

/** Decodes a few codes. Invalid ones are reported on stderr, and the others are decoded nevertheless. */
export function decodeCodes(terminal: Terminal, codes: readonly string[], options: DecodeOptions): Result {
  const { rules, withDetails } = options;
  const responses: DecodedResponse[] = [];
  const rows: Row[] = [];
  codes.forEach((code, index) => {
    const decoded = decode(code, rules);
    if (!decoded.ok) {
      const failure = translateFailure(decoded, rules.language);
      if (codes.length === 1) throw invalidCode(terminal, { code, failure, rules });
      printStatus(terminal, `code ${index + 1}: ${failure.reason}: ${failure.message}`);
      return;
    }
    responses.push(decodedResponse(decoded, { withDetails }));
    rows.push({ ...decodedResponse(decoded, { withDetails }), decoded });
  });
  const exitCode = rows.length === codes.length ? EXIT.success : EXIT.negative;
  const [row] = rows;
  if (codes.length === 1 && row !== undefined) {
    const { decoded, ...response } = row;
    const columns: readonly Column<DecodedResponse>[] = [...LIST_COLUMNS, ...detailColumns(decoded, rules)];
    return record(response, translateHeadings(columns, rules.language));
  }
  return list({
    response: responses,
    records: responses,
    columns: translateHeadings(LIST_COLUMNS, rules.language),
    identify: ({ cf }) => cf,
    empty: TEXTS[rules.language].noValidCode,
    exitCode,
  });
}

/** Prints the 127 other forms, one per line. */
export function omocodieOfCode(terminal: Terminal, code: string, rules: Rules): Result {
  const found = omocodie(code, rules);
  if (!found.ok)
    throw invalidCode(terminal, { code, failure: translateFailure(found, rules.language), rules });
  return text(found.omocodie.join('\n'), { response: found.omocodie });
}

/** Formats a line of many. */
export function decodedLine(response: DecodedResponse): string {
  return LIST_COLUMNS.map((column) => column.value(response)).join('\t');
}

/** Further columns for a single code. */
function detailColumns(decoded: DecodedCode, { language }: Rules): readonly Column<DecodedResponse>[] {
  const { birthplace, omocodia, baseCode, otherBirthDate, warnings } = decoded;
  const today = birthplace.successor ?? birthplace.today;
  const shownWarnings = language === 'it' ? warnings.map((each) => messages.it.warnings[each]) : warnings;
  const isRenamed =
    today !== null && (today.name !== birthplace.name || today.province !== birthplace.province);
  return [
    { heading: 'PLACE-CODE', value: () => birthplace.codiceCatastale },
    ...(isRenamed ? [{ heading: 'PLACE-TODAY', value: () => `${today.name} (${today.province})` }] : []),
    ...(otherBirthDate === null ? [] : [{ heading: 'OR-BORN', value: () => otherBirthDate }]),
    ...(omocodia.level === 0
      ? []
      : [
          { heading: 'OMOCODIA', value: () => omocodia.level },
          { heading: 'BASE-CODE', value: () => baseCode },
        ]),
    ...(warnings.length === 0
      ? []
      : [{ heading: 'WARNINGS', value: () => shownWarnings.join(','), paint: 'warning' as const }]),
  ];
}

type Refused = { readonly code: string; readonly failure: CheckFailure; readonly rules: Rules };

/** The error with the code and its fault under it, only for the user who typed it. */
function invalidCode(terminal: Terminal, { code, failure, rules }: Refused): CliError {
  const texts = TEXTS[rules.language];
  const isSeen = terminal.io.stderr.isTTY === true;
  const cause = isSeen ? '' : `: ${failure.message}`;
  return new CliError(EXIT.negative, `${texts.invalidCode}${cause}`, {
    next: texts.compareWithCard,
    details: isSeen ? markedCode(code, failure.faults, rules.language) : [],
  });
}
