import { afterEach, describe, expect, it } from 'vitest';
import { QUIET_MS, startPurge } from '../../../src/server/events/purge.ts';
import { collectingLog, type LogLine } from '../../support/app.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { letPass } from '../webhooks/dispatcher/support/let-pass.ts';
import { openStage } from '../webhooks/dispatcher/support/stage.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const START = 1_767_225_600_000;
const DAY_MS = 86_400_000;

async function setUp(now = START) {
  const clock = new ManualClock(START);
  const stage = await openStage({ clock });
  cleanUps.push(stage.close);
  const sender = {
    send: async () => ({ statusCode: 200, responseBody: '', error: null, durationMs: 1 }),
    close: async () => {},
  };
  const instance = stage.instance({ sender });
  await instance.append('one');
  await instance.dispatcher.close();
  clock.advance(now - START);
  const lines: LogLine[] = [];
  const start = ({
    databaseNow = () => clock.now(),
    mediaMs = (): number | undefined => undefined,
    isOtherMachineAsked = false,
  } = {}) => {
    const store = { ...stage.store, clock: { now: databaseNow } };
    const purge = startPurge({
      ...{ store, clock, machineClock: clock, isOtherMachineAsked },
      purges: {
        deliveries: ({ now, limit }) => stage.store.deliveries.purge(now - 90 * DAY_MS, limit),
        events: ({ now, limit }) => stage.store.events.purge(now - 90 * DAY_MS, limit),
      },
      mediaClock: { readDifference: mediaMs },
      log: collectingLog(lines),
    });
    cleanUps.push(purge.close);
    return purge;
  };
  const events = async () => (await stage.store.events.list({ afterPosition: 0, limit: 10 })).length;
  const purgedAt = async () => (await stage.store.events.readPurgeTimes()).purgedAt;
  const errors = () => lines.filter(({ level }) => level === 'error');
  return { clock, stage, start, events, purgedAt, errors };
}

describe('data whose retention seems to have ended', () => {
  it('are kept in the first five minutes after a start', async () => {
    const { clock, start, purgedAt } = await setUp();
    start();
    await letPass(clock, QUIET_MS - 1);
    expect(await purgedAt()).toBeUndefined();
    await letPass(clock, 1_000);
    await expect.poll(purgedAt).toBeGreaterThanOrEqual(START + QUIET_MS);
  });

  it('are kept while the clock is far ahead of the newest event, until an operator confirms it', async () => {
    const { clock, stage, start, events, purgedAt, errors } = await setUp(START + 400 * DAY_MS);
    const purge = start();
    await letPass(clock, QUIET_MS + 60_000);
    await expect.poll(errors).toHaveLength(1);
    expect(errors()[0]?.fields).toMatchObject({ reason: 'pause', what: 'the newest event' });
    expect([await events(), await purgedAt()]).toEqual([1, undefined]);
    expect(purge.refusal()?.since).toBeGreaterThan(START + 400 * DAY_MS);
    await stage.store.events.notePurge(clock.now());
    await letPass(clock, 60_000);
    await expect.poll(events).toBe(0);
    await expect.poll(purge.refusal).toBeUndefined();
  });

  it('are kept when the last deletion is more than a day ago, though newer events have the same wrong time', async () => {
    const { clock, stage, start, events, errors } = await setUp();
    await stage.store.events.notePurge(START);
    clock.advance(100 * DAY_MS);
    const sender = { send: () => new Promise<never>(() => {}), close: async () => {} };
    await stage.instance({ sender }).append('ahead');
    start();
    await letPass(clock, QUIET_MS + 60_000);
    await expect.poll(errors).toHaveLength(1);
    expect(errors()[0]?.fields).toMatchObject({ reason: 'pause', what: 'the last deletion' });
    expect(await events()).toBe(2);
  });

  it("are kept while the database's clock differs by more than five minutes", async () => {
    const { clock, start, purgedAt, errors } = await setUp();
    start({ databaseNow: () => clock.now() - 300_001 });
    await letPass(clock, QUIET_MS + 60_000);
    await expect.poll(errors).toHaveLength(1);
    expect(await purgedAt()).toBeUndefined();
  });

  it.each([300_001, -300_001])("are kept while LiveKit's clock differs by %i ms", async (mediaMs) => {
    const { clock, start, purgedAt, errors } = await setUp();
    start({ mediaMs: () => mediaMs, isOtherMachineAsked: true });
    await letPass(clock, QUIET_MS + 60_000);
    await expect.poll(errors).toHaveLength(1);
    expect(errors()[0]?.fields).toMatchObject({ reason: 'media-server-clock' });
    expect(await purgedAt()).toBeUndefined();
  });

  it('are deleted after an outage of weeks when the clock of another machine confirms the time', async () => {
    const { clock, start, events, errors } = await setUp(START + 400 * DAY_MS);
    start({ mediaMs: () => 300_000, isOtherMachineAsked: true });
    await letPass(clock, QUIET_MS + 60_000);
    await expect.poll(events).toBe(0);
    expect(errors()).toEqual([]);
  });

  it("are kept after a confirmation while LiveKit's clock differs, and the reason says what to do", async () => {
    const { clock, stage, start, events, errors } = await setUp(START + 400 * DAY_MS);
    let mediaMs: number | undefined;
    const purge = start({ mediaMs: () => mediaMs });
    await letPass(clock, QUIET_MS + 60_000);
    await expect.poll(() => purge.refusal()?.reason).toBe('pause');
    const since = purge.refusal()?.since;
    mediaMs = -400 * DAY_MS;
    await stage.store.events.notePurge(clock.now());
    await letPass(clock, 60_000);
    await expect.poll(purge.refusal).toEqual({ since, reason: 'media-server-clock' });
    expect(errors().map(({ message }) => message)).toEqual([
      expect.stringContaining('rtc admin confirm-clock'),
      expect.stringContaining("a confirmation doesn't help"),
    ]);
    expect(await events()).toBe(1);
  });

  it.each([
    ['LiveKit tells no time', { isOtherMachineAsked: true }],
    ['LiveKit and the database are on this machine', { mediaMs: () => 0 }],
  ])('are kept after an outage while %s', async (_, options) => {
    const { clock, start, events, errors } = await setUp(START + 400 * DAY_MS);
    start(options);
    await letPass(clock, QUIET_MS + 60_000);
    await expect.poll(errors).toHaveLength(1);
    expect(await events()).toBe(1);
  });

  it('are deleted every ten minutes after a deletion less than a day ago', async () => {
    const { clock, stage, start, purgedAt, errors } = await setUp();
    await stage.store.events.notePurge(START);
    clock.advance(DAY_MS - QUIET_MS - 1_000);
    start();
    await letPass(clock, QUIET_MS + 500);
    await expect.poll(purgedAt).toBeGreaterThan(START + 1);
    expect(errors()).toEqual([]);
  });
});
