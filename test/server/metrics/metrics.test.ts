import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../../support/service.ts';
import { LOOPBACK_ALLOWED, register } from '../webhooks/support/hooked-service.ts';
import { postMediaEvent, roomLife } from '../webhooks/support/media-webhook.ts';
import { type Receiver, respondWith, startReceiver } from '../webhooks/support/receiver.ts';

/* The scrape after the life of a room, with a receiver that works and one that does not. */

let service: TestService;
const receivers: Receiver[] = [];
beforeAll(async () => {
  service = await startTestService({ environment: LOOPBACK_ALLOWED });
  for (const status of [200, 500]) {
    const receiver = await startReceiver(respondWith(status));
    receivers.push(receiver);
    await register(service, receiver.url, ['participant_joined']);
  }
  for (const event of roomLife('demo').slice(0, 11)) {
    expect(await postMediaEvent(service.url, event)).toBe(200);
  }
  for (const receiver of receivers) await receiver.waitFor(() => true, 5);
});
afterAll(async () => {
  await service.close();
  for (const receiver of receivers) await receiver.close();
});

const scrape = async (): Promise<string> => (await service.call('GET', '/metrics')).text;

/** Returns the value of a series, which its name and labels identify. */
function readSeries(text: string, series: string): number | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

describe('the metrics', () => {
  it('count events by name and origin', async () => {
    const text = await scrape();
    const stored = (event: string) =>
      readSeries(text, `rtc_events_stored_total{event="${event}",source="notification"}`);
    expect([stored('room_created'), stored('room_started'), stored('participant_joined')]).toEqual([1, 1, 5]);
    expect(stored('track_published')).toBe(5);
  });

  it('do not count an event that arrived twice', async () => {
    const [created] = roomLife('demo');
    expect(await postMediaEvent(service.url, created ?? expect.unreachable())).toBe(200);
    const text = await scrape();
    expect(readSeries(text, 'rtc_events_stored_total{event="room_created",source="notification"}')).toBe(1);
  });

  it('count attempts by outcome and number, and the wait of the first one', async () => {
    const count = (series: string) => async () => readSeries(await scrape(), series);
    const attempts = (outcome: string) =>
      count(`rtc_webhook_attempt_duration_seconds_count{outcome="${outcome}",attempt="1"}`);
    await expect.poll(attempts('delivered')).toBe(5);
    await expect.poll(attempts('retrying')).toBe(5);
    expect(await count('rtc_webhook_first_attempt_delay_seconds_count')()).toBe(10);
  });

  it('count the calls of the database', async () => {
    const text = await scrape();
    const series = 'rtc_database_call_duration_seconds_count{store="all",method="transaction",outcome="ok"}';
    expect(readSeries(text, series)).toBeGreaterThan(0);
    expect(readSeries(text, 'rtc_database_up')).toBe(1);
  });

  it('name the running version', async () => {
    expect(await scrape()).toMatch(/^rtc_build_info\{version="\d+\.\d+\.\d+"\} 1$/m);
  });

  it('have no name of a room or of a participant', async () => {
    expect(await scrape()).not.toMatch(/demo|person/i);
  });
});
