import type { ExitCode } from '../errors/cli-error.ts';
import type { Palette } from './terminal.ts';

/** One value. An instant is relative on a terminal and RFC 3339 elsewhere; a duration likewise `10m` or seconds. */
export type Value =
  | string
  | number
  | boolean
  | undefined
  | { readonly instantMs: number }
  | { readonly seconds: number };

/** The value of an instant of the API: null while it has not come, absent where nothing is planned. */
export function instant(text: string | null | undefined): Value {
  return text == null ? undefined : { instantMs: Date.parse(text) };
}

export type Column<R> = {
  readonly heading: string;
  readonly value: (record: R) => Value;
  /** The colour on a terminal, as a meaning of the palette. */
  readonly paint?: keyof Palette | ((record: R) => keyof Palette | undefined);
  /** The text on a terminal, if it differs from the value's own. */
  readonly display?: (record: R) => string;
  /** On a terminal: cut after all others, because users copy it. The first column always is. */
  readonly isWhole?: boolean;
};

export type Cell = {
  readonly value: Value;
  readonly paint: keyof Palette | undefined;
  readonly display: string | undefined;
};

export type Row = {
  /** Identifies the record while its other fields change; --watch compares by it. */
  readonly key: string;
  /** The record of the API, for `--json a,b`. */
  readonly record: object;
  readonly cells: readonly Cell[];
};

type Common = {
  /** The exit code when it is not 0, for a negative result. */
  readonly exitCode?: ExitCode;
  /** Printed on stderr, only on a terminal: further information, and what to do next. */
  readonly notes?: readonly string[];
};

type Table = Common & {
  /** The API's response, for --json. */
  readonly response: unknown;
  readonly headings: readonly string[];
};

export type ListResult = Table & {
  readonly kind: 'list';
  readonly rows: readonly Row[];
  /** Printed on stderr when the list is empty. */
  readonly empty: string;
  /** For each column: see Column. */
  readonly areWhole: readonly boolean[];
  /** On a terminal: wide cells are wrapped and not cut. */
  readonly isWrapped?: boolean;
  /** Comma-separated with a header, on a terminal too. */
  readonly isCsv?: boolean;
};

export type RecordResult = Table & { readonly kind: 'record'; readonly row: Row };

/** Text for stdout unchanged, such as a token or a script. */
export type TextResult = Common & {
  readonly kind: 'text';
  readonly text: string;
  /** The API's response, for --json. */
  readonly response?: unknown;
  /** Set when the request may have changed something: a misspelt `--json` field must not hide the response. */
  readonly isAct?: boolean;
};

/** Success without data: the API responded with 204. */
export type DoneResult = Common & { readonly kind: 'done'; readonly message: string };

/** The command has printed its output itself. */
export type NothingResult = Common & { readonly kind: 'nothing' };

export type Result = ListResult | RecordResult | TextResult | DoneResult | NothingResult;

type ListOptions<R> = Common &
  Pick<ListResult, 'isWrapped' | 'isCsv'> & {
    readonly response: unknown;
    readonly columns: readonly Column<R>[];
    readonly records: readonly R[];
    readonly identify: (record: R) => string;
    readonly empty: string;
  };

export function list<R extends object>(options: ListOptions<R>): ListResult {
  const { columns, records, identify, ...rest } = options;
  return {
    ...rest,
    kind: 'list',
    headings: columns.map((column) => column.heading),
    areWhole: columns.map((column, index) => index === 0 || column.isWhole === true),
    rows: records.map((record) => toRow(record, columns, identify(record))),
  };
}

export function record<R extends object>(
  response: R,
  columns: readonly Column<R>[],
  rest: Common = {},
): RecordResult {
  const headings = columns.map((column) => column.heading);
  return { ...rest, kind: 'record', response, headings, row: toRow(response, columns, '') };
}

export function text(value: string, rest: Omit<TextResult, 'kind' | 'text'> = {}): TextResult {
  return { kind: 'text', text: value, ...rest };
}

export function done(message: string, rest: Common = {}): DoneResult {
  return { kind: 'done', message, ...rest };
}

export function nothing(rest: Common = {}): NothingResult {
  return { kind: 'nothing', ...rest };
}

function toRow<R extends object>(subject: R, columns: readonly Column<R>[], key: string): Row {
  const cells = columns.map((column) => ({
    value: column.value(subject),
    paint: typeof column.paint === 'function' ? column.paint(subject) : column.paint,
    display: column.display?.(subject),
  }));
  return { key, record: subject, cells };
}
