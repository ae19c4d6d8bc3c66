import { FISCAL_ERROR_FORMAT } from './fiscal-errors.ts';

/** Properties that the routes about codes and persons share. */
export const FISCAL_CODE_ROUTE = {
  tag: 'fiscal codes',
  security: 'public',
  errorFormat: FISCAL_ERROR_FORMAT,
  errors: [],
} as const;

/** The response has personal data, and depends on the current date. */
export const NOT_STORED = { 'cache-control': 'no-store' } as const;
