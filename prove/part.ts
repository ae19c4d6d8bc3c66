/** The long form is what docs/proof.md holds; the short one runs in a few seconds, with the tests. */
export type Form = 'long' | 'short';

/** One line of the table: what was measured, and what it had to be where something was claimed. */
export type Figure = {
  readonly name: string;
  readonly measured: string;
  /** The number in `measured` and what follows it: several runs of a part are compared by them. */
  readonly value?: number;
  readonly unit?: string;
  /** The lowest and the highest sample of this run. Without it the spread over several runs is shown. */
  readonly spread?: string;
  readonly bound?: string;
  /** Absent where nothing is claimed: the figure is for reading. */
  readonly holds?: boolean;
};

export type Findings = {
  readonly figures: readonly Figure[];
  /** Programs of others that took part, with their versions. */
  readonly versions?: Readonly<Record<string, string>>;
  /** What the figures do not say, in whole sentences. */
  readonly notes?: readonly string[];
};

export type ProofContext = {
  readonly form: Form;
  /** Reports progress. */
  readonly say: (line: string) => void;
  /** Registers what has to be ended with the part, in the reverse order. */
  readonly cleanUp: (close: () => unknown) => void;
};

/** A claim about the service, and the attack on it. Adding one to `parts.ts` puts it into the run and the document. */
export type ProofPart = {
  readonly name: string;
  readonly title: string;
  readonly claim: string;
  /** How the claim was attacked: paragraphs of Markdown. */
  readonly attack: readonly string[];
  /** Defects of the service that this attack or an earlier form of it found, in whole sentences, with the commits that mended them. */
  readonly found?: readonly string[];
  readonly notClaimed: readonly string[];
  readonly run: (context: ProofContext) => Promise<Findings>;
};

export function exactly(name: string, measured: number, expected: number): Figure {
  return { ...observed(name, measured), bound: inWords(expected), holds: measured === expected };
}

/** `unit` follows the numbers, such as ` ms`. */
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

/** A figure without a claim. */
export function observed(name: string, measured: number, unit = ''): Figure {
  const figure = { name, measured: inWords(measured, unit), value: measured };
  return unit === '' ? figure : { ...figure, unit };
}

/** As the tables show a number. */
function inWords(value: number, unit = ''): string {
  return `${numberText(value)}${unit}`;
}

/** The lowest to the highest of some numbers. */
export function rangeInWords(values: readonly number[], unit = ''): string {
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  return lowest === highest ? 'none' : `${numberText(lowest)} to ${inWords(highest, unit)}`;
}

function numberText(value: number): string {
  const digits = Number.isInteger(value) || Math.abs(value) >= 100 ? 0 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: 0, maximumFractionDigits: digits });
}
