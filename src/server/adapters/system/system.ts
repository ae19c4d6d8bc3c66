import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock, IdGenerator } from '../../ports/clock.ts';

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    await sleep(Math.max(0, ms), undefined, signal === undefined ? {} : { signal });
  },
};

/** 96 random bits in base64url. */
export const systemIds: IdGenerator = { next: () => randomBytes(12).toString('base64url') };
