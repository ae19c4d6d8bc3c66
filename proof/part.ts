/** docs/proof.md contains results of the long form. The short form runs in a few seconds, with the tests. */
export type Form = 'long' | 'short';

/** One line of the table: a measured value, and its bound if the part makes a claim about it. */
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
};

export type Findings = {
  readonly figures: readonly Figure[];
  /** Versions of the third-party programs that took part. */
  readonly versions?: Readonly<Record<string, string>>;
  /** Remarks about the figures, in whole sentences. */
  readonly notes?: readonly string[];
};

export type ProofContext = {
  readonly form: Form;
  /** Reports progress. */
  readonly report: (line: string) => void;
  /** Registers something to end with the part. The last one is ended first. */
  readonly cleanUp: (close: () => unknown) => void;
};

/** A claim about the service, and the attack on it. An entry in `parts.ts` adds it to the run and to the document. */
export type ProofPart = {
  readonly name: string;
  readonly title: string;
  readonly claim: string;
  /** Describes the attack, in paragraphs of Markdown. */
  readonly attack: readonly string[];
  /** Defects of the service that this attack or an earlier form of it found, in whole sentences, with the commits that mended them. */
  readonly found?: readonly string[];
  readonly notClaimed: readonly string[];
  readonly run: (context: ProofContext) => Promise<Findings>;
};

export function exactly(name: string, measured: number, expected: number): Figure {
  return { ...observed(name, measured), bound: inWords(expected), holds: measured === expected };
}

/** `unit` follows the numbers, for example ` ms`. */
export type BoundedFigure = {
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
