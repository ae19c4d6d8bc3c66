import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/server/app/create-store.ts';
import type { Store } from '../../../src/server/app/store.ts';
import { silentMp4 } from '../../../src/server/media-simulator/silent-mp4.ts';
import { createLivekitMediaServer } from '../../../src/server/platform/livekit/livekit-media-server.ts';
import type { Egress } from '../../../src/server/platform/livekit/media-server.ts';
import { createRecordingFiles } from '../../../src/server/recordings/files/create-recording-files.ts';
import type { EndEvent } from '../../../src/server/recordings/lifecycle.ts';
import { reconcileRecordings } from '../../../src/server/recordings/reconcile-recordings.ts';
import { applyObservation } from '../../../src/server/recordings/recording-events.ts';
import {
  deleteRecording,
  getRecording,
  type LibraryDeps,
} from '../../../src/server/recordings/recordings.ts';
import { stopRecording } from '../../../src/server/recordings/room-recording-routes.ts';
import type { Recording } from '../../../src/server/recordings/store.ts';
import { collectingLog } from '../../support/app.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { observeRecording } from '../../support/observe-recording.ts';
import { createMigratedDatabase } from '../../support/parts/migrated-database.ts';
import {
  respondEmpty,
  type Script,
  type ScriptedMediaServer,
  startScriptedMediaServer,
} from '../../support/scripted-media-server.ts';

const NOW = 1_767_225_600_000;
const clock = new ManualClock(NOW);

let directory: string;
let media: ScriptedMediaServer;
let script: Script;
const closers: (() => Promise<void>)[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rtc-egress-state-'));
  script = respondEmpty;
  media = await startScriptedMediaServer((...exchange) => script(...exchange));
  closers.push(async () => media.close());
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await rm(directory, { recursive: true, force: true });
});

async function openSqlite(): Promise<Store> {
  const database = { sqlitePath: join(directory, 'rtc.sqlite') };
  const store = await openStore({ database, clock, log: collectingLog([]) });
  closers.push(() => store.close());
  return store;
}

async function openPostgres(): Promise<Store> {
  const database = await createMigratedDatabase();
  const store = await openStore({ database: { databaseUrl: database.url }, clock, log: collectingLog([]) });
  closers.push(async () => {
    await store.close();
    await database.close();
  });
  return store;
}

function createDeps(store: Store, ends: EndEvent[] = []): LibraryDeps {
  return {
    store,
    clock,
    log: collectingLog([]),
    mediaServer: createLivekitMediaServer(media.livekit),
    recordingFiles: createRecordingFiles({ clock, storage: undefined, directory }),
    storeTold: async (end) => {
      const ended = await store.recordings.update(end.recording, end.change);
      if (ended !== undefined && end.event !== undefined) ends.push(end.event);
      return ended;
    },
  };
}

/** Adds a running recording that was started `ago` milliseconds before. */
async function addRunning(store: Store, name: string, ago = 60_000): Promise<Recording> {
  const id = `rec_${name}`;
  const at = clock.now() - ago;
  const filepath = join(directory, `${name}.mp4`);
  await store.recordings.claim(
    { id, room: name, filepath, bucket: null, owner: 'o', claimUntil: at + 1 },
    at,
  );
  await observeRecording(store, id, { type: 'egress-created', egressId: `EG_${name}`, at });
  return await found(store, id);
}

async function addStopped(store: Store, name: string): Promise<Recording> {
  const { id } = await addRunning(store, name);
  await observeRecording(store, id, { type: 'stop-accepted', at: clock.now() });
  return await found(store, id);
}

async function found(store: Store, id: string): Promise<Recording> {
  const recording = await store.recordings.find(id);
  if (recording === undefined) throw new Error(`${id} is not there`);
  return recording;
}

/** Status and body of the response, by Twirp method. */
type Replies = Readonly<Record<string, readonly [number, unknown]>>;

function replying(replies: Replies): Script {
  return (request, response) => {
    const method = request.url?.split('/').at(-1) ?? '';
    const [status, body] = replies[method] ?? [500, { code: 'internal', msg: `not expected: ${method}` }];
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
}

const COMPLETE: Egress = {
  egressId: 'EG_demo',
  room: 'demo',
  status: 'EGRESS_COMPLETE',
  startedAt: NOW - 60_000,
  endedAt: NOW,
  mediaStartedAt: NOW - 58_000,
  error: undefined,
  startId: undefined,
  streams: [],
  file: { filename: 'demo.mp4', location: '/demo.mp4', sizeBytes: 1234, durationMs: 59_876.543_21 },
};

describe.each([
  ['SQLite', openSqlite],
  ['PostgreSQL', openPostgres],
])('on %s', (_engine, open) => {
  it('keeps a duration in nanoseconds as whole milliseconds', async () => {
    const store = await open();
    const recording = await addRunning(store, 'demo');
    const ends: EndEvent[] = [];
    const endedAt = NOW - 20_000;
    const egress = { ...COMPLETE, endedAt };
    await applyObservation(createDeps(store, ends), recording, { type: 'egress', egress, at: clock.now() });
    expect(await found(store, recording.id)).toMatchObject({
      status: 'stopped',
      durationMs: 59_877,
      sizeBytes: 1234,
      mediaStartedAt: NOW - 58_000,
      stoppedAt: endedAt,
      endedAt,
    });
    expect(ends).toMatchObject([{ status: 'stopped', file: { sizeBytes: 1234, durationMs: 59_877 } }]);
  });

  it('finds no recording for an id that a database cannot store', async () => {
    const store = await open();
    for (const id of ['EG_\0', 'EG_\ud800', "EG_' or 1=1", '../rec_x', '']) {
      await expect(getRecording(createDeps(store), id)).rejects.toMatchObject({
        code: 'recording-not-found',
      });
    }
  });
});

describe('the duration of a recording', () => {
  const ended = async (fileMs: number | undefined) => {
    const store = await openSqlite();
    const { id, filepath } = await addStopped(store, 'demo');
    const content = fileMs === undefined ? undefined : silentMp4(fileMs);
    if (content !== undefined) await writeFile(filepath, content);
    const ends: EndEvent[] = [];
    const lines: unknown[] = [];
    const file = {
      filename: filepath,
      location: filepath,
      size: `${content?.length ?? 77}`,
      duration: `${59_876_543_210}`,
    };
    const info = {
      ...{ egressId: 'EG_demo', roomName: 'demo', status: 'EGRESS_COMPLETE', fileResults: [file] },
      ...{ startedAt: `${(NOW - 80_000) * 1e6}`, endedAt: `${(NOW - 20_000) * 1e6}` },
    };
    script = replying({ ListEgress: [200, { items: [info] }] });
    const log = { ...collectingLog([]), warn: (fields: unknown) => void lines.push(fields) };
    const recording = await getRecording({ ...createDeps(store, ends), log }, id);
    return { recording, ends, lines };
  };

  it('is that of its file, in its event too', async () => {
    const { recording, ends, lines } = await ended(60_500);
    expect(recording).toMatchObject({ status: 'stopped', durationMs: 60_500 });
    expect(ends).toMatchObject([{ file: { durationMs: 60_500 } }]);
    expect(lines).toEqual([]);
  });

  it('is that of its recorder, with a log line, when its file cannot be read', async () => {
    const { recording, lines } = await ended(undefined);
    expect(recording).toMatchObject({ status: 'stopped', durationMs: 59_877 });
    expect(lines).toMatchObject([{ recordingId: 'rec_demo' }]);
  });

  it('is that of its recorder when its file has a much longer one', async () => {
    const { recording } = await ended(600_000);
    expect(recording).toMatchObject({ durationMs: 59_877 });
  });
});

describe('a stopped recording that the media server has forgotten', () => {
  it('has the duration of its file', async () => {
    const store = await openSqlite();
    const { id, filepath } = await addStopped(store, 'demo');
    await writeFile(filepath, silentMp4(3_210));
    const ends: EndEvent[] = [];
    expect(await getRecording(createDeps(store, ends), id)).toMatchObject({ durationMs: 3_210 });
    expect(ends).toMatchObject([{ file: { durationMs: 3_210 } }]);
  });

  it('is complete when its file exists', async () => {
    const store = await openSqlite();
    const { id, filepath } = await addStopped(store, 'demo');
    await writeFile(filepath, 'frames');
    const ends: EndEvent[] = [];
    const modifiedAt = Math.floor((await stat(filepath)).mtimeMs);
    expect(await getRecording(createDeps(store, ends), id)).toMatchObject({
      recordingId: 'EG_demo',
      status: 'stopped',
      sizeBytes: 6,
      durationMs: null,
      endedAt: new Date(modifiedAt).toISOString(),
      file: { bucket: null, path: filepath },
    });
    expect(ends).toMatchObject([{ status: 'stopped', file: { sizeBytes: 6 } }]);
    await getRecording(createDeps(store, ends), id);
    expect(ends).toHaveLength(1);
  });

  it('has failed when its file does not exist', async () => {
    const store = await openSqlite();
    const { id } = await addStopped(store, 'demo');
    const ends: EndEvent[] = [];
    expect(await getRecording(createDeps(store, ends), id)).toMatchObject({ status: 'failed', file: null });
    expect(ends).toMatchObject([{ status: 'failed', file: undefined }]);
  });

  it('stays as it is while its storage does not respond', async () => {
    const store = await openSqlite();
    const { id } = await addStopped(store, 'demo');
    const deps = createDeps(store);
    const away = { clock, storage: undefined, directory: join(directory, 'not-mounted') };
    const recording = await getRecording({ ...deps, recordingFiles: createRecordingFiles(away) }, id);
    expect(recording).toMatchObject({ status: 'stopped', endedAt: null });
  });
});

describe('a stopped recording whose end is not reported', () => {
  const ENDING = [{ egressId: 'EG_demo', roomName: 'demo', status: 'EGRESS_ENDING' }];
  const NOT_ENDED: Replies = {
    ListEgress: [200, { items: ENDING }],
    StopEgress: [
      412,
      { code: 'failed_precondition', msg: 'egress with status EGRESS_ENDING cannot be stopped' },
    ],
    GetParticipant: [404, { code: 'not_found', msg: 'participant does not exist' }],
  };
  const reconcileAfter = async (store: Store, waitedMs: number, ends: EndEvent[] = []) => {
    clock.advance(waitedMs);
    await reconcileRecordings(createDeps(store, ends));
  };

  it('has failed when its recorder does not respond and it has no file', async () => {
    const store = await openSqlite();
    const { id } = await addStopped(store, 'demo');
    script = replying(NOT_ENDED);
    const ends: EndEvent[] = [];
    await reconcileAfter(store, 60_000, ends);
    expect(await found(store, id)).toMatchObject({
      status: 'failed',
      endedAt: clock.now(),
      error: 'the recorder was lost, and it has no file',
    });
    expect(ends).toMatchObject([{ status: 'failed' }]);
    await deleteRecording(createDeps(store), id);
  });

  it('is complete when its file exists', async () => {
    const store = await openSqlite();
    const { id, filepath } = await addStopped(store, 'demo');
    await writeFile(filepath, 'frames');
    script = replying(NOT_ENDED);
    await reconcileAfter(store, 60_000);
    expect(await found(store, id)).toMatchObject({
      status: 'stopped',
      sizeBytes: 6,
      endedAt: expect.any(Number),
    });
  });

  it('is left to its recorder for a minute, and while the recorder responds or is in the room', async () => {
    const store = await openSqlite();
    const { id } = await addStopped(store, 'demo');
    script = replying(NOT_ENDED);
    await reconcileAfter(store, 59_999);
    expect(media.calls).not.toContain('StopEgress');
    script = replying({ ...NOT_ENDED, StopEgress: [200, ENDING[0]] });
    await reconcileAfter(store, 3_600_000);
    script = replying({ ...NOT_ENDED, GetParticipant: [200, { identity: 'EG_demo' }] });
    await reconcileAfter(store, 1);
    expect(media.calls.filter((method) => method === 'StopEgress')).toHaveLength(2);
    expect(await found(store, id)).toMatchObject({ status: 'stopped', endedAt: null });
  });

  it('is stopped again when it did not receive the stop', async () => {
    const store = await openSqlite();
    const { id } = await addStopped(store, 'demo');
    const endedAt = clock.now() + 1000;
    const nanoseconds = `${endedAt}000000`;
    script = replying({
      ListEgress: [200, { items: [{ ...ENDING[0], status: 'EGRESS_STARTING' }] }],
      StopEgress: [
        200,
        { ...ENDING[0], status: 'EGRESS_ABORTED', error: 'Stop called', endedAt: nanoseconds },
      ],
    });
    await reconcileAfter(store, 60_000);
    expect(await found(store, id)).toMatchObject({ status: 'aborted', error: 'Stop called', endedAt });
  });
});

describe('a stop without a response of the recorder', () => {
  const UNANSWERED: Replies = {
    StopEgress: [408, { code: 'deadline_exceeded', msg: 'request timed out' }],
    GetParticipant: [404, { code: 'not_found', msg: 'participant does not exist' }],
    ListRooms: [200, { rooms: [{ name: 'demo', sid: 'RM_demo' }] }],
  };
  const shown = (status: string): Replies => ({
    ...UNANSWERED,
    ListEgress: [200, { items: [{ egressId: 'EG_demo', roomName: 'demo', status }] }],
  });

  it('is accepted for a recorder that is starting, and will receive it', async () => {
    const store = await openSqlite();
    const { id } = await addRunning(store, 'demo', 59_999);
    script = replying(shown('EGRESS_STARTING'));
    const ends: EndEvent[] = [];
    expect(await stopRecording(createDeps(store, ends), 'demo')).toMatchObject({ status: 'stopped' });
    expect(await found(store, id)).toMatchObject({ status: 'stopped', endedAt: null, error: null });
    expect(ends).toEqual([]);
  });

  it('shows that a recorder is lost which should have started long ago', async () => {
    const store = await openSqlite();
    const { id } = await addRunning(store, 'demo', 60_000);
    script = replying(shown('EGRESS_STARTING'));
    await expect(stopRecording(createDeps(store), 'demo')).rejects.toMatchObject({
      code: 'no-active-recording',
    });
    expect(await found(store, id)).toMatchObject({ status: 'failed', error: 'the recorder was lost' });
  });

  it('shows that a recorder is lost which was recording', async () => {
    const store = await openSqlite();
    const { id } = await addRunning(store, 'demo', 5_000);
    script = replying(shown('EGRESS_ACTIVE'));
    await expect(stopRecording(createDeps(store), 'demo')).rejects.toMatchObject({
      code: 'no-active-recording',
    });
    expect(await found(store, id)).toMatchObject({ status: 'failed', error: 'the recorder was lost' });
  });

  it.each([
    ['completes', 'EGRESS_COMPLETE'],
    ['begins to end', 'EGRESS_ENDING'],
  ] as const)(
    'is no loss where the egress %s meanwhile, because of a stop by another caller',
    async (_what, status) => {
      const store = await openSqlite();
      const { id } = await addRunning(store, 'demo', 5_000);
      const running = replying(shown('EGRESS_ACTIVE'));
      const ended = replying(shown(status));
      let isGone = false;
      script = (request, response, ...rest) => {
        isGone ||= request.url?.endsWith('/GetParticipant') === true;
        (isGone ? ended : running)(request, response, ...rest);
      };
      await expect(stopRecording(createDeps(store), 'demo')).rejects.toMatchObject({
        code: 'no-active-recording',
      });
      expect(await found(store, id)).toMatchObject({ status: 'stopped', error: null });
    },
  );
});

describe('a failed recording whose end is incomplete', () => {
  it('can be deleted', async () => {
    const store = await openSqlite();
    const { id } = await addRunning(store, 'demo');
    const stoppedAt = clock.now();
    const running = await found(store, id);
    await store.recordings.update(running, { status: 'failed', stoppedAt, error: 'the recorder was lost' });
    await deleteRecording(createDeps(store), id);
    expect(await store.recordings.find(id)).toBeUndefined();
  });
});

describe('comparing with the media server', () => {
  it('reaches every recording, however many there are', async () => {
    const store = await openSqlite();
    for (let index = 0; index < 450; index += 1) await addRunning(store, `r${index}`, 60_000 + index);
    await reconcileRecordings(createDeps(store));
    expect(await store.recordings.list({ status: 'recording', limit: 1000 })).toEqual([]);
    expect(await store.recordings.list({ status: 'failed', limit: 1000 })).toHaveLength(450);
  });

  it('does not take a recorder for lost that another instance has stopped at the same time', async () => {
    const store = await openSqlite();
    const { id } = await addRunning(store, 'demo');
    let lists = 0;
    script = (request, response) => {
      const isList = request.url?.endsWith('ListEgress') === true;
      lists += isList ? 1 : 0;
      const status = lists === 1 ? 'EGRESS_ACTIVE' : 'EGRESS_ENDING';
      replying({
        ListEgress: [200, { items: [{ egress_id: 'EG_demo', room_name: 'demo', status }] }],
        GetParticipant: [404, { code: 'not_found', msg: 'participant does not exist' }],
        StopEgress: [412, { code: 'failed_precondition', msg: 'cannot be stopped' }],
      })(request, response);
    };
    const ends: EndEvent[] = [];
    await reconcileRecordings(createDeps(store, ends));
    expect(await found(store, id)).toMatchObject({ status: 'stopped', endedAt: null });
    expect(ends).toEqual([]);
  });

  it('skips a recording for which the media server fails', async () => {
    const store = await openSqlite();
    for (const name of ['one', 'bad', 'two']) await addRunning(store, name);
    script = (request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
      });
      request.once('end', () => {
        const isBad = body.includes('EG_bad');
        response.writeHead(isBad ? 500 : 200, { 'content-type': 'application/json' });
        response.end(isBad ? '{"code":"internal","msg":"nil"}' : '{}');
      });
    };
    await reconcileRecordings(createDeps(store));
    const left = await store.recordings.list({ status: 'recording', limit: 10 });
    expect(left.map(({ room }) => room)).toEqual(['bad']);
  });

  it('ends the round when the media server does not respond', async () => {
    const store = await openSqlite();
    for (const name of ['one', 'two', 'three']) await addRunning(store, name);
    script = (request) => request.socket.destroy();
    await expect(reconcileRecordings(createDeps(store))).rejects.toMatchObject({
      code: 'media-server-unavailable',
    });
    expect(media.calls).toHaveLength(1);
  });
});
