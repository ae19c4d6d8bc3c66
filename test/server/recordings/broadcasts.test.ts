import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Broadcast, BroadcastStatus } from '../../../src/contract/broadcasts.ts';
import type { Room, RoomList } from '../../../src/contract/rooms.ts';
import { createMigratedDatabase } from '../../support/parts/migrated-database.ts';
import type { Database } from '../../support/parts/postgres.ts';
import { freePort } from '../../support/parts/run-part.ts';
import { SkippableClock } from '../../support/skippable-clock.ts';
import { type Stage, startStage } from './support/stage.ts';

/*
 * Broadcasts with the embedded media server, which sends no media: its receivers accept, refuse or close as the test says.
 * The addresses are loopback, which the stage allows as development does.
 */

const KEY = 'live-secret-stream-key';
const GOOD = `rtmp://127.0.0.1:1935/live/${KEY}`;
const BAD = `rtmp://127.0.0.2/app/other-${KEY}`;

type Answer = {
  readonly status?: unknown;
  readonly type?: string;
  readonly hint?: unknown;
  readonly broadcastId: string;
  readonly egressId: string;
  readonly broadcasts: readonly Broadcast[];
  readonly recordings: readonly { readonly recordingId: string }[];
};

describe.each(['SQLite', 'PostgreSQL'] as const)('a broadcast on %s', (engine) => {
  let stage: Stage;
  let room: string;
  let counter = 0;
  const clock = new SkippableClock();
  let database: Database | undefined;
  let dataDir: string;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'rtc-broadcasts-'));
    database = engine === 'SQLite' ? undefined : await createMigratedDatabase();
    const port = await freePort();
    stage = await startStage({
      clock,
      environment: {
        PORT: String(port),
        DATA_DIR: dataDir,
        BROADCAST_ALLOWED_NETWORKS: '127.0.0.0/8',
        ...(database === undefined
          ? {}
          : { DATABASE_URL: database.url, ENCRYPTION_KEY: randomBytes(32).toString('hex') }),
      },
      media: {
        faults: { refusedHosts: ['127.0.0.2'] },
        webhookUrls: [`http://127.0.0.1:${port}/livekit/webhook`],
      },
    });
  });
  afterAll(async () => {
    await stage?.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** Opens a room in which somebody publishes. */
  async function openRoom(): Promise<void> {
    counter += 1;
    room = `broadcast-${engine}-${counter}`;
    await stage.service.call('POST', '/v1/rooms', { body: { name: room } });
    stage.media.control.join(room, { identity: 'ada' });
    stage.media.control.publish(room, 'ada');
  }
  /** Returns what the list, a page of it, and the room itself say of the room: recording, broadcast. */
  const readShown = async () => {
    const path = `/v1/rooms/${room}`;
    const lists = await Promise.all(
      ['/v1/rooms', '/v1/rooms?limit=1000'].map((list) => stage.service.call('GET', list)),
    );
    const shown = [
      ...lists.map(({ json }) => (json as RoomList).rooms.find(({ name }) => name === room)),
      (await stage.service.call('GET', path)).json as Room,
      (await stage.service.call('PATCH', path, { body: {} })).json as Room,
      (await stage.service.call('POST', '/v1/rooms', { body: { name: room } })).json as Room,
    ];
    return [...new Set(shown.map((one) => `${one?.activeRecording} ${one?.activeBroadcast}`))];
  };
  /** Returns the whole database, byte by byte or as text. */
  const readStored = async (): Promise<string> => {
    if (database === undefined) {
      const files = (await readdir(dataDir)).filter((name) => name.startsWith('rtc.sqlite'));
      const contents = await Promise.all(files.map((name) => readFile(join(dataDir, name), 'latin1')));
      return contents.join('');
    }
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows: tables } = await client.query(
      `select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
    );
    const texts: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query(`select string_agg(one::text, ' ') as text from ${name} as one`);
      texts.push(String(rows[0].text));
    }
    await client.end();
    return texts.join(' ');
  };
  const readAnswer = ({ json }: { readonly json: never }): Answer => json;
  const post = (verb: 'start' | 'stop', body?: object) =>
    stage.service.call('POST', `/v1/rooms/${room}/broadcast/${verb}`, body === undefined ? {} : { body });
  const change = (body: object) => stage.service.call('PATCH', `/v1/rooms/${room}/broadcast`, { body });
  const status = async (): Promise<BroadcastStatus> =>
    (await stage.service.call('GET', `/v1/rooms/${room}/broadcast`)).json;
  const states = async () => (await status()).broadcast?.urls.map(({ state }) => state);
  const events = async (types: string) => {
    const response = await stage.service.call('GET', `/v1/events?room=${room}&types=${types}`);
    return (response.json as { readonly events: { readonly event: string; readonly broadcast: object }[] })
      .events;
  };
  /** Lets some seconds pass at each look, fewer than a comparison takes to begin. */
  const skipping = async <T>(look: () => Promise<T>): Promise<T> => {
    clock.skip(2_000);
    return await look();
  };
  const untilEnded = () =>
    expect.poll(async () => (await status()).broadcast?.endedAt, POLL).toEqual(expect.any(String));

  it('starts once, tells each URL without its key, and ends with a stop', async () => {
    await openRoom();
    const started = await post('start', { urls: [GOOD] });
    expect(started.status, started.text).toBe(201);
    expect(started.json).toMatchObject({
      status: 'broadcasting',
      roomId: room,
      urls: [{ url: 'rtmp://127.0.0.1:1935/live/***', state: 'connecting', error: null, retries: 0 }],
      hls: null,
    });
    const again = await post('start', { urls: [`${GOOD}-another`] });
    expect([again.status, readAnswer(again).status, readAnswer(again).broadcastId]).toEqual([
      ...[200, 'already_broadcasting', readAnswer(started).broadcastId],
    ]);
    await expect.poll(states, POLL).toEqual(['active']);
    expect((await post('stop')).json).toMatchObject({
      status: 'stopped',
      egressId: readAnswer(started).egressId,
    });
    await untilEnded();
    expect(await status()).toMatchObject({
      isBroadcasting: false,
      broadcast: { status: 'stopped', urls: [{ state: 'ended' }] },
    });
    expect(readAnswer(await post('stop')).type).toBe('urn:problem-type:rtc:no-active-broadcast');
    const { startedAt, stoppedAt } = (await status()).broadcast ?? expect.unreachable();
    const usage = await stage.service.call('GET', `/v1/usage?by=room&roomId=${room}`);
    const minutes = (Date.parse(stoppedAt ?? '') - Date.parse(startedAt ?? '')) / 60_000;
    expect(usage.json).toMatchObject({ total: { broadcastMinutes: Math.round(minutes * 100) / 100 } });
    await expect.poll(async () => (await events('broadcast_ended')).length, POLL).toBe(1);
    expect(
      (await events('broadcast_started,broadcast_ended,egress_started,egress_ended')).map(
        ({ event }) => event,
      ),
    ).toEqual(['broadcast_started', 'broadcast_ended']);
  });

  it('is told apart from a recording of the room, wherever the room is shown', async () => {
    await openRoom();
    await post('start', { urls: [GOOD] });
    await expect.poll(readShown, POLL).toEqual(['false true']);
    await stage.service.call('POST', `/v1/rooms/${room}/recording/start`);
    await expect.poll(readShown, POLL).toEqual(['true true']);
    await post('stop');
    await expect.poll(readShown, POLL).toEqual(['true false']);
  });

  it('goes on to one URL when another is refused, and tells which', async () => {
    await openRoom();
    await post('start', { urls: [GOOD, BAD] });
    await expect.poll(states, POLL).toEqual(['active', 'failed']);
    await expect.poll(async () => (await events('broadcast_url_failed')).length, POLL).toBe(1);
    expect(await events('broadcast_url_failed')).toMatchObject([
      {
        broadcast: {
          status: 'broadcasting',
          failedUrl: { url: 'rtmp://127.0.0.2/app/***', error: 'the receiver refused the connection' },
        },
      },
    ]);
    const { broadcast } = await status();
    stage.media.control.failStream(broadcast?.egressId ?? '', '127.0.0.1');
    await untilEnded();
    expect((await status()).broadcast).toMatchObject({
      status: 'failed',
      error: 'the receiver closed the connection',
    });
    await expect.poll(async () => (await events('broadcast_ended')).length, POLL).toBe(1);
    expect(await events('broadcast_url_failed')).toHaveLength(2);
  });

  it('gets and loses URLs while it runs, by their ids or as a whole', async () => {
    await openRoom();
    await post('start', { urls: [GOOD] });
    await expect.poll(states, POLL).toEqual(['active']);
    const other = 'rtmp://127.0.0.3/live/one-more-key';
    const added = await change({ add: [other] });
    expect(added.status, added.text).toBe(200);
    await expect.poll(states, POLL).toEqual(['active', 'active']);
    const [first] = (added.json as Broadcast).urls;
    const removed = await change({ remove: [first?.urlId] });
    expect((removed.json as Broadcast).urls.map(({ state }) => state)).toEqual(['removed', 'active']);
    const last = await change({ remove: [other] });
    expect([last.status, readAnswer(last).hint]).toEqual([409, { text: 'stop it instead' }]);
    expect((await change({ remove: ['bu_unknown'] })).status).toBe(400);
    expect((await change({ add: ['srt://127.0.0.1:9000'] })).status).toBe(400);
    expect((await change({ remove: [other], add: [GOOD] })).status).toBe(200);
    await expect.poll(states, POLL).toEqual(['removed', 'removed', 'active']);
    await post('stop');
    await untilEnded();
  });

  it('writes HLS beside the recordings, and deletes it with everything that the recorder has put there', async () => {
    await openRoom();
    const started = await post('start', { hls: { segmentSeconds: 2, livePlaylist: 'now.m3u8' } });
    const { hls, broadcastId } = started.json as Broadcast;
    expect(hls).toMatchObject({
      segmentSeconds: 2,
      playlist: 'index.m3u8',
      livePlaylist: 'now.m3u8',
      bucket: null,
    });
    expect(hls?.folder).toMatch(new RegExp(`^${join(stage.recordingDir, room)}/[^/]+[.]hls$`));
    expect((await change({ add: [GOOD] })).status).toBe(409);
    expect((await stage.service.call('DELETE', `/v1/broadcasts/${broadcastId}`)).status).toBe(409);
    await stage.untilActive(readAnswer(started).egressId);
    await post('stop');
    await untilEnded();
    const folder = hls?.folder ?? '';
    expect((await status()).broadcast).toMatchObject({ status: 'stopped', error: null });
    expect((await readdir(folder)).sort()).toEqual(['index.m3u8', 'now.m3u8']);
    await writeFile(join(folder, 'segment_00000.ts'), 'media');
    expect((await stage.service.call('DELETE', `/v1/broadcasts/${broadcastId}`)).status).toBe(204);
    await expect(readdir(folder)).rejects.toThrow('ENOENT');
    expect((await readdir(dirname(stage.recordingDir))).length).toBeGreaterThan(0);
    expect((await stage.service.call('DELETE', `/v1/broadcasts/${broadcastId}`)).status).toBe(404);
  });

  it('runs beside a recording, is in its own list, and both end with their room', async () => {
    await openRoom();
    const recording = await stage.service.call('POST', `/v1/rooms/${room}/recording/start`);
    const broadcast = await post('start', { urls: [GOOD] });
    expect([recording.status, broadcast.status]).toEqual([201, 201]);
    const list = await stage.service.call('GET', `/v1/broadcasts?roomId=${room}`);
    expect(readAnswer(list).broadcasts).toMatchObject([{ broadcastId: readAnswer(broadcast).broadcastId }]);
    const recordings = await stage.service.call('GET', `/v1/recordings?roomId=${room}`);
    expect(readAnswer(recordings).recordings).toMatchObject([
      { recordingId: readAnswer(recording).egressId },
    ]);
    expect((await stage.service.call('GET', `/v1/recordings/${readAnswer(broadcast).egressId}`)).status).toBe(
      404,
    );
    await expect.poll(states, POLL).toEqual(['active']);
    expect((await stage.service.call('DELETE', `/v1/rooms/${room}`)).status).toBe(204);
    await untilEnded();
    expect((await status()).broadcast).toMatchObject({ status: 'stopped' });
  });

  it.each(['broadcast', 'recording'])(
    'is told soon when its recorder is lost without a stop: a %s',
    async (kind) => {
      await openRoom();
      const body = kind === 'broadcast' ? { urls: [GOOD] } : {};
      const { egressId } = readAnswer(
        await stage.service.call('POST', `/v1/rooms/${room}/${kind}/start`, { body }),
      );
      await stage.untilActive(egressId);
      stage.media.control.killRecorder(egressId);
      stage.media.control.leave(room, egressId);
      await stage.media.control.webhooksSettled();
      // Less than the minute after which a comparison would find it.
      clock.skip(3_000);
      const ended = kind === 'broadcast' ? 'broadcast_ended' : 'egress_ended';
      await expect
        .poll(() => events(ended), POLL)
        .toMatchObject([{ [kind]: { status: 'failed', error: 'the recorder was lost' } }]);
      expect((await stage.service.call('POST', `/v1/rooms/${room}/${kind}/start`, { body })).status).toBe(
        201,
      );
      await stage.service.call('POST', `/v1/rooms/${room}/${kind}/stop`);
    },
  );

  it('goes on when its receiver closed and the recorder is connected again', async () => {
    await openRoom();
    const { egressId } = readAnswer(await post('start', { urls: [GOOD] }));
    await expect.poll(states, POLL).toEqual(['active']);
    stage.media.control.reconnectStream(egressId, '127.0.0.1', 'connected');
    await stage.media.control.webhooksSettled();
    expect((await status()).broadcast?.urls).toMatchObject([
      { state: 'connecting', retries: 1, error: null },
    ]);
    await expect.poll(async () => skipping(states), POLL).toEqual(['active']);
    expect((await status()).broadcast?.urls).toMatchObject([{ retries: 1 }]);
    await post('stop');
    await untilEnded();
  });

  it('ends as failed, and tells the receiver, when that closed and the recorder sends nothing any more', async () => {
    await openRoom();
    const other = 'rtmp://127.0.0.3/live/one-more-key';
    const { egressId } = readAnswer(await post('start', { urls: [GOOD, other] }));
    await expect.poll(states, POLL).toEqual(['active', 'active']);
    stage.media.control.reconnectStream(egressId, '127.0.0.1', 'stuck');
    await stage.media.control.webhooksSettled();
    await expect.poll(async () => skipping(states), POLL).toEqual(['failed', 'ended']);
    const error = 'the recorder got stuck when a receiver closed the connection';
    expect((await status()).broadcast).toMatchObject({ status: 'failed', error });
    // The recorder, which was stopped, reports that it is complete.
    await expect.poll(() => stage.egressStatus(egressId), POLL).toBe('EGRESS_COMPLETE');
    await stage.media.control.webhooksSettled();
    expect((await events('broadcast_url_failed,broadcast_ended')).map(({ event }) => event)).toEqual([
      ...['broadcast_url_failed', 'broadcast_ended'],
    ]);
    expect((await status()).broadcast).toMatchObject({ status: 'failed', error });
  });

  it('is told at once when its recorder is lost', async () => {
    await openRoom();
    await post('start', { urls: [GOOD] });
    await expect.poll(states, POLL).toEqual(['active']);
    const { broadcast } = await status();
    stage.media.control.killRecorder(broadcast?.egressId ?? '');
    stage.media.control.leave(room, broadcast?.egressId ?? '');
    const stopped = await post('stop');
    expect(readAnswer(stopped).type).toBe('urn:problem-type:rtc:no-active-broadcast');
    expect((await status()).broadcast).toMatchObject({
      status: 'failed',
      error: 'the recorder was lost',
      urls: [{ state: 'ended' }],
    });
    expect(await events('broadcast_ended')).toMatchObject([{ broadcast: { status: 'failed' } }]);
  });

  it('keeps keys out of everything that is read, stored or logged', async () => {
    // One runs, whose URL is needed until it ends.
    await openRoom();
    await post('start', { urls: [GOOD] });
    await expect.poll(states, POLL).toEqual(['active']);
    const stored = await readStored();
    expect(stored).toContain(`broadcast-${engine}-${counter}`);
    expect(stored).not.toContain(KEY);
    expect(stored).not.toContain('one-more-key');
    const all = JSON.stringify([
      stage.service.logLines,
      (await stage.service.call('GET', '/v1/events?limit=200')).json,
      (await stage.service.call('GET', '/v1/audit?limit=200')).json,
      (await stage.service.call('GET', '/v1/broadcasts?limit=200')).json,
    ]);
    expect(all).not.toContain(KEY);
    expect(all).not.toContain('one-more-key');
  });
});

describe('a start of a broadcast', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await startStage();
    await stage.service.call('POST', '/v1/rooms', { body: { name: 'demo' } });
  });
  afterAll(() => stage?.close());

  it.each([
    ['nothing', {}],
    ['no urls', { urls: [] }],
    ['another protocol', { urls: ['http://93.184.216.34/live/sekret'] }],
    ['user info', { urls: ['rtmp://user:sekret@93.184.216.34/live/sekret'] }],
    ['no key', { urls: ['rtmp://93.184.216.34/live'] }],
    ['an option of the RTMP library', { urls: ['rtmp://93.184.216.34/live/sekret live=1'] }],
    ['SRT without a port', { urls: ['srt://93.184.216.34'] }],
    ['both protocols', { urls: ['rtmp://93.184.216.34/live/sekret', 'srt://93.184.216.34:9000'] }],
    [
      'keys that look alike',
      { urls: ['rtmp://93.184.216.34/a/sek1ret22', 'rtmp://93.184.216.34/a/sek2ret22'] },
    ],
    ['a loopback address', { urls: [GOOD] }],
    ['a private address in IPv6', { urls: ['rtmp://[::ffff:10.0.0.1]/live/sekret'] }],
    ['the metadata address', { urls: ['rtmp://169.254.169.254/live/sekret'] }],
    ['a name of this machine', { urls: ['rtmp://localhost/live/sekret'] }],
    [
      'too many',
      { urls: Array.from({ length: 11 }, (_, index) => `rtmp://93.184.216.34/live/sekret-${index}`) },
    ],
    ['too long', { urls: [`rtmp://93.184.216.34/live/${'sekret'.repeat(200)}`] }],
    ['two playlists of one name', { hls: { playlist: 'a.m3u8', livePlaylist: 'a.m3u8' } }],
    ['a playlist in another folder', { hls: { playlist: '../a.m3u8' } }],
  ])('refuses %s, and does not repeat what it got', async (_, body) => {
    const response = await stage.service.call('POST', '/v1/rooms/demo/broadcast/start', { body });
    expect(response.status, response.text).toBe(400);
    expect(response.text).not.toMatch(/sekret|sek1/);
  });

  it('is refused in a room that is not open', async () => {
    const path = '/v1/rooms/nowhere/broadcast/start';
    expect((await stage.service.call('POST', path, { body: { hls: {} } })).status).toBe(404);
    expect((await stage.service.call('GET', '/v1/rooms/nowhere/broadcast')).status).toBe(404);
    expect((await stage.service.call('GET', '/v1/rooms/demo/broadcast')).json).toEqual({
      isBroadcasting: false,
      broadcast: null,
    });
  });
});

const POLL = { timeout: 60_000, interval: 20 };
