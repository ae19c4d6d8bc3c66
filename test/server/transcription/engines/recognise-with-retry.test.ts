import { beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/contract/errors.ts';
import {
  type RetryPolicy,
  recogniseWithRetry,
} from '../../../../src/server/transcription/engines/recognise-speech.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { testSpeech } from '../../../support/test-speech.ts';

const START = 1_000_000;
const RETRY: RetryPolicy = { pausesMs: [500, 2_000], maxPauseMs: 10_000 };

let clock: ManualClock;
let triedAt: number[];
beforeEach(() => {
  clock = new ManualClock(START);
  triedAt = [];
});

const busy = (retryAfter?: string): ServiceError =>
  new ServiceError('media-server-error', 'busy', {
    retryable: true,
    ...(retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } }),
  });

/** Fails once with each of these errors, and then succeeds. */
function recognise(failures: readonly Error[], policy: RetryPolicy = RETRY) {
  const { engine } = testSpeech({
    recognise: () => {
      triedAt.push(clock.now() - START);
      const failure = failures[triedAt.length - 1];
      if (failure !== undefined) throw failure;
      return 'words';
    },
  });
  return recogniseWithRetry({ engine, clock }, { samples: new Float32Array(1), language: 'en' }, policy);
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

const pass = async (ms: number): Promise<void> => {
  clock.advance(ms);
  await settled();
};

describe('recogniseWithRetry', () => {
  it('tries again after each pause and returns the text', async () => {
    const failures: unknown[] = [];
    const words = recognise([busy(), busy()], { ...RETRY, onFailure: (error) => failures.push(error) });
    await settled();
    await pass(499);
    expect(triedAt).toEqual([0]);
    await pass(1);
    expect(triedAt).toEqual([0, 500]);
    await pass(2_000);
    expect((await words).text).toBe('words');
    expect(triedAt).toEqual([0, 500, 2_500]);
    expect(failures).toHaveLength(2);
  });

  it('throws the last error when there is no pause left', async () => {
    const last = busy();
    const failing = recognise([busy(), busy(), last]);
    failing.catch(() => {});
    await settled();
    await pass(500);
    await pass(2_000);
    await expect(failing).rejects.toBe(last);
    expect(triedAt).toHaveLength(3);
  });

  it.each([
    ['3', 3_000],
    ['0.1', 500],
    ['10', 10_000],
    ['3600', 10_000],
    ['soon', 500],
  ])('waits as long as a busy server requests, %s s, up to its limit', async (asked, ms) => {
    const words = recognise([busy(asked)]);
    await settled();
    await pass(ms - 1);
    expect(triedAt).toEqual([0]);
    await pass(1);
    expect((await words).text).toBe('words');
    expect(triedAt).toEqual([0, ms]);
  });

  it('does not try again after an error that is not retryable', async () => {
    const refused = new ServiceError('media-server-error', 'refused');
    await expect(recognise([refused])).rejects.toBe(refused);
    const broken = new Error('broken');
    triedAt = [];
    await expect(recognise([broken])).rejects.toBe(broken);
    expect(triedAt).toHaveLength(1);
  });

  it('is cancelled during a pause', async () => {
    const abort = new AbortController();
    const failing = recognise([busy()], { ...RETRY, signal: abort.signal });
    failing.catch(() => {});
    await settled();
    abort.abort(new Error('closing'));
    await expect(failing).rejects.toThrow('closing');
    expect(triedAt).toHaveLength(1);
  });
});
