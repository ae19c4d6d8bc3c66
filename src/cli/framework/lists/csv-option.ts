import { usageError } from '../../errors/cli-error.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { flag } from '../parameters.ts';

/** The option of lists that are read in a spreadsheet: `list({ isCsv })` writes them. */
export const CSV = flag('--csv', 'comma-separated, with a header, for a spreadsheet');

/** Call it first where --csv was given: it throws a usage error where JSON is asked for too. */
export function refuseCsvWithJson({ json }: Terminal): void {
  if (json === undefined) return;
  throw usageError('--csv and --json exclude each other', 'leave out one of them');
}
