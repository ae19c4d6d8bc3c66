import { type CheckWarning, check } from './check.ts';
import type { CheckFailure } from './check-failure.ts';
import type { CheckOptions, CheckReason } from './check-status.ts';

/**
 * The owner of a tax code: a person (16 characters); a person with a provisional code; the holder of a VAT number, which is
 * also the code of most organisations; or an organisation without a VAT number (11 digits each).
 */
export type TaxCodeKind = 'person' | 'provisional' | 'vat' | 'organisation';

export type TaxCodeResult =
  | { readonly ok: true; readonly kind: TaxCodeKind; readonly warnings: readonly CheckWarning[] }
  | CheckFailure;

/**
 * Checks any Italian tax code by its own check digit: codes of persons like `check`, and codes of eleven digits. @throws
 * TypeError only for invalid options.
 */
export const checkTaxCode = (code: string, options: CheckOptions): TaxCodeResult => {
  const result = check(code, options);
  if (result.ok) return { ok: true, kind: 'person', warnings: result.warnings };
  const kind = KINDS[result.reason];
  return kind === undefined ? result : { ok: true, kind, warnings: [] };
};

const KINDS: Partial<Readonly<Record<CheckReason, TaxCodeKind>>> = {
  'provisional-code': 'provisional',
  'vat-number': 'vat',
  'organisation-code': 'organisation',
};
