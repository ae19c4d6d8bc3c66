import { usageError } from '../errors/cli-error.ts';
import { escapeCell, harmless, harmlessJson, harmlessLines } from './escape-for-terminal.ts';
import type { Cell, ListResult, RecordResult, Result, Row, TextResult, Value } from './result.ts';
import { hint, type JsonChoice, type Screen, say } from './terminal.ts';
import { formatDuration, formatInstant, formatRelative } from './time.ts';

/**
 * The only place where a result becomes text: JSON when asked for, an aligned table on a terminal, tab-separated
 * lines elsewhere. Only results go to stdout; the rest goes to stderr.
 */
export async function printResult(screen: Screen, result: Result): Promise<void> {
  switch (result.kind) {
    case 'list':
      await printList(screen, result);
      break;
    case 'record':
      await printRecord(screen, result);
      break;
    case 'text':
      printText(screen, result);
      break;
    case 'done':
      if (screen.json === undefined) say(screen, result.message);
      break;
    case 'nothing':
      break;
  }
  if (screen.json === undefined) for (const note of result.notes ?? []) hint(screen, note);
}

/** The lines of a list, without printing them: --watch redraws them. */
export async function renderList(screen: Screen, result: ListResult): Promise<string> {
  if (!screen.isTerminal) return result.rows.map((row) => `${tabSeparated(row)}\n`).join('');
  const { renderTable } = await import('./table.ts');
  const heads = result.headings.map((heading) => screen.palette.heading(heading));
  return renderTable([heads, ...result.rows.map((row) => displayed(screen, row))], {
    width: screen.width,
    areWhole: result.areWhole,
    isWrapped: result.isWrapped === true,
  });
}

/** Refuses an unknown field before anything is sent, naming the known ones. */
export function checkFields(json: JsonChoice, known: readonly string[]): void {
  if (json === undefined || json === 'everything') return;
  const unknown = json.filter((field) => !known.includes(field));
  if (unknown.length === 0) return;
  throw usageError(
    `--json has the unknown ${unknown.length === 1 ? 'field' : 'fields'} ${unknown.map(quoted).join(', ')}`,
    known.length === 0 ? 'it has no fields to choose of: --json alone' : `known fields: ${known.join(', ')}`,
  );
}

/** One JSON value on stdout: indented for a human, on one line for a program. */
function printJson(screen: Screen, value: unknown): void {
  if (value === undefined) return;
  const json = screen.isTerminal ? harmlessJson(JSON.stringify(value, undefined, 2)) : JSON.stringify(value);
  screen.io.stdout.write(`${json}\n`);
}

/** One JSON value on one line, as streams print them. */
export function jsonLine({ isTerminal }: Screen, value: unknown): string {
  const json = JSON.stringify(value);
  return isTerminal ? harmlessJson(json) : json;
}

async function printList(screen: Screen, result: ListResult): Promise<void> {
  if (screen.json !== undefined) {
    printJson(screen, selectAll(screen.json, result));
    return;
  }
  if (result.rows.length === 0) {
    say(screen, result.empty);
    return;
  }
  screen.io.stdout.write(await renderList(screen, result));
}

async function printRecord(screen: Screen, result: RecordResult): Promise<void> {
  if (screen.json !== undefined) {
    const { json } = screen;
    checkFields(json, knownFields(result.fields, [result.row]));
    printJson(screen, json === 'everything' ? result.answer : select(result.row.record, json));
    return;
  }
  if (!screen.isTerminal) {
    const lines = result.row.cells.map((cell, index) => {
      return `${escapeCell(result.headings[index] ?? '')}\t${escapeCell(plain(cell.value))}\n`;
    });
    screen.io.stdout.write(lines.join(''));
    return;
  }
  const { renderTable } = await import('./table.ts');
  const cells = displayed(screen, result.row);
  const rows = result.headings.map((heading, index) => [screen.palette.heading(heading), cells[index] ?? '']);
  screen.io.stdout.write(renderTable(rows, { width: undefined, areWhole: [], isWrapped: false }));
}

function printText(screen: Screen, result: TextResult): void {
  checkFields(screen.json, result.fields ?? []);
  if (screen.json !== undefined && result.answer !== undefined) {
    printJson(screen, screen.json === 'everything' ? result.answer : selectAny(result.answer, screen.json));
    return;
  }
  const shown = screen.isTerminal ? harmlessLines(result.text) : result.text;
  screen.io.stdout.write(shown.endsWith('\n') ? shown : `${shown}\n`);
}

/** Of each record of an array. */
function selectAny(answer: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(answer)) return answer.map((each) => selectAny(each, fields));
  return typeof answer === 'object' && answer !== null ? select(answer, fields) : answer;
}

function selectAll(json: Exclude<JsonChoice, undefined>, result: ListResult): unknown {
  checkFields(json, knownFields(result.fields, result.rows));
  return json === 'everything' ? result.answer : result.rows.map((row) => select(row.record, json));
}

/** Declared fields, and those that a newer service sends. */
function knownFields(declared: readonly string[], rows: readonly Row[]): readonly string[] {
  return [...new Set([...declared, ...rows.flatMap((row) => Object.keys(row.record))])];
}

export function select(subject: object, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    fields.map((field) => [field, (subject as Record<string, unknown>)[field] ?? null]),
  );
}

function tabSeparated(row: Row): string {
  return row.cells.map((cell) => escapeCell(plain(cell.value))).join('\t');
}

function displayed(screen: Screen, row: Row): string[] {
  return row.cells.map((cell) => {
    const shown = harmless(display(cell, screen.io.clock()));
    if (shown === '') return screen.palette.faint('-');
    return cell.paint === undefined ? shown : screen.palette[cell.paint](shown);
  });
}

function display(cell: Cell, nowMs: number): string {
  const { value } = cell;
  if (cell.display !== undefined) return cell.display;
  if (typeof value === 'object') {
    return 'seconds' in value ? formatDuration(value.seconds) : formatRelative(value.instantMs, nowMs);
  }
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return plain(value);
}

function plain(value: Value): string {
  if (value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  return 'seconds' in value ? String(value.seconds) : formatInstant(value.instantMs);
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
