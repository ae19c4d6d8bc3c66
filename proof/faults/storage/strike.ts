import { atLeast, atMost, exactly, type Figure, observed, type ProofContext } from '../../part.ts';
import { percentile } from '../../support/percentile.ts';
import type { Ledger } from '../../support/callers.ts';
import type { Calls, StorageStage } from './storage-stage.ts';

export type StorageFault = {
  readonly name: string;
  readonly seconds: number;
  /** Maximum response time during the fault. */
  readonly boundMs: number;
  /** Whether the fault prevents writes, or only makes them slow. */
  readonly effect: 'refuses' | 'slows';
  /** Begins the fault. The returned function ends it. */
  readonly begin: () => Promise<() => unknown>;
};

const CALM_SECONDS = { long: 5, short: 1 } as const;
export const RECOVERY_BOUND_MS = 15_000;
export const FREE_BOUND_MS = 1_000;

export type Struck = { readonly calls: readonly Calls[]; readonly figures: readonly Figure[] };

/** Runs callers before the faults, and through each fault and the time after it. */
export async function strikeAll(
  { form, report }: Pick<ProofContext, 'form' | 'report'>,
  stage: StorageStage,
  faults: readonly StorageFault[],
): Promise<Struck> {
  const calls: Calls[] = [];
  const figures: Figure[] = [];
  const during = async (name: string, seconds: number): Promise<Calls> => {
    report(name);
    const seen = await stage.call(AbortSignal.timeout(seconds * 1000), name);
    for (const line of surprising(seen)) report(line);
    calls.push(seen);
    return seen;
  };
  figures.push(...calmFigures(await during('before the faults', CALM_SECONDS[form])));
  for (const fault of faults) {
    const end = await fault.begin();
    const seen = await during(fault.name, fault.seconds);
    await end();
    const recoveredMs = Math.round(await stage.untilWritten());
    figures.push(...faultFigures(fault, seen, recoveredMs));
    figures.push(...calmFigures(await during(`after the fault "${fault.name}"`, CALM_SECONDS[form])));
  }
  return { calls, figures };
}

const REFUSAL = /: 503 .*"urn:problem-type:rtc:storage-unavailable"/;

function others({ failures }: Ledger): readonly string[] {
  return failures.filter((line) => !REFUSAL.test(line));
}

function surprising({ stored, free }: Calls): readonly string[] {
  const lines = [...others(stored), ...stored.wrongSuccesses, ...free.failures];
  return lines.slice(0, 5).map((line) => line.slice(0, 300));
}

function calmFigures({ name, stored, free }: Calls): readonly Figure[] {
  const failed = stored.failures.length + free.failures.length;
  return [
    observed(`${name}: requests`, stored.requests + free.requests),
    exactly(`${name}: requests that failed`, failed, 0),
    exactly(`${name}: successes that were not true`, stored.wrongSuccesses.length, 0),
  ];
}

function faultFigures(
  { name, effect, boundMs }: StorageFault,
  { stored, free }: Calls,
  recoveredMs: number,
): readonly Figure[] {
  const refused = stored.failures.length - others(stored).length;
  const refusals = `${name}: refused with 503 and a problem`;
  const ms = (ledger: Ledger, part: number): number => Math.round(percentile(ledger.timesMs, part));
  const unit = ' ms';
  return [
    observed(`${name}: requests that need the database`, stored.requests),
    effect === 'refuses'
      ? atLeast({ name: refusals, measured: refused, bound: 1 })
      : observed(refusals, refused),
    exactly(`${name}: other failures`, others(stored).length, 0),
    exactly(`${name}: successes that were not true`, stored.wrongSuccesses.length, 0),
    atMost({ name: `${name}: slowest answer`, measured: ms(stored, 1), bound: boundMs, unit }),
    observed(`${name}: requests that need no database`, free.requests),
    exactly(`${name}: failures of those`, free.failures.length, 0),
    atMost({ name: `${name}: p99 of those`, measured: ms(free, 0.99), bound: FREE_BOUND_MS, unit }),
    atMost({
      name: `${name}: first write after the fault`,
      measured: recoveredMs,
      bound: RECOVERY_BOUND_MS,
      unit,
    }),
  ];
}
