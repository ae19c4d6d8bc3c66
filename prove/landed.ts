import { type Figure, rangeInWords } from './part.ts';
import type { Result } from './run-part.ts';

/** A run of a part before the last one: what is kept of it for the spread. */
export type EarlierRun = {
  readonly endedAt: string;
  readonly load: Result['load'];
  /** The numbers by the names of their figures. */
  readonly values: Readonly<Record<string, number>>;
};

/** The last run of a part, and those before it on the same machine. */
export type Landed = Result & { readonly earlier?: readonly EarlierRun[] };

/** Runs of a part that its spread is taken from, the last one included. */
const MAX_RUNS = 5;

/** Puts a run in front of those that were landed. Runs on another machine are not comparable and are dropped. */
export function landRun(landed: Landed | undefined, result: Result): Landed {
  if (landed === undefined || landed.machine !== result.machine) return result;
  if (landed.endedAt === result.endedAt) return withEarlier(result, landed.earlier ?? []);
  return withEarlier(result, [toEarlier(landed), ...(landed.earlier ?? [])]);
}

function withEarlier(result: Result, earlier: readonly EarlierRun[]): Landed {
  return earlier.length === 0 ? result : { ...result, earlier: earlier.slice(0, MAX_RUNS - 1) };
}

function toEarlier({ endedAt, load, figures }: Result): EarlierRun {
  const values = figures.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
  return { endedAt, load, values: Object.fromEntries(values) };
}

/** The figures of the last run, each with the spread over the runs that have it, unless it has one of its own. */
export function figuresWithSpread({ figures, earlier = [] }: Landed): readonly Figure[] {
  return figures.map((figure) => {
    const { name, value, unit } = figure;
    if (figure.spread !== undefined || value === undefined) return figure;
    const before = earlier.flatMap(({ values }) => values[name] ?? []);
    return before.length === 0 ? figure : { ...figure, spread: rangeInWords([value, ...before], unit) };
  });
}
