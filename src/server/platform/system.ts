import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock, IdGenerator } from './clock.ts';
import { createTimeOrderedIds } from './time-ordered-ids.ts';

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    await sleep(Math.max(0, ms), undefined, signal === undefined ? {} : { signal });
  },
};

export const systemIds: IdGenerator = createTimeOrderedIds(systemClock);
