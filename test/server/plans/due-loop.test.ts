import { expect, it } from 'vitest';
import { startDueLoop } from '../../../src/server/plans/due-loop.ts';
import { ChangeHub } from '../../../src/server/platform/storage/changes.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { silentLog } from '../../support/silent-log.ts';
import { letPass } from '../webhooks/dispatcher/support/let-pass.ts';

it('leaves a row to other instances when it could not act on it, until its claim has ended', async () => {
  const clock = new ManualClock(0);
  const ends: number[] = [];
  const rows = {
    claim: async ({ now, until }: { readonly now: number; readonly until: number }) => {
      if (now < (ends.at(-1) ?? 0)) return [];
      ends.push(until);
      return ['row'];
    },
    renew: async () => {},
    nextDueAt: async () => ends.at(-1),
  };
  const loop = startDueLoop<string>({
    ...{ clock, log: silentLog, changes: new ChangeHub(), topic: 'plannedRooms', rows, atOnce: 1 },
    failureMessage: 'failed',
    act: async () => {
      throw new Error('the media server refuses us');
    },
  });
  await expect.poll(() => ends.length).toBe(1);
  const [first = 0] = ends;
  await letPass(clock, first + 100);
  expect(ends).toHaveLength(1);
  await letPass(clock, 400);
  expect(ends).toHaveLength(2);
  await loop.close();
});
