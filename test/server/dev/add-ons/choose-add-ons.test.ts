import { describe, expect, it } from 'vitest';
import type { DevAddOn } from '../../../../src/contract/choices.ts';
import { HintedError } from '../../../../src/contract/hint.ts';
import {
  type AddOn,
  type AddOnChoice,
  chooseAddOns,
  startAddOns,
} from '../../../../src/server/dev/add-ons/run-add-ons.ts';
import { systemClock } from '../../../../src/server/platform/clock.ts';

const HINT = { text: 'install it' };

/** A broken add-on ends immediately. */
const addOn = (
  name: DevAddOn,
  { isBroken }: { readonly isBroken: boolean } = { isBroken: false },
): AddOn => ({
  name,
  logFile: `${name}.log`,
  start: () => ({
    name,
    pid: 1,
    ended: isBroken ? Promise.resolve({ reason: `${name} ended`, hint: HINT }) : new Promise(() => {}),
    close: async () => {},
  }),
  isReady: async () => !isBroken,
});

/** Every add-on except the recorder can be started. */
const find = async (name: DevAddOn): Promise<readonly AddOn[]> => {
  if (name === 'recorder') throw new HintedError('There is no recorder', HINT);
  return [addOn(name)];
};

const choose = async (choice: Partial<AddOnChoice>) => {
  const { addOns, absent } = await chooseAddOns(
    { required: [], unwanted: [], areOthersTried: true, ...choice },
    find,
  );
  return { started: addOns.map(({ name }) => name), absent };
};

describe('add-ons of rtc dev', () => {
  it('are all that can be started, and the others report what they are missing', async () => {
    expect(await choose({})).toEqual({
      started: ['stt-live', 'stt-post'],
      absent: [{ name: 'recorder', reason: 'There is no recorder', hint: HINT }],
    });
  });

  it('are not tried when they are excluded', async () => {
    expect(await choose({ unwanted: ['stt-live', 'recorder'] })).toEqual({
      started: ['stt-post'],
      absent: [],
    });
  });

  it('are only the required ones beside a media server without media', async () => {
    expect(await choose({ areOthersTried: false })).toEqual({ started: [], absent: [] });
    expect(await choose({ areOthersTried: false, required: ['stt-post'] })).toMatchObject({
      started: ['stt-post'],
    });
  });

  it('stop the start when a required one cannot be started', async () => {
    await expect(choose({ required: ['recorder'] })).rejects.toThrow('There is no recorder');
  });
});

describe('an add-on of rtc dev that ends at its start', () => {
  const start = (required: readonly DevAddOn[]) => {
    const lines: string[] = [];
    const addOns = startAddOns({
      addOns: [addOn('stt-live', { isBroken: true }), addOn('stt-post')],
      required,
      clock: systemClock,
      progress: (line) => lines.push(line),
    });
    return { addOns, lines };
  };

  it('is reported as absent, and the others work', async () => {
    const { addOns, lines } = start([]);
    expect(await addOns.waitForReady('http://127.0.0.1:1')).toEqual([
      { name: 'stt-live', reason: 'stt-live ended', hint: HINT },
    ]);
    expect(lines).toEqual(['stt-post works; its log: stt-post.log']);
    await addOns.close();
  });

  it('is not absent while another process of it works', async () => {
    const lines: string[] = [];
    const addOns = startAddOns({
      addOns: [addOn('recorder', { isBroken: true }), addOn('recorder')],
      required: [],
      clock: systemClock,
      progress: (line) => lines.push(line),
    });
    expect(await addOns.waitForReady('http://127.0.0.1:1')).toEqual([]);
    expect(lines).toEqual(['recorder works; its log: recorder.log']);
    await addOns.close();
  });

  it('stops everything when it is required', async () => {
    const { addOns } = start(['stt-live']);
    await expect(addOns.waitForReady('http://127.0.0.1:1')).rejects.toThrow('stt-live ended');
    await addOns.close();
  });
});
