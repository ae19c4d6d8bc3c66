import { isUtf8 } from 'node:buffer';
import type { PersonRecord, Rules } from '../../../../people/person-record.ts';
import type { Context } from '../../../framework/context.ts';
import type { Result } from '../../../terminal/result.ts';
import { readText } from '../codes/many-codes.ts';
import { type Batch, runBatch } from '../files/batch.ts';
import { eachLine } from '../files/lines.ts';
import { refuseBinary, type StreamSource } from '../files/stream-source.ts';
import { TEXTS } from '../texts.ts';
import { rowFault } from './faults.ts';
import type { Purpose } from './people-table.ts';
import { chooseFormat, MAX_PERSON_BYTES, type PeopleInput, recordOfText } from './person-input.ts';

export type Where = { readonly line: number; readonly input: () => string };
export type VisitPerson = (batch: Batch, record: PersonRecord, where: Where) => void;

/** Visits the people of a table or of JSON lines, in order. */
export function eachPerson(
  context: Context,
  { rules, purpose, ...input }: PeopleInput & { readonly rules: Rules; readonly purpose: Purpose },
  visit: VisitPerson,
): Promise<Result> {
  return runBatch(context, input, (batch, source) =>
    chooseFormat(input) === 'table'
      ? eachTablePerson(context, batch, { ...input, rules, purpose, source, visit })
      : eachJsonPerson(batch, { ...input, rules, purpose, source, visit }),
  );
}

type PeopleOptions = PeopleInput & {
  readonly rules: Rules;
  readonly purpose: Purpose;
  readonly source: StreamSource;
  readonly visit: VisitPerson;
};

async function eachTablePerson(context: Context, batch: Batch, options: PeopleOptions): Promise<void> {
  const { eachTableRow } = await import('../files/each-table-row.ts');
  const { createHeaderTest, readPeople } = await import('./people-table.ts');
  await eachTableRow(context, batch, {
    ...options,
    isHeader: createHeaderTest(options.purpose),
    begin: async (head) => {
      const readRecord = readPeople(context, head, { ...options.rules, purpose: options.purpose });
      return (row) => {
        const { line, raw, problem } = row;
        const input = (): string => raw;
        if (problem === undefined) options.visit(batch, readRecord(row), { line, input });
        else batch.reportBad({ ...rowFault(problem, options.language), line, input });
      };
    },
  });
}

async function eachJsonPerson(batch: Batch, { source, visit, language }: PeopleOptions): Promise<void> {
  const { noJsonObject, notUtf8, noLineEnd } = TEXTS[language];
  await eachLine(refuseBinary(source.chunks), MAX_PERSON_BYTES, {
    visit: (line) => {
      const lineText = readText(line);
      const where = { line: line.number, input: () => lineText };
      // Decoded, its name would be another one, and its code too.
      if (!isUtf8(line.bytes.subarray(line.start, line.end))) {
        batch.reportBad({ ...where, reason: 'encoding', message: notUtf8, labels: [`encoding: ${notUtf8}`] });
        return;
      }
      const record = recordOfText(lineText);
      if (record !== undefined) visit(batch, record, where);
      else
        batch.reportBad({
          ...where,
          reason: 'json',
          message: noJsonObject,
          labels: [`json: ${noJsonObject}`],
        });
    },
    visitTooLong: (line) =>
      batch.reportBad({
        line,
        reason: 'json',
        message: noLineEnd(MAX_PERSON_BYTES),
        labels: [`json: ${noJsonObject}`],
        input: () => '',
      }),
    afterChunk: batch.pause,
  });
}
