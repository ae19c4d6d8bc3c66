import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { Figures } from '../../../src/server/metrics/figures.sql.ts';
import { createFigureRefresher, registerFigures } from '../../../src/server/metrics/gauges.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const FIGURES: Figures = {
  deliveriesPending: 3,
  oldestPendingDeliveryAt: 1_000,
  rooms: 2,
  participants: 5,
  recordings: [{ status: 'stopped', count: 4 }],
  transcriptions: [{ kind: 'post', status: 'queued', count: 1 }],
  workers: [{ kind: 'stt-live', count: 1 }],
};

test('the gauges are those of the database, read every 5 seconds, and absent while it does not respond', async () => {
  const registry = new Registry();
  const clock = new ManualClock(61_000);
  let reads = 0;
  let read: () => Promise<Figures> = () => Promise.resolve(FIGURES);
  const store = {
    read: () => {
      reads += 1;
      return read();
    },
  };
  const refresh = createFigureRefresher(registerFigures(registry), { figures: store, clock });
  await refresh();
  await refresh();
  expect(reads).toBe(1);
  const text = await registry.metrics();
  for (const line of [
    'rtc_database_up 1',
    'rtc_webhook_deliveries_pending 3',
    'rtc_webhook_oldest_pending_delivery_age_seconds 60',
    'rtc_rooms 2',
    'rtc_participants 5',
    'rtc_recordings{status="recording"} 0',
    'rtc_recordings{status="stopped"} 4',
    'rtc_transcriptions{kind="post",status="queued"} 1',
    'rtc_speech_workers{kind="stt-live"} 1',
    'rtc_speech_workers{kind="stt-post"} 0',
  ]) {
    expect(text.split('\n')).toContain(line);
  }

  read = () => Promise.reject(new Error('the database is unavailable'));
  clock.advance(5_000);
  await refresh();
  const away = await registry.metrics();
  expect(away).toContain('rtc_database_up 0');
  expect(away).not.toMatch(/^rtc_(recordings|rooms|webhook_deliveries_pending)\b/m);

  read = () => Promise.resolve({ ...FIGURES, oldestPendingDeliveryAt: null, recordings: [] });
  await refresh();
  const back = await registry.metrics();
  expect(back).toContain('rtc_webhook_oldest_pending_delivery_age_seconds 0');
  expect(back).not.toContain('status="stopped"');
});
