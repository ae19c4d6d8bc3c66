import { describe, expect, it } from 'vitest';
import { checkMediaClock, MediaClock } from '../../../../src/server/platform/livekit/media-clock.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const NOW = 1_767_225_600_000;

function setUp() {
  const clock = new ManualClock(NOW);
  const mediaClock = new MediaClock(clock);
  /** A response that LiveKit made `aheadMs` after now by our clock, and that took `durationMs`. */
  const respond = (aheadMs: number, durationMs = 0) => {
    const sentAt = clock.monotonic();
    const date = new Date(clock.now() + aheadMs).toUTCString();
    clock.advance(durationMs);
    mediaClock.observeResponse(date, sentAt);
  };
  return { clock, mediaClock, respond, read: () => mediaClock.readDifference(clock.now()) };
}

describe("LiveKit's clock", () => {
  it('is unknown before it was read, without a date, and when that was more than ten minutes ago', () => {
    const { clock, mediaClock, respond, read } = setUp();
    expect(read()).toBeUndefined();
    mediaClock.observeResponse(undefined, 0);
    mediaClock.observeResponse('soon', 0);
    expect(read()).toBeUndefined();
    respond(0);
    clock.advance(600_000);
    expect(read()).toBe(0);
    clock.advance(1);
    expect(read()).toBeUndefined();
  });

  it.each([0, 999, -999])(
    'agrees with ours when it differs by %i ms, which its whole seconds hide',
    (aheadMs) => {
      const { respond, read } = setUp();
      respond(aheadMs);
      expect(read()).toBe(0);
    },
  );

  it.each([5_000, -5_000, 34_560_000_000])('differs by %i ms, to half a second', (aheadMs) => {
    const { respond, read } = setUp();
    respond(aheadMs);
    expect(read()).toBe(aheadMs + 500);
  });

  it('is less certain by the duration of the response', () => {
    const { respond, read } = setUp();
    respond(5_000, 4_000);
    expect(read()).toBe(3_500);
    respond(3_000, 4_000);
    expect(read()).toBe(0);
  });

  it('differs as soon as our clock is set, without another response', () => {
    const { clock, respond, read } = setUp();
    respond(0);
    clock.setBack(3_600_000);
    expect(read()).toBe(3_600_500);
  });

  it('is read from webhooks, which may be late, only without responses', () => {
    const { clock, mediaClock, respond, read } = setUp();
    mediaClock.observeWebhook(NOW - 15_000);
    expect(read()).toBe(0);
    mediaClock.observeWebhook(NOW - 60_000);
    expect(read()).toBe(-52_000);
    respond(0);
    mediaClock.observeWebhook(clock.now() - 60_000);
    expect(read()).toBe(0);
  });
});

describe("the check of LiveKit's clock", () => {
  it.each([
    [undefined, undefined],
    [0, 'ok'],
    [-29_999, 'ok'],
    [30_000, 'warning'],
    [-300_000, 'warning'],
    [300_001, 'fault'],
  ])('of a difference of %s ms is %s', (differenceMs, status) => {
    const checks = checkMediaClock({ readDifference: () => differenceMs }, NOW);
    expect(checks.map((check) => check.status)).toEqual(status === undefined ? [] : [status]);
  });

  it('says which clock is ahead', () => {
    const details = [5_500, -5_500].map(
      (differenceMs) => checkMediaClock({ readDifference: () => differenceMs }, NOW)[0]?.detail,
    );
    expect(details).toEqual(["is 6 s ahead of the service's clock", "is 6 s behind the service's clock"]);
  });
});
