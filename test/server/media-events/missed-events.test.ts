import { randomBytes } from 'node:crypto';
import { AccessToken } from 'livekit-server-sdk';
import { afterEach, describe, expect, it } from 'vitest';
import type { EventList } from '../../../src/contract/events.ts';
import { type Livekit, startLivekit } from '../../support/parts/livekit.ts';
import { createMigratedDatabase } from '../../support/parts/migrated-database.ts';
import { join } from '../../support/parts/participant.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { SkippableClock } from '../../support/skippable-clock.ts';
import { startNetwork } from '../platform/storage/network.ts';
import { chooseServicePort, startHookedService } from '../webhooks/support/hooked-service.ts';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const enter = async (livekit: Livekit, room: string, identity: string) => {
  const token = new AccessToken(livekit.apiKey, livekit.apiSecret, { identity });
  token.addGrant({ roomJoin: true, room });
  const participant = await join(livekit.url, await token.toJwt());
  cleanUps.push(() => participant.leave());
  return participant;
};

const listEvents = async (service: TestService) => {
  const { events } = (await service.call('GET', '/v1/events?limit=100')).json as EventList;
  return events.map(({ event, participant, reconciled }) =>
    [event, participant?.identity, reconciled && 'reconciled'].filter((part) => part !== undefined).join(' '),
  );
};

describe('an event at the real media server', () => {
  it('is reported at the start when the service was down, tracks included', async () => {
    // Without webhooks: LiveKit repeats them for 15 s, so they could arrive before the comparison.
    const livekit = await startLivekit();
    cleanUps.push(livekit.close);
    const ada = await enter(livekit, 'demo', 'ada');
    await ada.publishTone();
    const clock = new SkippableClock();
    clock.skip(60_000);
    const service = await startTestService({ livekit, clock });
    cleanUps.push(service.close);
    await expect
      .poll(() => listEvents(service))
      .toEqual([
        'room_created reconciled',
        'room_started reconciled',
        'participant_joined ada reconciled',
        'track_published ada reconciled',
      ]);
  });

  it('is reported once when the database was down, and /ready says since when events are missing', async () => {
    const database = await createMigratedDatabase();
    cleanUps.push(database.close);
    const network = await startNetwork(new URL(database.url));
    cleanUps.push(network.close);
    const { port, webhookUrl } = await chooseServicePort();
    const livekit = await startLivekit({ webhookUrl });
    cleanUps.push(livekit.close);
    const ENCRYPTION_KEY = randomBytes(32).toString('base64');
    const environment = { DATABASE_URL: network.url(database.url), ENCRYPTION_KEY, METRICS: 'signed' };
    const service = await startHookedService(port, { livekit, environment });
    cleanUps.push(service.close);
    const ready = async () => (await service.call('GET', '/ready', { signing: false })).json;
    const ada = await enter(livekit, 'demo', 'ada');
    await expect.poll(() => listEvents(service)).toContain('participant_joined ada');
    expect(await ready()).toEqual({ ready: true, checks: { mediaServer: true, database: true } });

    await network.cut();
    const cutAt = Date.now();
    await ada.publishTone();
    await expect.poll(ready).toHaveProperty('eventsRefusedSince');
    const { eventsRefusedSince } = (await ready()) as { readonly eventsRefusedSince: string };
    expect(Date.parse(eventsRefusedSince)).toBeGreaterThanOrEqual(cutAt);
    const metrics = async () => (await service.call('GET', '/metrics')).text;
    expect(await metrics()).toMatch(/^rtc_media_events_refused_total [1-9]/m);
    expect(await metrics()).toContain(
      `rtc_media_events_refused_since_seconds ${Date.parse(eventsRefusedSince) / 1000}\n`,
    );

    await network.mend();
    await expect.poll(ready).not.toHaveProperty('eventsRefusedSince');
    // LiveKit may be repeating the event just then. The comparison skips a room while an event of it is stored.
    const tracks = async () =>
      (await listEvents(service)).filter((event) => event.startsWith('track_published ada'));
    await expect.poll(tracks).toHaveLength(1);
    expect(await metrics()).toContain('rtc_media_events_refused_since_seconds 0\n');
  });
});
