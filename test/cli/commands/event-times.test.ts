import { afterAll, beforeAll, expect, it } from 'vitest';
import { json, startHttpServer, type TestHttpServer } from '../support/http-server.ts';
import { run } from '../support/run.ts';

let server: TestHttpServer;
let timestamp: string;
beforeAll(async () => {
  server = await startHttpServer((_request, response) => {
    const event = { event: 'room_started', room: { name: 'demo' }, timestamp, id: 'evt_1' };
    json(response, 200, { events: [event], nextCursor: 'c' });
  });
});
afterAll(() => server.close());

/** Returns the first line that `rtc events tail` prints at a certain time in the local time zone. */
async function tailAt(now: Date, happened: Date): Promise<string> {
  timestamp = happened.toISOString();
  const stop = new AbortController();
  const env = { NO_COLOR: '1', RTC_URL: server.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's' };
  const { stdout } = await run(['events', 'tail', '--since', '7d'], {
    ...{ env, terminals: ['stdout'], clock: () => now.getTime(), signal: stop.signal },
    onStdout: () => stop.abort(),
  });
  return stdout.split('\n')[0] ?? '';
}

it('a line of an event has the time when it happened, not when it was read', async () => {
  const now = new Date(2026, 0, 31, 9, 30, 4);
  expect(await tailAt(now, new Date(2026, 0, 31, 0, 0, 0))).toBe('00:00:00  room_started        demo  evt_1');
  expect(await tailAt(now, new Date(2026, 0, 31, 9, 30, 4, 900))).toMatch(/^09:30:04 {2}room_started/);
});

it('a line of an event of another day has its date', async () => {
  const now = new Date(2026, 0, 31, 9, 30, 4);
  expect(await tailAt(now, new Date(2026, 0, 30, 23, 59, 59))).toMatch(
    /^2026-01-30 23:59:59 {2}room_started/,
  );
  expect(await tailAt(now, new Date(2025, 0, 31, 9, 30, 4))).toMatch(/^2025-01-31 09:30:04 {2}room_started/);
});
