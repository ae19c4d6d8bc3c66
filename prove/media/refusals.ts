import type { Ledger } from '../rolling/callers.ts';

/** A request about rooms that was answered with a problem: the media server or its worker is not available, or failed. */
const MEDIA_REFUSAL = /^\w+ \/v1\/rooms\S*: 50[234] .*"urn:problem-type:rtc:media-/;

/** Requests that were refused for want of the media server, and told so. */
export function mediaRefusals({ failures }: Ledger): readonly string[] {
  return failures.filter((line) => MEDIA_REFUSAL.test(line));
}

/** Every other failure: of what needs no media server, or without a problem that names it. */
export function otherFailures({ failures }: Ledger): readonly string[] {
  return failures.filter((line) => !MEDIA_REFUSAL.test(line));
}

/** A few lines for whoever watches the run. */
export function surprising(ledger: Ledger): readonly string[] {
  return [...otherFailures(ledger), ...ledger.wrongSuccesses].slice(0, 5).map((line) => line.slice(0, 300));
}
