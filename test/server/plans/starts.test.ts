import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { EventList } from '../../../src/contract/events.ts';
import type { Key } from '../../../src/contract/keys.ts';
import type { PlanPut } from '../../../src/contract/plans.ts';
import type { RecordingList } from '../../../src/contract/recordings.ts';
import type { Token } from '../../../src/contract/tokens.ts';
import type { LiveTranscription } from '../../../src/contract/transcription.ts';
import { openStore } from '../../../src/server/app/create-store.ts';
import type { Store } from '../../../src/server/app/store.ts';
import {
  type EmbeddedMediaServer,
  startEmbeddedMediaServer,
} from '../../../src/server/media-simulator/embedded-media-server.ts';
import { systemClock, systemIds } from '../../../src/server/platform/clock.ts';
import { createLivekitMediaServer } from '../../../src/server/platform/livekit/livekit-media-server.ts';
import { collectingLog } from '../../support/app.ts';
import { createInstances } from '../../support/instances.ts';
import { startLivekit } from '../../support/parts/livekit.ts';
import { join as joinRoom } from '../../support/parts/participant.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { SkippableClock } from '../../support/skippable-clock.ts';
import { startWorkers } from '../platform/openapi/support/scenario.ts';
import { MEDIA_KEYS } from '../recordings/support/stage.ts';
import { chooseServicePort, startHookedService } from '../webhooks/support/hooked-service.ts';

const instances = createInstances();
const { closers } = instances;
afterEach(instances.close);

type Stage = {
  readonly service: TestService;
  readonly media: EmbeddedMediaServer;
  readonly store: Store;
  readonly clock: SkippableClock;
  readonly startOther: () => Promise<TestService>;
};

async function startStage(engine: 'SQLite' | 'PostgreSQL'): Promise<Stage> {
  const clock = new SkippableClock();
  const { port, webhookUrl } = await chooseServicePort();
  const folder = await instances.folder();
  const media = await startEmbeddedMediaServer({
    ...{ host: '127.0.0.1', port: 0, ...MEDIA_KEYS, clock: systemClock, ids: systemIds },
    ...{ webhookUrls: [webhookUrl], recordingDir: folder },
    timings: { startMs: 20, startResponseMs: 5, recorderJoinMs: 20, activeMs: 60, finishMs: 40 },
  });
  closers.push(() => media.close());
  const shared = await instances.environment(engine);
  const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir = '' } = shared;
  const environment = { ...shared, RECORDING_DIR: folder };
  const livekit = { url: media.url.replace('http', 'ws'), ...MEDIA_KEYS };
  const service = await startHookedService(port, { livekit, clock, environment });
  closers.push(() => service.close());
  const store = await openStore({
    database: databaseUrl === undefined ? { sqlitePath: join(dataDir, 'rtc.sqlite') } : { databaseUrl },
    ...{ clock: systemClock, log: collectingLog([]) },
  });
  closers.push(() => store.close());
  const startOther = async () => {
    const other = await startTestService({ livekit, clock, environment });
    closers.push(() => other.close());
    return other;
  };
  return { service, media, store, clock, startOther };
}

const unique = () => `lesson-${randomUUID()}`;

const put = async (service: TestService, plan: Omit<PlanPut, 'prefix'>) => {
  const response = await service.call('PUT', '/v1/plans/lessons', { body: { prefix: 'lesson-', ...plan } });
  expect(response.status, response.text).toBeLessThan(300);
};

async function readStarts(service: TestService, room: string) {
  const { recordings } = (await service.call('GET', `/v1/recordings?roomId=${room}`)).json as RecordingList;
  const response = await service.call('GET', `/v1/rooms/${room}/transcription`);
  const transcription = response.status === 200 ? (response.json as LiveTranscription) : undefined;
  return [recordings.map((recording) => recording.status), transcription?.status] as const;
}

async function readFailures(service: TestService, room: string): Promise<readonly string[]> {
  const path = `/v1/events?roomId=${room}&types=planned_start_failed`;
  const { events } = (await service.call('GET', path)).json as EventList;
  return events.flatMap((event) =>
    event.event === 'planned_start_failed' ? [`${event.planned.starts}: ${event.planned.error.code}`] : [],
  );
}

describe.each(['SQLite', 'PostgreSQL'] as const)('what plans start on %s', (engine) => {
  it('begins once for each session, with several instances, and ends with the room', async () => {
    const { service, media, store, startOther } = await startStage(engine);
    await startWorkers(store);
    await startOther();
    await startOther();
    await put(service, { record: { audioOnly: true }, transcribe: { participants: { ada: 'Ada' } } });
    const rooms = [unique(), unique(), unique()];
    for (const room of rooms) {
      media.control.join(room, { identity: 'ada' });
      media.control.publish(room, 'ada');
      media.control.join(room, { identity: 'bob' });
    }
    for (const room of rooms)
      await expect
        .poll(() => readStarts(service, room), { timeout: 60_000 })
        .toEqual([['recording'], 'active']);
    const [room = ''] = rooms;
    // A recording that ends before any media has arrived is aborted.
    await expect
      .poll(async () => (await service.call('GET', `/v1/rooms/${room}/recording`)).json)
      .toMatchObject({ mediaStartedAt: expect.any(String) });
    await service.call('DELETE', `/v1/rooms/${room}`);
    await expect.poll(() => readStarts(service, room)).toEqual([['stopped'], 'stopped']);
    expect(await readFailures(service, room)).toEqual([]);
  });

  it('begins when the first track is published, or when a host is there, also by a plan that came later', async () => {
    const { service, media, store } = await startStage(engine);
    await startWorkers(store);
    const room = unique();
    await put(service, { transcribe: { at: 'role:host' } });
    media.control.join(room, { identity: 'ada', attributes: { 'rtc.role': 'participant' } });
    media.control.publish(room, 'ada');
    await media.control.webhooksSettled();
    expect(await readStarts(service, room)).toEqual([[], undefined]);
    media.control.join(room, { identity: 'eve', attributes: { 'rtc.role': 'host' } });
    await expect.poll(() => readStarts(service, room)).toEqual([[], 'active']);
    await put(service, { record: { at: 'firstPublish' }, transcribe: { at: 'role:host' } });
    await expect.poll(() => readStarts(service, room)).toEqual([['recording'], 'active']);
  });

  it('goes on with the recorder of an instance that has died', async () => {
    const { service, media, store } = await startStage(engine);
    const room = unique();
    const start = { room, filepath: `${room}/a.mp4`, bucket: null } as const;
    const claim = { owner: 'dead', claimUntil: Date.now() + 60_000 };
    await store.recordings.claim({ id: 'r_1', ...start, ...claim }, Date.now());
    await put(service, { record: {} });
    media.control.join(room, { identity: 'ada' });
    media.control.publish(room, 'ada');
    const livekit = createLivekitMediaServer({ url: media.url, ...MEDIA_KEYS });
    const webhookUrl = `${service.url}/livekit/webhook?recording=r_1`;
    await livekit.startRoomComposite({ ...start, bucket: undefined, settings: {}, webhookUrl });
    await expect.poll(() => readStarts(service, room)).toEqual([['recording'], undefined]);
    await expect.poll(() => store.plannedStarts.nextDueAt()).toBeUndefined();
    expect(await livekit.listEgress({ room })).toHaveLength(1);
    expect(await readFailures(service, room)).toEqual([]);
  });

  it('is not begun again after somebody has stopped it', async () => {
    const { service, media } = await startStage(engine);
    const room = unique();
    const body = { name: room, record: { at: 'firstPublish' } };
    expect((await service.call('POST', '/v1/rooms', { body })).status).toBe(201);
    media.control.join(room, { identity: 'ada' });
    media.control.publish(room, 'ada');
    await expect.poll(() => readStarts(service, room)).toEqual([['recording'], undefined]);
    expect((await service.call('POST', `/v1/rooms/${room}/recording/stop`)).status).toBe(200);
    media.control.publish(room, 'ada');
    await put(service, { maxDuration: 3600 });
    await expect
      .poll(() => readStarts(service, room))
      .toEqual([[expect.stringMatching(/stopped|aborted/)], undefined]);
  });
});

describe('a start of a plan', () => {
  it('that is refused is told once, and is tried again while the room lives', async () => {
    const { service, media, store, clock } = await startStage('SQLite');
    const room = unique();
    await put(service, { transcribe: {} });
    media.control.join(room, { identity: 'ada' });
    await expect.poll(() => readFailures(service, room)).toEqual(['transcription: addon-unavailable']);
    clock.skip(15_000);
    await startWorkers(store);
    clock.skip(15_000);
    await expect.poll(() => readStarts(service, room)).toEqual([[], 'active']);
    expect(await readFailures(service, room)).toEqual(['transcription: addon-unavailable']);
  });

  it('waits for one whose instance has died, and is not told as failed', async () => {
    const { service, media, store, clock } = await startStage('SQLite');
    const room = unique();
    await put(service, { record: { audioOnly: true } });
    const claim = { owner: 'dead', claimUntil: clock.now() + 60_000 };
    await store.recordings.claim(
      { ...{ id: 'r_1', room, filepath: `${room}/a.mp4`, bucket: null }, ...claim },
      clock.now(),
    );
    media.control.join(room, { identity: 'ada' });
    const skipAndRead = async () => {
      clock.skip(5_000);
      return (await readStarts(service, room))[0];
    };
    // The claim is taken over, or ended by a comparison before.
    await expect.poll(skipAndRead, { timeout: 30_000 }).toContain('recording');
    expect(await readFailures(service, room)).toEqual([]);
  });

  it('needs a key that may start recordings, and fields that fit together', async () => {
    const { service } = await startStage('SQLite');
    const asked = { name: 'rooms alone', scopes: ['rooms'] };
    const key: Key = (await service.call('POST', '/v1/keys', { body: asked })).json;
    const signing = { apiKey: key.id, apiSecret: key.secret ?? '' };
    for (const starts of [{ record: {} }, { transcribe: {} }]) {
      const plan = await service.call('PUT', '/v1/plans/p', { body: { room: 'demo', ...starts }, signing });
      const room = await service.call('POST', '/v1/rooms', { body: { name: 'demo', ...starts }, signing });
      expect([plan.status, room.status]).toEqual([403, 403]);
    }
    const body = { room: 'demo', record: { audioOnly: true, layout: 'speaker' } };
    const { status, text } = await service.call('PUT', '/v1/plans/p', { body });
    expect([status, text]).toEqual([400, expect.stringContaining('"#/record/layout"')]);
  });
});

it('a plan transcribes a real room when a host joins, and tells that there is no recorder', async () => {
  const { port, webhookUrl } = await chooseServicePort();
  const livekit = await startLivekit({ webhookUrl });
  closers.push(() => livekit.close());
  const folder = await instances.folder();
  const service = await startHookedService(port, { livekit, environment: { DATA_DIR: folder } });
  closers.push(() => service.close());
  const sqlitePath = join(folder, 'rtc.sqlite');
  const store = await openStore({
    ...{ database: { sqlitePath }, clock: systemClock, log: collectingLog([]) },
  });
  closers.push(() => store.close());
  await startWorkers(store);
  const room = unique();
  await put(service, { record: {}, transcribe: { at: 'role:host' } });
  const body = { roomId: room, userId: 'eve', name: 'Eve', role: 'host' };
  const token = (await service.call('POST', '/v1/token', { body })).json as Token;
  const eve = await joinRoom(token.url, token.token);
  closers.push(() => eve.leave());
  await expect.poll(() => readStarts(service, room)).toEqual([[], 'active']);
  await expect.poll(() => readFailures(service, room)).toHaveLength(1);
});
