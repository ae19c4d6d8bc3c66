import { describe, expect, it } from 'vitest';
import { keepLease } from '../../../../src/server/platform/jobs/keep-lease.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const LEASE_MS = 30_000;

function leasedWork(renew: () => Promise<boolean>) {
  const clock = new ManualClock(0);
  const closing = new AbortController();
  const end = Promise.withResolvers<string>();
  let signal = closing.signal;
  const work = keepLease(
    { clock, log: { warn() {} }, leaseMs: LEASE_MS, renew, signal: closing.signal },
    (given) => {
      signal = given;
      return end.promise;
    },
  );
  return { clock, closing, work, end: end.resolve, isAborted: () => signal.aborted };
}

describe('a lease that is kept', () => {
  it('is renewed three times in its duration until the work ends, whose value is returned', async () => {
    let renewals = 0;
    const { clock, work, end, isAborted } = leasedWork(async () => {
      renewals += 1;
      return true;
    });
    for (const count of [1, 2, 3]) {
      await expect.poll(() => clock.sleeping).toBe(1);
      clock.advance(LEASE_MS / 3);
      await expect.poll(() => renewals).toBe(count);
    }
    expect(isAborted()).toBe(false);
    end('done');
    expect(await work).toBe('done');
    expect(clock.sleeping).toBe(0);
  });

  it('aborts the work when another instance holds it', async () => {
    const { clock, work, end, isAborted } = leasedWork(async () => false);
    clock.advance(LEASE_MS / 3);
    await expect.poll(isAborted).toBe(true);
    end('late');
    await work;
  });

  it('aborts the work when it could not be renewed before it expired, and not before', async () => {
    const { clock, work, end, isAborted } = leasedWork(() => Promise.reject(new Error('no database')));
    for (const hasRunOut of [false, false, true]) {
      await expect.poll(() => clock.sleeping).toBe(1);
      clock.advance(LEASE_MS / 3);
      await expect.poll(() => clock.sleeping === 1 || isAborted()).toBe(true);
      expect(isAborted()).toBe(hasRunOut);
    }
    end('late');
    await work;
  });

  it('aborts the work when it expired by elapsed time, although the clock was set back', async () => {
    const { clock, work, end, isAborted } = leasedWork(() => Promise.reject(new Error('no database')));
    for (let third = 0; third < 3; third += 1) {
      await expect.poll(() => clock.sleeping).toBe(1);
      clock.setBack(3_600_000);
      clock.advance(LEASE_MS / 3);
    }
    await expect.poll(isAborted).toBe(true);
    end('late');
    await work;
  });

  it('aborts the work when the signal aborts', async () => {
    const { closing, work, end, isAborted } = leasedWork(async () => true);
    closing.abort();
    expect(isAborted()).toBe(true);
    end('closed');
    await work;
  });
});
