import type { Language } from '../../../../fiscal/index.ts';
import type { RowProblem } from '../../../../people/row.ts';
import { TEXTS } from '../texts.ts';

/** The error of a row, as a run over many rows reports it. */
export type RowFault = {
  /** The reason of a code, or the wrong fields. */
  readonly reason: string;
  readonly message: string;
  /** Labels that the report at the end counts, one for each error. */
  readonly labels: readonly string[];
};

/** Returns the error of a row that could not be read. */
export function rowFault(problem: RowProblem, language: Language): RowFault {
  const { rowProblems, brokenRow } = TEXTS[language];
  return { reason: 'csv', message: rowProblems[problem], labels: [brokenRow] };
}
