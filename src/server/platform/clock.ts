import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** Wall-clock time and elapsed time. The clock is passed in everywhere, so that tests control it. */
export interface Clock {
  /** Unix time in milliseconds. It jumps when the machine's clock is set. */
  now(): number;
  /**
   * Milliseconds since an unspecified moment. Setting the machine's clock does not change it, so it measures waits and ages.
   */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/**
 * Clocks that are synchronised differ by less. From this difference on one of them is wrong, so that a signed request is refused,
 * and retention deletes nothing.
 */
export const CLOCKS_APART_MS = 300_000;

/** The clock that decides about leases and due times: `now` follows the database, unless its clock is found to be wrong. */
export type StoreClock = Clock & {
  /** The time by the clock of a database on another machine, also while it is wrong and does not decide. */
  readonly databaseNow?: () => number;
};

/** Returns the time by the database, also while its clock is wrong and does not decide. */
export function readDatabaseTime(clock: Pick<StoreClock, 'now' | 'databaseNow'>): number {
  return clock.databaseNow?.() ?? clock.now();
}

/** Formats an instant as ISO 8601, as the API has it; null while it has not come. */
export function toInstant(at: number | null | undefined): string | null {
  return at === null || at === undefined ? null : new Date(at).toISOString();
}

/** Random, URL-safe ids without a prefix. */
export interface IdGenerator {
  next(): string;
}

/** Returns the result of `work`, or `late` when that takes longer than `timeoutMs`. */
export async function withTimeout<T>(work: Promise<T>, timeoutMs: number, late: T): Promise<T> {
  const { promise: timeUp, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(() => resolve(late), timeoutMs);
  try {
    return await Promise.race([work, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    await sleep(Math.max(0, ms), undefined, signal === undefined ? {} : { signal });
  },
};

/*
 * ULIDs (https://github.com/ulid/spec): 26 characters of Crockford's base 32, 10 for the millisecond and 16 random ones.
 * They sort by creation time, also within one millisecond of a process. Rows that are created together are therefore
 * neighbours in every index of their ids. Ids are not secrets.
 */

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const TIME_LENGTH = 10;

const RANDOM_LENGTH = 16;

const RANDOM_BYTES = 10;

const LAST_RANDOM = 2n ** 80n - 1n;

export const systemIds: IdGenerator = createTimeOrderedIds(systemClock);

export function createTimeOrderedIds(
  clock: Pick<Clock, 'now'>,
  random: () => Buffer = () => randomBytes(RANDOM_BYTES),
): IdGenerator {
  let lastTime = -1;
  let lastRandom = 0n;
  return {
    next: () => {
      const now = clock.now();
      // When the clock is set back or the random part overflows, ids continue from the last one.
      const isLater = now > lastTime;
      if (isLater) lastTime = now;
      if (isLater || lastRandom === LAST_RANDOM) lastRandom = BigInt(`0x${random().toString('hex')}`);
      else lastRandom += 1n;
      return encode(BigInt(lastTime), TIME_LENGTH) + encode(lastRandom, RANDOM_LENGTH);
    },
  };
}

function encode(value: bigint, length: number): string {
  // JavaScript's base 32 uses a different alphabet, so its digits are translated.
  const digits = value.toString(32).padStart(length, '0');
  let text = '';
  for (const digit of digits) text += ALPHABET[Number.parseInt(digit, 32)] ?? '';
  return text;
}
