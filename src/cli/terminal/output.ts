import { formatDuration } from '../../contract/amounts.ts';
import { readMembers } from '../../contract/unknown-value.ts';
import { bilingualError } from '../errors/cli-error.ts';
import type { Cell, ListResult, RecordResult, Result, Row, TextResult, Value } from './result.ts';
import {
  escapeCell,
  escapeForTerminal,
  escapeJsonForTerminal,
  escapeLinesForTerminal,
  type JsonChoice,
  printHint,
  printStatus,
  type Terminal,
} from './terminal.ts';
import { formatInstant, formatRelative, formatShortAge } from './time.ts';

/**
 * The only place where a result becomes text: JSON on request, an aligned table on a terminal, tab-separated lines
 * elsewhere. Only results are written to stdout; everything else to stderr.
 */
export async function printResult(terminal: Terminal, result: Result): Promise<void> {
  switch (result.kind) {
    case 'list':
      await printList(terminal, result);
      break;
    case 'record':
      await printRecord(terminal, result);
      break;
    case 'text':
      printText(terminal, result);
      break;
    case 'done':
      if (terminal.json === undefined) printStatus(terminal, result.message);
      break;
    case 'nothing':
      break;
  }
  if (terminal.json === undefined) for (const note of result.notes ?? []) printHint(terminal, note);
}

/** Up to this width a list has the short form of ages, which leaves the columns to names. */
const NARROW = 100;

/** Returns the lines of a list without printing them, because --watch redraws them. */
export async function renderList(terminal: Terminal, result: ListResult): Promise<string> {
  if (!terminal.isTerminal) return result.rows.map((row) => `${tabSeparated(terminal, row)}\n`).join('');
  const { keepsWhole, renderTable } = await import('./table.ts');
  const { width } = terminal;
  const heads = result.headings.map((heading) => terminal.palette.heading(heading));
  const formatAge = width !== undefined && width <= NARROW ? formatShortAge : formatRelative;
  const rows = result.rows.map((row) => formatCells(terminal, row, formatAge));
  const layout = { width, areWhole: result.areWhole, isWrapped: result.isWrapped === true };
  if (layout.isWrapped || keepsWhole([heads, ...rows], layout)) return renderTable([heads, ...rows], layout);
  // One field per line, because a name that is cut can neither be distinguished from another one nor copied.
  const records = rows.map((cells) =>
    renderTable(
      heads.map((head, index) => [head, cells[index] ?? '']),
      { width, areWhole: [true, false], isWrapped: true },
    ),
  );
  return records.join('\n');
}

/** @throws CliError (usage) for an unknown field, with the known ones */
export function checkFields(json: JsonChoice, known: readonly string[]): void {
  if (json === undefined || json === 'everything') return;
  const unknown = json.filter((field) => !known.includes(field));
  if (unknown.length === 0) return;
  const names = unknown.map(quote).join(', ');
  throw bilingualError(
    [
      `--json has the unknown ${unknown.length === 1 ? 'field' : 'fields'} ${names}`,
      known.length === 0
        ? 'it has no fields to choose of: --json alone'
        : `known fields: ${known.join(', ')}`,
    ],
    [
      `--json: ${unknown.length === 1 ? 'campo sconosciuto' : 'campi sconosciuti'} ${names}`,
      known.length === 0 ? 'non ci sono campi da scegliere: solo --json' : `campi noti: ${known.join(', ')}`,
    ],
  );
}

/** Prints one JSON value on stdout: indented on a terminal, on one line elsewhere. */
function printJson(terminal: Terminal, value: unknown): void {
  if (value === undefined) return;
  const json = terminal.isTerminal
    ? escapeJsonForTerminal(JSON.stringify(value, undefined, 2))
    : JSON.stringify(value);
  terminal.io.stdout.write(`${json}\n`);
}

/** Returns one JSON value on one line, as streams print it. */
export function jsonLine({ isTerminal }: Terminal, value: unknown): string {
  const json = JSON.stringify(value);
  return isTerminal ? escapeJsonForTerminal(json) : json;
}

async function printList(terminal: Terminal, result: ListResult): Promise<void> {
  if (terminal.json !== undefined) {
    printJson(terminal, selectAll(terminal.json, result));
    return;
  }
  if (result.isCsv === true) {
    const { renderCsv } = await import('./csv.ts');
    terminal.io.stdout.write(renderCsv(result));
    return;
  }
  if (result.rows.length === 0) {
    printStatus(terminal, result.empty);
    return;
  }
  terminal.io.stdout.write(await renderList(terminal, result));
}

async function printRecord(terminal: Terminal, result: RecordResult): Promise<void> {
  if (terminal.json !== undefined) {
    const { json } = terminal;
    printJson(terminal, json === 'everything' ? result.response : select(result.row.record, json));
    return;
  }
  if (!terminal.isTerminal) {
    const lines = result.row.cells.map((cell, index) => {
      return `${terminal.palette.heading(escapeCell(result.headings[index] ?? ''))}\t${paintedCell(terminal, cell)}\n`;
    });
    terminal.io.stdout.write(lines.join(''));
    return;
  }
  const { renderTable } = await import('./table.ts');
  const cells = formatCells(terminal, result.row, formatRelative);
  const rows = result.headings.map((heading, index) => [
    terminal.palette.heading(heading),
    cells[index] ?? '',
  ]);
  terminal.io.stdout.write(renderTable(rows, { width: undefined, areWhole: [], isWrapped: false }));
}

function printText(terminal: Terminal, result: TextResult): void {
  if (terminal.json !== undefined && result.response !== undefined) {
    printJson(
      terminal,
      terminal.json === 'everything' ? result.response : selectAny(result.response, terminal.json),
    );
    return;
  }
  const shown = terminal.isTerminal ? escapeLinesForTerminal(result.text) : result.text;
  terminal.io.stdout.write(shown.endsWith('\n') ? shown : `${shown}\n`);
}

/** Selects the fields of a record, or of each record of an array. */
function selectAny(response: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(response)) return response.map((each) => selectAny(each, fields));
  return isObject(response) ? select(response, fields) : response;
}

/**
 * Returns the response with the chosen fields of each record: `{"rooms": [{"name": …}], …}` is `{"rooms": […]}` with and
 * without fields. A response that is a list itself stays one.
 */
function selectAll(json: Exclude<JsonChoice, undefined>, { response, rows }: ListResult): unknown {
  if (json === 'everything') return response;
  const chosen = rows.map((row) => select(row.record, json));
  if (!isObject(response) || Array.isArray(response)) return chosen;
  const list = Object.entries(response).find(([, value]) => Array.isArray(value));
  return list === undefined ? chosen : { ...response, [list[0]]: chosen };
}

/** Returns the fields of a response whose shape is not known beforehand. */
export function listFields(response: unknown): readonly string[] {
  const records: readonly unknown[] = Array.isArray(response) ? response : [response];
  return [...new Set(records.flatMap((each) => (isObject(each) ? Object.keys(each) : [])))];
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

export function select(subject: object, fields: readonly string[]): Record<string, unknown> {
  const members = readMembers(subject);
  return Object.fromEntries(fields.map((field) => [field, members[field] ?? null]));
}

function tabSeparated(terminal: Terminal, row: Row): string {
  return row.cells.map((cell) => paintedCell(terminal, cell)).join('\t');
}

/** Without a terminal there are no colours unless FORCE_COLOR is set. */
function paintedCell({ palette }: Terminal, cell: Cell): string {
  const text = escapeCell(plainText(cell.value));
  return cell.paint === undefined || text === '' ? text : palette[cell.paint](text);
}

type FormatAge = (atMs: number, nowMs: number) => string;

function formatCells(terminal: Terminal, row: Row, formatAge: FormatAge): string[] {
  const nowMs = terminal.io.clock();
  return row.cells.map((cell) => {
    const shown = escapeForTerminal(display(cell, (atMs) => formatAge(atMs, nowMs)));
    if (shown === '') return terminal.palette.faint('-');
    return cell.paint === undefined ? shown : terminal.palette[cell.paint](shown);
  });
}

function display(cell: Cell, formatAge: (atMs: number) => string): string {
  const { value } = cell;
  if (cell.display !== undefined) return cell.display;
  if (typeof value === 'object') {
    return 'seconds' in value ? formatDuration(value.seconds) : formatAge(value.instantMs);
  }
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return plainText(value);
}

function quote(text: string): string {
  return JSON.stringify(text);
}

/** Formats a value for programs: an instant in RFC 3339, a duration in seconds. */
export function plainText(value: Value): string {
  if (value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  return 'seconds' in value ? String(value.seconds) : formatInstant(value.instantMs);
}
