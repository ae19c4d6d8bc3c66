import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock, IdGenerator } from './clock.ts';

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
