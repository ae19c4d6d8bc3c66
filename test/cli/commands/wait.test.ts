import { randomUUID } from 'node:crypto';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryList } from '../../../src/contract/deliveries.ts';
import type { LiveStarted, PostQueued } from '../../../src/contract/transcription.ts';
import { loadConfig } from '../../../src/server/app/config/config.ts';
import { systemClock, systemIds } from '../../../src/server/platform/clock.ts';
import { type RunningWorker, startWorker } from '../../../src/server/worker.ts';
import {
  startTranscriptionStage,
  type TranscriptionStage,
} from '../../server/transcription/support/transcription-stage.ts';
import { register } from '../../server/webhooks/support/hooked-service.ts';
import { startReceiver } from '../../server/webhooks/support/receiver.ts';
import { collectingLog } from '../../support/app.ts';
import { testSpeech } from '../../support/test-speech.ts';
import { type EventStack, startEventStack } from '../support/event-stack.ts';
import { type Run, type RunOptions, run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

type Environment = Readonly<Record<string, string>>;

const rtc = (env: Environment, words: readonly string[], options: RunOptions = {}): Promise<Run> =>
  run(words, { ...options, env });

/** Runs a wait. Calls `act` after it has read the state and follows the events. */
async function whileWaiting(env: Environment, words: readonly string[], act: () => unknown): Promise<Run> {
  let acted: Promise<unknown> | undefined;
  const result = await rtc(env, ['wait', ...words], {
    terminals: ['stderr'],
    onStderr: (soFar) => {
      if (soFar.includes('Waiting for')) acted ??= Promise.resolve(act());
    },
  });
  await acted;
  expect(acted, result.stderr).toBeDefined();
  return result;
}

describe('rtc wait room', () => {
  let stack: EventStack;
  let room: string;
  beforeAll(async () => {
    stack = await startEventStack();
  });
  afterAll(() => stack.close());
  beforeEach(() => {
    room = `room-${randomUUID()}`;
  });
  const waitFor = (condition: string, act: () => unknown) =>
    whileWaiting(stack.environment, ['room', room, '--for', condition, '--json'], act);
  const waitNow = (condition: string, ...more: readonly string[]) =>
    rtc(stack.environment, ['wait', 'room', room, '--for', condition, ...more]);

  it('ends as soon as enough people are in the room, and names them', async () => {
    await stack.join(room, 'ada');
    const { code, stdout } = await waitFor('participants>=3', async () => {
      await stack.join(room, 'bob');
      await stack.join(room, 'eve');
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      room,
      isOpen: true,
      participants: ['ada', 'bob', 'eve'],
      publishers: [],
    });
  });

  it('meets a condition that held only for a moment', async () => {
    await stack.join(room, 'ada');
    const { code } = await waitFor('participants = 2', async () => {
      await stack.join(room, 'bob');
      await stack.leave(room, 'bob');
    });
    expect(code).toBe(0);
  });

  it('counts an identity that joins again once', async () => {
    await stack.join(room, 'ada');
    const { code, stdout } = await waitFor('participants>=2', async () => {
      await stack.join(room, 'ada');
      await stack.join(room, 'bob');
    });
    expect([code, JSON.parse(stdout).participants]).toEqual([0, ['ada', 'bob']]);
  });

  it('waits for somebody who publishes, and until nobody does', async () => {
    await stack.join(room, 'ada');
    let sid = '';
    const published = await waitFor('publishing:ada', () => {
      sid = stack.media.control.publish(room, 'ada').sid;
    });
    expect([published.code, JSON.parse(published.stdout).publishers]).toEqual([0, ['ada']]);
    expect((await waitNow('publishers==1')).code).toBe(0);
    const ended = await waitFor('publishers=0', () => stack.media.control.unpublish(room, 'ada', sid));
    expect(ended.code).toBe(0);
  });

  it('waits for somebody to join and to leave', async () => {
    await stack.join(room, 'ada');
    expect((await waitFor('joined:bob b', () => stack.join(room, 'bob b'))).code).toBe(0);
    expect((await waitFor('left:bob b', () => stack.leave(room, 'bob b'))).code).toBe(0);
  });

  it('waits for a room that does not exist yet, and for its end', async () => {
    expect((await waitFor('open', () => stack.join(room, 'ada'))).code).toBe(0);
    expect((await waitNow('open')).code).toBe(0);
    const closed = await waitFor('closed', () => stack.rtc(`rooms delete ${room} --yes`));
    expect([closed.code, JSON.parse(closed.stdout).isOpen]).toEqual([0, false]);
    expect((await waitNow('closed')).code).toBe(0);
  });

  it('exits with 7 when the room is closed before the condition is met', async () => {
    await stack.join(room, 'ada');
    const { code, stdout, stderr } = await waitFor('participants>=2', () =>
      stack.rtc(`rooms delete ${room} --yes`),
    );
    expect([code, stdout]).toEqual([7, '']);
    expect(stderr).toContain('was closed before participants>=2 was met');
  });

  it('meets a condition that an empty room meets when the room is closed', async () => {
    await stack.join(room, 'ada');
    const { code } = await waitFor('participants<1', () => stack.rtc(`rooms delete ${room} --yes`));
    expect(code).toBe(0);
  });

  it('exits with 3 when the room does not exist', async () => {
    const { code, stderr } = await waitNow('participants>=1');
    expect([code, stderr.includes(room)]).toEqual([3, true]);
  });

  it('exits with 8 at the time limit', async () => {
    await stack.join(room, 'ada');
    const { code, stdout, stderr } = await waitNow('participants>=2', '--timeout', '1s');
    expect([code, stdout]).toEqual([8, '']);
    expect(stderr).toContain(`still waiting for participants>=2 in room "${room}" after 1s`);
  });

  it('continues when the service restarts', async () => {
    await stack.join(room, 'ada');
    const { code } = await waitFor('participants>=2', async () => {
      await stack.stopService();
      await stack.startService();
      await stack.join(room, 'bob');
    });
    expect(code).toBe(0);
  });

  it('exits with 130 when it is cancelled', async () => {
    await stack.join(room, 'ada');
    const stop = new AbortController();
    const { code } = await rtc(stack.environment, ['wait', 'room', room, '--for', 'closed'], {
      terminals: ['stderr'],
      signal: stop.signal,
      onStderr: () => stop.abort(),
    });
    expect(code).toBe(130);
  });

  it.each(['participants', 'participants>=x', 'people>=2', 'joined:', 'closed!', ''])(
    'refuses the condition %j and lists the known ones',
    async (condition) => {
      const { code, stderr } = await waitNow(condition);
      expect(code).toBe(2);
      expect(stderr).toContain('choose from open, closed, participants>=2');
    },
  );
});

describe('rtc wait recording', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack();
  });
  afterAll(() => stack.close());

  const record = async (isPublished: boolean): Promise<{ room: string; egressId: string }> => {
    const room = `room-${randomUUID()}`;
    stack.media.control.join(room, { identity: 'ada' });
    if (isPublished) stack.media.control.publish(room, 'ada');
    const words = ['recordings', 'start', room, '--json', ...(isPublished ? ['--wait'] : [])];
    const started = await rtc(stack.environment, words);
    return { room, egressId: (JSON.parse(started.stdout) as { egressId: string }).egressId };
  };
  const stop = (room: string) => rtc(stack.environment, ['recordings', 'stop', room]);

  it('ends when the file is complete', async () => {
    const { room, egressId } = await record(true);
    const { code, stdout } = await whileWaiting(stack.environment, ['recording', egressId, '--json'], () =>
      stop(room),
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      recordingId: egressId,
      status: 'stopped',
      endedAt: expect.any(String),
    });
    expect((await rtc(stack.environment, ['wait', 'recording', egressId])).code).toBe(0);
  });

  it('exits with 7 when the recording was aborted, unless that was awaited', async () => {
    const { room, egressId } = await record(false);
    const { code, stdout } = await whileWaiting(
      stack.environment,
      ['recording', egressId, '--for', 'stopped', '--json', 'status'],
      () => stop(room),
    );
    expect([code, stdout]).toEqual([7, '{"status":"aborted"}\n']);
    const aborted = ['wait', 'recording', egressId, '--for', 'aborted'];
    expect((await rtc(stack.environment, aborted)).code).toBe(0);
  });

  it('exits with 3 for an unknown recording', async () => {
    expect((await rtc(stack.environment, ['wait', 'recording', 'EG_none'])).code).toBe(3);
  });
});

describe('rtc wait transcription', () => {
  let stage: TranscriptionStage;
  let worker: RunningWorker;
  let folder: string;
  let env: Environment;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rtc-wait-'));
    stage = await startTranscriptionStage();
    await stage.beat('stt-live', ['en']);
    await stage.beat('stt-post', ['en']);
    const { url, apiKey, apiSecret } = stage.service;
    env = { RTC_URL: url, RTC_API_KEY: apiKey, RTC_API_SECRET: apiSecret };
  });
  afterAll(async () => {
    await worker?.close();
    await stage?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('ends when a live one is stopped', async () => {
    const room = `room-${randomUUID()}`;
    await stage.open(room);
    const started = await rtc(env, ['transcription', 'start', room, '--json']);
    const { transcriptionId } = JSON.parse(started.stdout) as LiveStarted;
    const { code, stdout } = await whileWaiting(env, ['transcription', transcriptionId, '--json'], () =>
      rtc(env, ['transcription', 'stop', room]),
    );
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { transcriptionId, status: 'stopped' }]);
  });

  it('exits with 7 when it fails, unless that was awaited', async () => {
    const recording = await stage.recordWhole();
    await writeFile(join(folder, 'text.mp4'), 'This is no film.');
    await copyFile(join(folder, 'text.mp4'), recording.file?.path ?? '');
    const queued = await rtc(env, ['transcriptions', 'create', recording.recordingId, '--json']);
    const { transcriptionId } = JSON.parse(queued.stdout) as PostQueued;
    const words = ['transcription', transcriptionId, '--json', 'status'];
    const { code, stdout } = await whileWaiting(env, words, async () => {
      const settings = {
        API_KEY: 'k',
        API_SECRET: 's',
        DATA_DIR: stage.dataDir,
        RECORDING_DIR: stage.recordingDir,
      };
      const parts = { log: collectingLog([]), clock: systemClock, ids: systemIds };
      worker = await startWorker(loadConfig(settings), { ...parts, kind: 'stt-post', speech: testSpeech() });
    });
    expect([code, stdout]).toEqual([7, '{"status":"failed"}\n']);
    expect((await rtc(env, ['wait', 'transcription', transcriptionId, '--for', 'failed'])).code).toBe(0);
  });

  it('exits with 3 for an unknown transcription', async () => {
    expect((await rtc(env, ['wait', 'transcription', 'tr_none'])).code).toBe(3);
  });
});

describe('rtc wait delivery', () => {
  let stack: EventStack;
  beforeAll(async () => {
    stack = await startEventStack();
  });
  afterAll(() => stack.close());

  /** Begins a delivery whose receiver responds when the test says so. */
  const beginDelivery = async () => {
    let accept = (): void => {};
    const receiver = await startReceiver((_request, response) => {
      accept = () => void response.writeHead(200).end();
    });
    const { id } = await register(stack.service, receiver.url, ['room_created']);
    await stack.join(`room-${randomUUID()}`, 'ada');
    await receiver.waitFor(() => true);
    const { json } = await stack.service.call('GET', `/v1/webhooks/${id}/deliveries`);
    const delivery = (json as DeliveryList).deliveries[0]?.id ?? '';
    return { receiver, id, delivery, accept: () => accept() };
  };

  it('ends when it is delivered', async () => {
    const { receiver, id, delivery, accept } = await beginDelivery();
    const words = ['delivery', id, delivery, '--json', 'id,status'];
    const { code, stdout } = await whileWaiting(stack.environment, words, accept);
    expect([code, JSON.parse(stdout)]).toEqual([0, { id: delivery, status: 'delivered' }]);
    const failed = ['wait', 'delivery', id, delivery, '--for', 'failed'];
    expect((await rtc(stack.environment, failed)).code).toBe(7);
    await receiver.close();
  });

  it('exits with 7 when its webhook is deleted during the wait', async () => {
    const { receiver, id, delivery } = await beginDelivery();
    const { code } = await whileWaiting(stack.environment, ['delivery', id, delivery], () =>
      stack.rtc(`webhooks delete ${id} --yes`),
    );
    expect(code).toBe(7);
    await receiver.close();
  });

  it('exits with 8 at the time limit, and with 3 for an unknown delivery', async () => {
    const { receiver, id, delivery } = await beginDelivery();
    const words = ['wait', 'delivery', id, delivery, '--timeout', '1s'];
    expect((await rtc(stack.environment, words)).code).toBe(8);
    expect((await rtc(stack.environment, ['wait', 'delivery', id, 'dlv_none'])).code).toBe(3);
    expect((await rtc(stack.environment, ['wait', 'delivery', 'wh_none', delivery])).code).toBe(3);
    await receiver.close();
  });
});
