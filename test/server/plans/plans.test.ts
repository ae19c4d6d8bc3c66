import { randomUUID } from 'node:crypto';
import { RoomEvent } from '@livekit/rtc-node';
import { afterEach, describe, expect, it } from 'vitest';
import type { PlanList, PlanPut } from '../../../src/contract/plans.ts';
import type { Problem } from '../../../src/contract/problem.ts';
import type { Token } from '../../../src/contract/tokens.ts';
import {
  type EmbeddedMediaServer,
  startEmbeddedMediaServer,
} from '../../../src/server/media-simulator/embedded-media-server.ts';
import { systemClock, systemIds } from '../../../src/server/platform/clock.ts';
import { createInstances } from '../../support/instances.ts';
import { startLivekit } from '../../support/parts/livekit.ts';
import { join as joinRoom } from '../../support/parts/participant.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { SkippableClock } from '../../support/skippable-clock.ts';
import { MEDIA_KEYS } from '../recordings/support/stage.ts';
import { chooseServicePort, startHookedService } from '../webhooks/support/hooked-service.ts';

const instances = createInstances();
const { closers } = instances;
afterEach(instances.close);

type Stage = {
  readonly service: TestService;
  readonly media: EmbeddedMediaServer;
  /** Starts one more instance on the same database, which no event of the media server reaches. */
  readonly startOther: () => Promise<TestService>;
  /** Moves the time of the services on PostgreSQL, whose clock is the database's. */
  readonly clock: SkippableClock;
};

/** PostgreSQL's own clock decides there, so that only SQLite can be moved. */
async function startStage(engine: 'SQLite' | 'PostgreSQL'): Promise<Stage> {
  const clock = new SkippableClock();
  const { port, webhookUrl } = await chooseServicePort();
  const media = await startEmbeddedMediaServer({
    ...{ host: '127.0.0.1', port: 0, ...MEDIA_KEYS, clock: systemClock, ids: systemIds },
    webhookUrls: [webhookUrl],
  });
  closers.push(() => media.close());
  const environment = await instances.environment(engine);
  const livekit = { url: media.url.replace('http', 'ws'), ...MEDIA_KEYS };
  const service = await startHookedService(port, { livekit, clock, environment });
  closers.push(() => service.close());
  const startOther = async () => {
    const other = await startTestService({ livekit, clock, environment });
    closers.push(() => other.close());
    return other;
  };
  return { service, media, clock, startOther };
}

const unique = (name: string) => `${name}-${randomUUID()}`;
const inSeconds = (clock: Pick<SkippableClock, 'now'>, seconds: number) =>
  new Date(clock.now() + seconds * 1000).toISOString();

const put = (service: TestService, plan: PlanPut, id = 'plan') =>
  service.call('PUT', `/v1/plans/${id}`, { body: plan });

const askToken = (service: TestService, room: string, settings: object = {}) =>
  service.call('POST', '/v1/token', {
    body: { roomId: room, userId: 'ada', name: 'Ada', role: 'participant', ...settings },
  });

type Closing = { readonly reason: string; readonly closesAt: string; readonly secondsLeft: number };

type Told = {
  readonly event: string;
  readonly timestamp: string;
  readonly closing?: Closing;
  readonly closeReason?: string;
};

const WARNINGS = [300, 60, 2, 0];

/** Returns the warning that the event is of, which may be late. It says how long is left at its own time, to the second. */
function readWarning({ closesAt, secondsLeft }: Closing, timestamp: string): number {
  const left = Math.round((Date.parse(closesAt) - Date.parse(timestamp)) / 1000);
  if (secondsLeft !== 0) expect(secondsLeft).toBe(Math.max(1, left));
  return Math.min(...WARNINGS.filter((seconds) => seconds >= secondsLeft));
}

/** Returns the events of the room in short, such as `room_closing closes_at 60`. */
async function story(service: TestService, room: string): Promise<readonly string[]> {
  const { json } = await service.call('GET', `/v1/events?roomId=${encodeURIComponent(room)}`);
  return (json as { readonly events: readonly Told[] }).events.map(
    ({ event, timestamp, closing, closeReason }) =>
      [event, closing?.reason, closing && readWarning(closing, timestamp), closeReason]
        .filter((part) => part !== undefined)
        .join(' '),
  );
}

const CALL = ['room_created', 'room_started', 'participant_joined'];
const END = (reason: string) => [`room_closing ${reason} 0`, 'participant_left', `room_finished ${reason}`];

describe.each(['SQLite', 'PostgreSQL'] as const)('plans on %s', (engine) => {
  it('are stored once by their id, and read, listed, replaced and deleted', async () => {
    const { service } = await startStage(engine);
    const plan = { prefix: 'lesson-', maxDuration: 3600, closingWarnings: [60], language: 'it-IT' };
    const made = await put(service, plan, 'lessons');
    expect([made.status, made.json]).toMatchObject([201, { planId: 'lessons', ...plan }]);
    const again = await put(service, plan, 'lessons');
    expect([again.status, again.json]).toEqual([200, made.json]);
    const taken = await put(service, { prefix: 'lesson-' }, 'others');
    expect([taken.status, (taken.json as Problem).hint?.command]).toEqual([409, 'rtc plans get lessons']);

    const moved = await put(service, { room: 'lesson-7' }, 'lessons');
    expect([moved.status, moved.json]).toMatchObject([200, { planId: 'lessons', room: 'lesson-7' }]);
    expect((await put(service, { prefix: 'lesson-' }, 'others')).status).toBe(201);
    const listed = (await service.call('GET', '/v1/plans?limit=1')).json as PlanList;
    expect(listed.plans.map(({ planId }) => planId)).toEqual(['lessons']);
    const next = (await service.call('GET', `/v1/plans?limit=1&cursor=${listed.nextCursor}`))
      .json as PlanList;
    expect([next.plans[0]?.planId, next.nextCursor]).toEqual(['others', null]);

    expect((await service.call('DELETE', '/v1/plans/lessons')).status).toBe(204);
    for (const method of ['GET', 'DELETE'] as const) {
      const gone = await service.call(method, '/v1/plans/lessons');
      expect((gone.json as Problem).type).toBe('urn:problem-type:rtc:plan-not-found');
    }
  });

  it('let nobody in before their time, and no token outlives their end, also after a change elsewhere', async () => {
    const { service, clock, startOther } = await startStage(engine);
    const other = await startOther();
    const opensAt = inSeconds(clock, 600);
    const closesAt = inSeconds(clock, 1200);
    await put(service, { prefix: 'lesson-', opensAt, earlyJoin: 60, closesAt });
    const early = await askToken(other, 'lesson-1');
    expect([early.status, early.json]).toMatchObject([
      409,
      { type: 'urn:problem-type:rtc:room-not-open-yet', opensAt, hint: { command: 'rtc plans list' } },
    ]);
    expect((await askToken(other, 'lesso')).status).toBe(200);
    // The longest prefix wins, and a name wins over prefixes.
    await put(service, { prefix: 'lesson-1', closesAt }, 'longer');
    await expect.poll(async () => (await askToken(other, 'lesson-1')).status).toBe(200);
    const token: Token = (await askToken(other, 'lesson-1')).json;
    expect(Date.parse(token.expiresAt)).toBe(Math.floor(Date.parse(closesAt) / 1000) * 1000);
    await put(service, { room: 'lesson-1', closesAt: inSeconds(clock, -1) }, 'named');
    await expect
      .poll(async () => (await askToken(other, 'lesson-1')).json)
      .toMatchObject({
        ...{ type: 'urn:problem-type:rtc:room-closed', closedUntil: null },
      });
  });

  it('warn and close their room, with the reason, and start again after a change of the end', async () => {
    const { service, media, clock } = await startStage(engine);
    const room = unique('lesson');
    await put(service, { prefix: 'lesson-', closesAt: inSeconds(clock, 3600) });
    media.control.join(room, { identity: 'ada' });
    await expect.poll(() => story(service, room)).toEqual(CALL);
    const soon = { prefix: 'lesson-', closesAt: inSeconds(clock, 3), closingWarnings: [2] };
    expect((await put(service, soon)).status).toBe(200);
    const told = [...CALL, 'room_closing closes_at 2', ...END('closes_at')];
    await expect.poll(() => story(service, room)).toEqual(told);
    expect((await service.call('GET', `/v1/rooms/${room}`)).status).toBe(404);
  });

  it('close a room that another instance opened, and tell it once', async () => {
    const { service, media, startOther } = await startStage(engine);
    const others = [await startOther(), await startOther()];
    const room = unique('lesson');
    await put(service, { room, maxDuration: 1, closingWarnings: [] });
    media.control.join(room, { identity: 'ada' });
    await expect
      .poll(() => story(service, room), { timeout: 60_000 })
      .toEqual([...CALL, ...END('max_duration')]);
    for (const other of others) expect(await story(other, room)).toHaveLength(6);
  });

  it('of one room are given to POST /v1/rooms, and are gone when the room is created anew', async () => {
    const { service, media, clock } = await startStage(engine);
    const room = unique('visit');
    const body = { name: room, opensAt: inSeconds(clock, 600), emptyTimeout: 60 };
    expect((await service.call('POST', '/v1/rooms', { body })).status).toBe(201);
    expect((await askToken(service, room)).status).toBe(409);
    const opened = { name: room, opensAt: inSeconds(clock, -1), maxDuration: 1, closingWarnings: [] };
    expect((await service.call('POST', '/v1/rooms', { body: opened })).status).toBe(201);
    expect((await askToken(service, room)).status).toBe(200);
    media.control.join(room, { identity: 'ada' });
    await expect
      .poll(async () => (await story(service, room)).at(-1), { timeout: 60_000 })
      .toBe('room_finished max_duration');
    const later = { name: room, closesAt: opened.opensAt, opensAt: inSeconds(clock, 5) };
    expect((await service.call('POST', '/v1/rooms', { body: later })).status).toBe(400);
    expect((await service.call('POST', '/v1/rooms', { body: { name: room } })).status).toBe(201);
    media.control.join(room, { identity: 'bob' });
    const again = ['room_created', 'room_started', 'participant_joined'];
    await expect.poll(async () => (await story(service, room)).slice(-3)).toEqual(again);
  });
});

describe('a plan', () => {
  it('warns and closes at its times after a restart between the two', async () => {
    const { service, media, clock, startOther } = await startStage('SQLite');
    const room = unique('lesson');
    await put(service, { prefix: 'lesson-', closesAt: inSeconds(clock, 3600) });
    media.control.join(room, { identity: 'ada' });
    await expect.poll(() => story(service, room)).toEqual(CALL);
    clock.skip(3_301_000);
    await expect.poll(() => story(service, room)).toEqual([...CALL, 'room_closing closes_at 300']);
    clock.skip(240_000);
    const warned = [...CALL, 'room_closing closes_at 300', 'room_closing closes_at 60'];
    await expect.poll(() => story(service, room)).toEqual(warned);
    // No instance is there at the end, and the one that starts has to find it.
    await service.stop();
    clock.skip(60_000);
    const other = await startOther();
    const told = async () => (await story(other, room)).slice(0, 6);
    await expect.poll(told).toEqual([...warned, 'room_closing closes_at 0']);
    await expect.poll(async () => (await other.call('GET', `/v1/rooms/${room}`)).status).toBe(404);
  });

  it('closes a room with one person, unless somebody comes back at the last moment', async () => {
    const { service, media, clock } = await startStage('SQLite');
    const room = unique('solo');
    await put(service, { prefix: 'solo-', soloTimeout: 600 });
    media.control.join(room, { identity: 'ada' });
    media.control.join(room, { identity: 'bob' });
    await expect.poll(async () => (await story(service, room)).length).toBe(4);
    media.control.leave(room, 'bob');
    await expect.poll(async () => (await story(service, room)).at(-1)).toBe('participant_left');
    media.control.join(room, { identity: 'bob' });
    clock.skip(601_000);
    await media.control.webhooksSettled();
    await expect.poll(async () => (await story(service, room)).length).toBe(6);
    expect((await service.call('GET', `/v1/rooms/${room}`)).status).toBe(200);
    media.control.leave(room, 'ada');
    await expect.poll(async () => (await story(service, room)).length).toBe(7);
    clock.skip(601_000);
    await expect.poll(async () => (await story(service, room)).slice(7)).toEqual(END('solo_timeout'));
  });

  it('removes who joins with a token from before the plan', async () => {
    const { service, media, clock } = await startStage('SQLite');
    const room = unique('lesson');
    await put(service, { room, opensAt: inSeconds(clock, 600) });
    media.control.join(room, { identity: 'ada' });
    await expect.poll(() => story(service, room)).toEqual([...CALL, 'participant_left']);
  });

  it('gives rooms that tokens open its empty timeout and its metadata', async () => {
    const { service } = await startStage('SQLite');
    await put(service, { prefix: 'lesson-', emptyTimeout: 77, metadata: '{"a":1}' });
    const { token } = (await askToken(service, 'lesson-1')).json as Token;
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    expect(claims.roomConfig).toEqual({ emptyTimeout: 77, departureTimeout: 77, metadata: '{"a":1}' });
    const room = (await service.call('POST', '/v1/rooms', { body: { name: 'lesson-2' } })).json;
    expect(room).toMatchObject({ emptyTimeout: 77, metadata: '{"a":1}' });
    const changed = await put(service, { prefix: 'lesson-', emptyTimeout: 78, metadata: '{"a":1}' });
    expect(changed.headers['x-room-ignored']).toBe('emptyTimeout');
  });

  it('is rejected with both or none of room and prefix, and with an end before its beginning', async () => {
    const { service, clock } = await startStage('SQLite');
    const instant = inSeconds(clock, 60);
    const times = { opensAt: instant, closesAt: instant };
    for (const plan of [{ room: 'a', prefix: 'b' }, {}, { room: 'a', ...times }])
      expect([plan, (await put(service, plan)).status]).toEqual([plan, 400]);
  });
});

it('a plan tells everyone in a real room that it closes, and closes it', async () => {
  const { port, webhookUrl } = await chooseServicePort();
  const livekit = await startLivekit({ webhookUrl });
  closers.push(() => livekit.close());
  const service = await startHookedService(port, { livekit });
  closers.push(() => service.close());
  const room = unique('lesson');
  await put(service, { prefix: 'lesson-', maxDuration: 4, closingWarnings: [2] });
  const token = (await askToken(service, room)).json as Token;
  const ada = await joinRoom(token.url, token.token);
  closers.push(() => ada.leave());
  const received: unknown[] = [];
  ada.room.on(RoomEvent.DataReceived, (payload, _participant, _kind, topic) => {
    if (topic === 'rtc.closing') received.push(JSON.parse(new TextDecoder().decode(payload)));
  });
  await expect
    .poll(() => received, { timeout: 60_000 })
    .toMatchObject([{ reason: 'max_duration', secondsLeft: 2 }]);
  await expect
    .poll(() => story(service, room), { timeout: 60_000 })
    .toEqual([...CALL, 'room_closing max_duration 2', ...END('max_duration')]);
});
