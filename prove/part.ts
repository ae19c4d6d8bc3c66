/** The long form is what docs/proof.md holds; the short one runs in a few seconds, with the tests. */
export type Form = 'long' | 'short';

/** One line of the table: what was measured, and what it had to be where something was claimed. */
export type Figure = {
  readonly name: string;
  readonly measured: string;
  /** The lowest and the highest of several rounds. */
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
  readonly notClaimed: readonly string[];
  readonly run: (context: ProofContext) => Promise<Findings>;
};

export function exactly(name: string, measured: number, expected: number): Figure {
  return { name, measured: text(measured), bound: text(expected), holds: measured === expected };
}

/** `unit` follows the numbers, such as ` ms`. */
export type BoundedFigure = {
  readonly name: string;
  readonly measured: number;
  readonly bound: number;
  readonly unit?: string;
};

export function atMost({ name, measured, bound, unit = '' }: BoundedFigure): Figure {
  const words = { measured: `${text(measured)}${unit}`, bound: `at most ${text(bound)}${unit}` };
  return { name, ...words, holds: measured <= bound };
}

export function atLeast({ name, measured, bound, unit = '' }: BoundedFigure): Figure {
  const words = { measured: `${text(measured)}${unit}`, bound: `at least ${text(bound)}${unit}` };
  return { name, ...words, holds: measured >= bound };
}

/** A figure without a claim. */
export function observed(name: string, measured: number, unit = ''): Figure {
  return { name, measured: `${text(measured)}${unit}` };
}

function text(value: number): string {
  const digits = Number.isInteger(value) || Math.abs(value) >= 100 ? 0 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: 0, maximumFractionDigits: digits });
}
