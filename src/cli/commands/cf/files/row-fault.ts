import type { Language } from '../../../../fiscal/index.ts';
import type { RowProblem } from '../../../../people/row.ts';
import { TEXTS } from '../texts.ts';

/** What is wrong with a row, as a run over many reports it. */
export type RowFault = {
  /** A code, or the fields. */
  readonly reason: string;
  readonly message: string;
  /** What is counted in the report at the end: one for each thing that is wrong. */
  readonly labels: readonly string[];
};

/** Of a row that could not be read. */
export function rowFault(problem: RowProblem, language: Language): RowFault {
  const { rowProblems, brokenRow } = TEXTS[language];
  return { reason: 'csv', message: rowProblems[problem], labels: [brokenRow] };
}
