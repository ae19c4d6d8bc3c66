import { FISCAL_ERROR_FORMAT } from './fiscal-errors.ts';

/** Shared by the routes about codes and persons. */
export const FISCAL_CODE_ROUTE = {
  tag: 'fiscal codes',
  security: 'public',
  errorFormat: FISCAL_ERROR_FORMAT,
  errors: [],
} as const;

/** Personal data, and the response depends on today. */
export const NOT_STORED = { 'cache-control': 'no-store' } as const;
