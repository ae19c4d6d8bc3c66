import { type CheckFailure, explainFailure } from './check-failure.ts';
import {
  CHECK_STATUS,
  type CheckOptions,
  type CheckStatus,
  readSettings,
  type Settings,
} from './check-status.ts';
import { CODE_LENGTH, inspectBytes, inspectText, otherLengthStatus, parts } from './inspect-code.ts';

/**
 * A warning about a valid code. `place-not-in-force`: the place did not exist on the birth date; tax offices issue such
 * codes. `names-not-derivable`: no surname or given name gives these letters.
 */
export type CheckWarning = 'place-not-in-force' | 'names-not-derivable';

export type CheckSuccess = { readonly ok: true; readonly warnings: readonly CheckWarning[] };
export type CheckResult = CheckSuccess | CheckFailure;

/** Checks many codes with options that are read once. */
export type Checker = {
  /** Does the same as {@link check}. */
  readonly check: (code: string) => CheckResult;
  /** Like {@link check}, but returns one of {@link CHECK_STATUS}. */
  readonly checkStatus: (code: string) => CheckStatus;
  /** Does the same as checkStatus for the ASCII text from `bytes[start]` to before `bytes[end]`. Allocates nothing. */
  readonly checkBytes: (bytes: Uint8Array, start: number, end: number) => CheckStatus;
};

/**
 * Checks a codice fiscale: length, characters, omocodia, check character, date, place. Letters may be of either case;
 * nothing is trimmed or corrected. Provisional codes and VAT numbers (eleven digits) are invalid, with their own reasons.
 * @throws TypeError only for invalid options.
 */
export const check = (code: string, options: CheckOptions): CheckResult =>
  checkWith(code, readSettings(options));

/** @throws TypeError for invalid options. The checks themselves never throw. */
export const createChecker = (options: CheckOptions): Checker => {
  const settings = readSettings(options);
  return {
    check: (code) => checkWith(code, settings),
    checkStatus: (code) => inspectText(code, settings),
    checkBytes: (bytes, start, end) =>
      end - start === CODE_LENGTH
        ? inspectBytes(bytes, start, settings)
        : otherLengthStatus(end - start, (at) => bytes[start + at] ?? 0),
  };
};

/** Returns the warnings of the code in {@link parts}. */
export const readWarnings = (): readonly CheckWarning[] =>
  WARNINGS[(parts.isPlaceInForce ? 0 : 1) + (parts.areNamesDerivable ? 0 : 2)] ?? [];

const WARNINGS: readonly (readonly CheckWarning[])[] = [
  [],
  ['place-not-in-force'],
  ['names-not-derivable'],
  ['place-not-in-force', 'names-not-derivable'],
].map((warnings) => Object.freeze(warnings as CheckWarning[]));

/** The result of nearly all valid codes. They share one object. */
const PLAIN_SUCCESS: CheckSuccess = Object.freeze({ ok: true, warnings: Object.freeze([]) });

const checkWith = (code: string, settings: Settings): CheckResult => {
  const status = inspectText(code, settings);
  if (status === CHECK_STATUS.valid) return PLAIN_SUCCESS;
  if (status === CHECK_STATUS.validWithWarnings) return { ok: true, warnings: readWarnings() };
  return explainFailure(code, status);
};
