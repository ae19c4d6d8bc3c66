import type { Context } from '../../framework/context.ts';
import type { Result } from '../../terminal/result.ts';
import { runBatch } from './batch.ts';
import { csvLine, eachRow } from './csv-rows.ts';
import { type GenerateInput, readHeader } from './generate.ts';
import { generateFrom, type RecordField } from './person-record.ts';
import type { Rules } from './rules.ts';

/** The columns that --append adds to those of the input. */
const ADDED = ['codice_fiscale', 'place', 'warning', 'reason'] as const;

/** Every row of the input, in order, with its code or why there is none: nothing is lost. */
export function appendCodes(context: Context, input: GenerateInput, rules: Rules): Promise<Result> {
  return runBatch(context, input, async (batch, source) => {
    let fields: readonly (RecordField | undefined)[] = [];
    let delimiter = ',';
    let width = 0;
    const write = (cells: readonly string[], added: readonly string[]): void => {
      const missing = new Array<string>(Math.max(0, width - cells.length)).fill('');
      batch.out.text(csvLine([...cells, ...missing, ...added], delimiter));
    };
    await eachRow(source.chunks, input.delimiter, {
      header: (names, separator) => {
        fields = readHeader(names);
        delimiter = separator;
        width = names.length;
        write(names, ADDED);
      },
      visit: ({ cells, line, input: rowText }) => {
        const record: { [Field in RecordField]?: string } = {};
        fields.forEach((field, index) => {
          if (field !== undefined) record[field] = cells[index] ?? '';
        });
        const generated = generateFrom(record, { ...rules, suggest: false });
        if (generated.ok) {
          write(cells, [generated.cf, generated.place.name, generated.warnings.join(' '), '']);
          batch.countGood();
          return;
        }
        const message = Object.values(generated.errors).join('; ');
        write(cells, ['', '', '', message]);
        batch.reportBad({ line, reason: Object.keys(generated.errors).join(','), message, input: rowText });
      },
      visitBroken: (line, message, rowText) => {
        write([rowText], ['', '', '', message]);
        batch.reportBad({ line, reason: 'csv', message, input: () => rowText });
      },
      afterRows: batch.pause,
    });
  });
}
