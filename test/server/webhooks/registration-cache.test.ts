import { expect, it } from 'vitest';
import { RegistrationCache } from '../../../src/server/webhooks/webhooks.sql.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { newWebhook } from '../platform/storage/webhook-records.ts';

it('the registration cache keeps the registrations of a version for 10 s, because other programs may change them', async () => {
  const clock = new ManualClock(1_767_225_600_000);
  const cache = new RegistrationCache(clock);
  let reads = 0;
  const read = async () => {
    reads += 1;
    return [newWebhook(`read ${reads}`)];
  };
  const ids = async (version: number) => (await cache.get(version, read)).map(({ id }) => id);
  expect(await ids(1)).toEqual(['read 1']);
  clock.advance(9_999);
  expect(await ids(1)).toEqual(['read 1']);
  clock.advance(1);
  expect(await ids(1)).toEqual(['read 2']);
  expect(await ids(2)).toEqual(['read 3']);
  clock.setBack(3_600_000);
  clock.advance(10_000);
  expect(await ids(2)).toEqual(['read 4']);
});
