import { usageError } from '../../errors/cli-error.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { flag } from '../parameters.ts';

/** The option of lists that are read in a spreadsheet: `list({ isCsv })` writes them. */
export const CSV = flag('--csv', 'comma-separated, with a header, for a spreadsheet');

/** Must be called first with --csv: it throws a usage error when JSON is requested too. */
export function refuseCsvWithJson({ json }: Terminal): void {
  if (json === undefined) return;
  throw usageError('--csv and --json exclude each other', 'leave out one of them');
}
