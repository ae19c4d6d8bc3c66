import type { Ledger } from './callers.ts';

/** A failed request about rooms with a problem that says that the media server or its worker is unavailable or failed. */
const MEDIA_REFUSAL = /^\w+ \/v1\/rooms\S*: 50[234] .*"urn:problem-type:rtc:media-/;

/** Returns the requests that were refused because the media server was unavailable, with a problem that says so. */
export function mediaRefusals({ failures }: Ledger): readonly string[] {
  return failures.filter((line) => MEDIA_REFUSAL.test(line));
}

/** Returns all other failures: those of requests that need no media server, and those without a problem that names it. */
export function otherFailures({ failures }: Ledger): readonly string[] {
  return failures.filter((line) => !MEDIA_REFUSAL.test(line));
}

/** Returns a few lines for the person who watches the run. */
export function unexpectedLines(ledger: Ledger): readonly string[] {
  return [...otherFailures(ledger), ...ledger.wrongSuccesses].slice(0, 5).map((line) => line.slice(0, 300));
}
