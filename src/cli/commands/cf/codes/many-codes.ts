import {
  CHECK_STATUS,
  type CheckFailure,
  createChecker,
  decode,
  messages,
  omocodie,
  translateFailure,
} from '../../../../fiscal/index.ts';
import { decodedResponse, validityResponse } from '../../../../people/fiscal-responses.ts';
import type { Rules } from '../../../../people/person-record.ts';
import type { Context } from '../../../framework/context.ts';
import { jsonLine, select } from '../../../terminal/output.ts';
import type { Result } from '../../../terminal/result.ts';
import type { Terminal } from '../../../terminal/terminal.ts';
import { type Batch, runBatch } from '../files/batch.ts';
import { type ByteLine, eachLine } from '../files/lines.ts';
import { refuseBinary, type StreamSource } from '../files/stream-source.ts';
import { rowFault } from '../people/faults.ts';
import { TEXTS } from '../texts.ts';
import { type CheckRules, type Verdict, verdictLine } from './check-codes.ts';
import { findCodeColumn, isCodeHeader, type ManyCodes } from './code-column.ts';
import { decodedLine } from './decode-codes.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const VALID_LINE_END = encode('\tvalid\t\n');
/** The end of the JSON of a valid code, which needs no escapes. */
const VALID_JSON_END = encode('","valid":true,"kind":"person","warnings":[]}\n');

/** Prints a verdict for each line, in order: the same three columns as for a few codes, or a JSON object. */
export function checkMany(
  context: Context,
  options: ManyCodes,
  { accept, ...rules }: CheckRules,
): Promise<Result> {
  const { terminal } = context;
  const { json } = terminal;
  const { checkReasons } = messages[rules.language];
  const { check, checkBytes } = createChecker(rules);
  return eachCode(context, options, (batch) => {
    const { out } = batch;
    const visitText = (code: string, line: number, input: () => string): void => {
      const checked = check(code);
      const result = checked.ok ? checked : translateFailure(checked, rules.language);
      const verdict = validityResponse(result, { withDetails: true, accept });
      out.text(`${formatLine(terminal, { code, line, verdict })}\n`);
      if (result.ok || verdict.valid) batch.countGood();
      else {
        const { reason, message } = result;
        batch.reportBad({ line, reason, message, labels: [`${reason}: ${checkReasons[reason]}`], input });
      }
    };
    // The fast path: nearly all codes of a real list are valid, and none of them becomes a string.
    const visitBytes = (line: ByteLine): void => {
      const { bytes, start, end, number } = line;
      const isPlain = checkBytes(bytes, start, end) === CHECK_STATUS.valid;
      if (!isPlain || Array.isArray(json)) {
        const code = readText(line);
        visitText(code, number, () => code);
        return;
      }
      const lineEnd = json === undefined ? VALID_LINE_END : VALID_JSON_END;
      if (json !== undefined) out.text(`{"line":${number},"cf":"`);
      out.bytes(bytes, start, end);
      out.bytes(lineEnd, 0, lineEnd.length);
      batch.countGood();
    };
    return { visitText, visitBytes };
  });
}

function formatLine(
  terminal: Terminal,
  { code, line, verdict }: Verdict & { readonly line: number },
): string {
  const { json } = terminal;
  if (json === undefined) return verdictLine({ code, verdict }, terminal);
  const response = { line, cf: code, ...verdict };
  return jsonLine(terminal, json === 'everything' ? response : select(response, json));
}

/** Prints a line for each valid code, in order: seven columns, or the response of the API. */
export function decodeMany(
  context: Context,
  options: ManyCodes & { readonly details: boolean },
  rules: Rules,
): Promise<Result> {
  const { json } = context.terminal;
  const { details: withDetails } = options;
  return lineForEach(context, options, (code) => {
    const decoded = decode(code, rules);
    if (!decoded.ok) return decoded;
    const response = decodedResponse(decoded, { withDetails });
    if (json === undefined) return decodedLine(response);
    return JSON.stringify(json === 'everything' ? response : select(response, json));
  });
}

/** Prints a line for each valid code, in order, with its 127 other forms. */
export function omocodieMany(context: Context, options: ManyCodes, rules: Rules): Promise<Result> {
  const { json } = context.terminal;
  return lineForEach(context, options, (code) => {
    const found = omocodie(code, rules);
    if (!found.ok) return found;
    return json === undefined ? found.omocodie.join('\t') : JSON.stringify(found.omocodie);
  });
}

function lineForEach(
  context: Context,
  options: ManyCodes,
  formatLine: (code: string) => string | CheckFailure,
): Promise<Result> {
  const { checkReasons, codeFault } = messages[options.language];
  return eachCode(context, options, (batch) => ({
    visitText: (code, line, input) => {
      const found = formatLine(code);
      if (typeof found === 'string') {
        batch.out.text(`${found}\n`);
        batch.countGood();
        return;
      }
      const { reason, faults } = found;
      const labels = [`${reason}: ${checkReasons[reason]}`];
      batch.reportBad({ line, reason, message: codeFault(faults[0]), labels, input });
    },
  }));
}

/** Maximum line. A code has 16 characters, so a longer line is not part of a list of codes. */
const MAX_LINE_BYTES = 64 * 1024;

export type CodeVisitor = {
  readonly visitText: (code: string, line: number, input: () => string) => void;
  /** When absent, every line is converted to text. */
  readonly visitBytes?: (line: ByteLine) => void;
};

/** Visits the codes of a stream, one per line or in a column of a table. */
function eachCode(
  context: Context,
  options: ManyCodes,
  makeVisitor: (batch: Batch) => CodeVisitor,
): Promise<Result> {
  const isTable = holdsTable(options);
  return runBatch(context, { ...options, linesAreCodes: !isTable }, async (batch, source) => {
    const visitor = makeVisitor(batch);
    if (isTable) await eachCell(context, batch, { ...options, source, visitor });
    else await eachCodeLine(batch, { source, visitor, language: options.language });
  });
}

/** Returns whether the input has columns, by the options or the file's name. */
function holdsTable({ column, sheet, append, file = '' }: ManyCodes): boolean {
  return column !== undefined || sheet !== undefined || append === true || /\.(?:csv|tsv|xlsx)$/i.test(file);
}

type CellsOptions = ManyCodes & { readonly source: StreamSource; readonly visitor: CodeVisitor };

async function eachCell(
  context: Context,
  batch: Batch,
  { source, visitor, ...options }: CellsOptions,
): Promise<void> {
  const { eachTableRow } = await import('../files/each-table-row.ts');
  await eachTableRow(context, batch, {
    ...options,
    source,
    isHeader: isCodeHeader(options.column),
    begin: async (head) => {
      const index = findCodeColumn(context, head, options);
      return ({ cells, line, raw, problem }) => {
        const input = (): string => raw;
        if (problem === undefined) visitor.visitText(cells[index] ?? '', line, input);
        else batch.reportBad({ ...rowFault(problem, options.language), line, input });
      };
    },
  });
}

type LinesOptions = Pick<CellsOptions, 'source' | 'visitor' | 'language'>;

async function eachCodeLine(batch: Batch, { source, visitor, language }: LinesOptions): Promise<void> {
  await eachLine(refuseBinary(source.chunks), MAX_LINE_BYTES, {
    visit:
      visitor.visitBytes ??
      ((line) => {
        const code = readText(line);
        visitor.visitText(code, line.number, () => code);
      }),
    visitTooLong: (line) =>
      batch.reportBad({
        line,
        reason: 'length',
        message: TEXTS[language].noLineEnd(MAX_LINE_BYTES),
        labels: [`length: ${messages[language].checkReasons.length}`],
        input: () => '',
      }),
    afterChunk: batch.pause,
  });
}

export function readText({ bytes, start, end }: ByteLine): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}
