import { messages } from '../../../fiscal/index.ts';
import { createRowReader, findColumns, missingFields } from '../../../people/columns.ts';
import { createCsvReader, csvLine, decodeTable, guessDelimiter, type Row } from '../../../people/csv-rows.ts';
import { todayInItaly } from '../../../people/fiscal-responses.ts';
import { generateFrom } from '../../../people/person-record.ts';
import { PERSON_TEXTS } from '../../../people/person-texts.ts';
import type { BatchMessage, BatchSummary } from './batch-messages.ts';
import { READER_LANGUAGE, say } from './reader-language.ts';

/* Runs in a worker, so that the page stays responsive. Receives a file, and posts messages about its rows. */

const tell = (message: BatchMessage): void => postMessage(message);

addEventListener('message', async ({ data }: MessageEvent<File>): Promise<void> => {
  try {
    const text = decodeTable(new Uint8Array(await data.arrayBuffer()));
    const { summary, csv } = appendCodes(text, {
      asOf: todayInItaly(Date.now()),
      language: READER_LANGUAGE,
      onProgress: (rows) => tell({ kind: 'progress', rows }),
    });
    tell({ kind: 'done', summary, csv: new Blob([...csv], { type: 'text/csv' }) });
  } catch (error) {
    tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
  }
});

/** The columns that are added to the columns of the file, as `rtc cf generate --append` does. */
const ADDED = ['codice_fiscale', 'place', 'warning', 'reason'] as const;

const ROWS_PER_MESSAGE = 2_000;

const MOST_SHOWN = 100;

/** Characters of the file from which the delimiter is guessed. */
const BEGINNING = 64 * 1024;

type Options = {
  readonly asOf: string;
  /** The language of the reasons and warnings. */
  readonly language: keyof typeof messages;
  readonly onProgress: (rows: number) => void;
};

type Appended = { readonly summary: BatchSummary; readonly csv: readonly string[] };

/**
 * Adds to every row of the file, in order, its code or the reason without one.
 * @throws Error when the first row does not name the columns of a person
 */
export function appendCodes(text: string, { asOf, language, onProgress }: Options): Appended {
  const delimiter = guessDelimiter(text.slice(0, BEGINNING));
  const reader = createCsvReader(delimiter);
  const [header, ...rows] = [...reader.push(text), ...reader.end()];
  const names = header?.cells ?? [];
  const columns = findColumns(names);
  const missing = missingFields(columns);
  if (missing.length > 0) {
    const { fields } = PERSON_TEXTS[language];
    const shown = missing.map((field) => fields[field] ?? field).join(', ');
    throw new Error(`${say('The first row names no column for')} ${shown}`);
  }
  const readRecord = createRowReader(columns);
  const rules = { asOf, strict: false, century: undefined, language, suggest: false } as const;
  const describeRow = (row: Row): readonly [code: string, place: string, warning: string, reason: string] => {
    if (row.problem !== undefined) return ['', '', '', say('the row is no CSV: look at its quotes')];
    const made = generateFrom(readRecord(row.cells), rules);
    if (!made.ok)
      return [
        '',
        '',
        '',
        Object.values(made.errors)
          .map(({ message }) => message)
          .join('; '),
      ];
    const warnings = made.warnings.map((warning) => messages[language].warnings[warning]).join('; ');
    return [made.cf, made.place.name, warnings, ''];
  };
  const csv = [csvLine([...names, ...ADDED], delimiter)];
  const firstBad: { row: number; reason: string }[] = [];
  let bad = 0;
  for (const [index, row] of rows.entries()) {
    const added = describeRow(row);
    const padding = new Array<string>(Math.max(0, names.length - row.cells.length)).fill('');
    csv.push(csvLine([...row.cells, ...padding, ...added], delimiter));
    const reason = added[3];
    if (reason !== '') {
      bad += 1;
      if (firstBad.length < MOST_SHOWN) firstBad.push({ row: row.line, reason });
    }
    if ((index + 1) % ROWS_PER_MESSAGE === 0) onProgress(index + 1);
  }
  return { summary: { rows: rows.length, bad, firstBad }, csv };
}
