/** One line of the table: a measured value, and its bound if the experiment makes a claim about it. */
export type Figure = {
  readonly name: string;
  readonly measured: string;
  /** The number in `measured`. Runs are compared by it. */
  readonly value?: number;
  readonly unit?: string;
  /** The lowest and the highest sample of this run. If absent, the table shows the spread over several runs. */
  readonly spread?: string;
  readonly bound?: string;
  /** Whether the claim holds. Absent if nothing is claimed. */
  readonly holds?: boolean;
  /** A goal that is aimed at and not claimed, and whether it is reached. */
  readonly goal?: string;
  readonly isReached?: boolean;
};

export type Figures = readonly Figure[];

export function exactly(name: string, measured: number, expected: number): Figure {
  return { ...observed(name, measured), bound: inWords(expected), holds: measured === expected };
}

/** Claims that none of the items is so. */
export function none<Item>(name: string, items: readonly Item[], isSo: (item: Item) => boolean): Figure {
  return exactly(name, items.filter(isSo).length, 0);
}

/** `unit` follows the numbers, for example ` ms`. */
type BoundedFigure = {
  readonly name: string;
  readonly measured: number;
  readonly bound: number;
  readonly unit?: string;
};

export function atMost({ name, measured, bound, unit = '' }: BoundedFigure): Figure {
  const figure = observed(name, measured, unit);
  return { ...figure, bound: `at most ${inWords(bound, unit)}`, holds: measured <= bound };
}

export function atLeast({ name, measured, bound, unit = '' }: BoundedFigure): Figure {
  const figure = observed(name, measured, unit);
  return { ...figure, bound: `at least ${inWords(bound, unit)}`, holds: measured >= bound };
}

/** Returns a figure with a goal, which the pages show as reached or not beside the claims, and never as one. */
export function aimedAt({ name, measured, bound, unit = '' }: BoundedFigure): Figure {
  const goal = `at least ${inWords(bound, unit)}`;
  return { ...observed(name, measured, unit), goal, isReached: measured >= bound };
}

/** Returns the figures with the name of what they are about in front of their own names. */
export function named(name: string, figures: Figures): Figures {
  return figures.map((figure) => ({ ...figure, name: `${name}: ${figure.name}` }));
}

/** Returns a figure without a claim. */
export function observed(name: string, measured: number, unit = ''): Figure {
  const figure = { name, measured: inWords(measured, unit), value: measured };
  return unit === '' ? figure : { ...figure, unit };
}

/** Formats a number for the tables and the texts. */
export function inWords(value: number, unit = ''): string {
  return `${numberText(value)}${unit}`;
}

/** Formats the range from the lowest to the highest number. */
export function rangeInWords(values: readonly number[], unit = ''): string {
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  return lowest === highest ? 'none' : `${numberText(lowest)} to ${inWords(highest, unit)}`;
}

function numberText(value: number): string {
  const digits = Number.isInteger(value) || Math.abs(value) >= 100 ? 0 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: 0, maximumFractionDigits: digits });
}
