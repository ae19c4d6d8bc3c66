import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Recording } from '../../../../src/contract/recordings.ts';
import type { Health } from '../../../../src/contract/self-check.ts';
import type {
  PostQueued,
  PostTranscriptionDetail,
  PostTranscriptionList,
} from '../../../../src/contract/transcription.ts';
import { loadConfig } from '../../../../src/server/app/config/config.ts';
import { type Clock, systemClock, systemIds } from '../../../../src/server/platform/clock.ts';
import { createOpenaiEngine } from '../../../../src/server/transcription/engines/openai/openai-engine.ts';
import type { SpeechEngine } from '../../../../src/server/transcription/engines/speech.ts';
import { type RunningWorker, startWorker } from '../../../../src/server/worker.ts';
import { json, startHttpServer, type TestHttpServer } from '../../../cli/support/http-server.ts';
import { collectingLog, type LogLine } from '../../../support/app.ts';
import { type RunningPart, runPart } from '../../../support/parts/run-part.ts';
import { bucketSettings, type S3, startS3 } from '../../../support/parts/s3.ts';
import { type TestSpeechOptions, testSpeech } from '../../../support/test-speech.ts';
import { type Network, startNetwork } from '../../platform/storage/network.ts';
import { register } from '../../webhooks/support/hooked-service.ts';
import { type Receiver, startReceiver } from '../../webhooks/support/receiver.ts';
import {
  cutOff,
  damage,
  emptyFile,
  type MediaFiles,
  makeMediaFiles,
  silence,
  videoOnly,
} from '../audio/media-files.ts';
import {
  readProblem,
  startTranscriptionStage,
  type TranscriptionStage,
} from '../support/transcription-stage.ts';

/*
 * Recordings in a real bucket (versitygw), with ffmpeg, the whole service, and the worker as `rtc worker stt-post` composes
 * it. Only the recogniser is simulated: its text is the length of each segment.
 */

let s3: S3;
let stage: TranscriptionStage;
let media: MediaFiles;
let receiver: Receiver;
beforeAll(async () => {
  s3 = await startS3();
  media = await makeMediaFiles();
  stage = await startTranscriptionStage(bucketSettings(s3));
  receiver = await startReceiver();
  await register(stage.service, receiver.url, ['transcription_completed', 'transcription_failed']);
});
afterAll(async () => {
  await receiver?.close();
  await stage?.close();
  await media?.remove();
  await s3?.close();
});

const workers: RunningWorker[] = [];
const processes: RunningPart[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
  await Promise.all(processes.splice(0).map((part) => part.close()));
  for (const { id, endedAt } of await stage.store.transcriptions.listNewest({ kind: 'post', limit: 1000 })) {
    if (endedAt === null) await stage.store.transcriptions.delete(id);
  }
});

const settings = () => ({
  API_KEY: 'key',
  API_SECRET: 'secret',
  DATA_DIR: stage.dataDir,
  RECORDING_DIR: stage.recordingDir,
  ...bucketSettings(s3),
});

type Over = {
  readonly clock?: Clock;
  readonly environment?: Readonly<Record<string, string>>;
  readonly engine?: SpeechEngine;
};

async function work(
  options: TestSpeechOptions = {},
  { clock = systemClock, environment = {}, engine }: Over = {},
): Promise<{ worker: RunningWorker; log: readonly LogLine[] }> {
  const log: LogLine[] = [];
  const parts = { log: collectingLog(log), clock, ids: systemIds };
  const speech = { ...testSpeech(options), ...(engine === undefined ? {} : { engine }) };
  const config = loadConfig({ ...settings(), ...environment });
  const worker = await startWorker(config, { ...parts, kind: 'stt-post', speech });
  workers.push(worker);
  return { worker, log };
}

const lateBy = (ms: number): Clock => ({ ...systemClock, now: () => systemClock.now() + ms });

/** Makes a recording whose file in the bucket is this one. */
async function record(file: string): Promise<Recording> {
  const recording = await stage.recordWhole(`room-${randomUUID()}`);
  await copyFile(file, join(s3.bucketFolder, recording.file?.path ?? ''));
  return recording;
}

/** Stores the length that the recorder of a longer recording would have reported. */
async function reportLength(recordingId: string, durationMs: number): Promise<void> {
  const recording = await stage.store.recordings.findByEgressId(recordingId);
  if (recording === undefined) throw new Error('the recording is not there');
  await stage.store.recordings.update(recording, { durationMs });
}

const call = (method: string, path: string, body?: unknown) =>
  stage.service.call(method, path, body === undefined ? {} : { body });

const queuePath = (id: string): string => `/v1/recordings/${encodeURIComponent(id)}/transcribe`;

async function queue(recordingId: string, body?: unknown): Promise<PostQueued> {
  const response = await call('POST', queuePath(recordingId), body);
  expect(response.status, response.text).toBe(202);
  return response.json;
}

async function get(id: string): Promise<PostTranscriptionDetail> {
  const response = await call('GET', `/v1/transcriptions/${id}`);
  expect(response.status, response.text).toBe(200);
  return response.json;
}

const until = (
  id: string,
  isSo: (one: PostTranscriptionDetail) => boolean,
  deadlineMs = 25_000,
): Promise<PostTranscriptionDetail> =>
  vi.waitUntil(
    async () => {
      const one = await get(id);
      return isSo(one) && one;
    },
    { timeout: deadlineMs, interval: 50 },
  );
const ended = (id: string, deadlineMs?: number) =>
  until(id, ({ status }) => status === 'completed' || status === 'failed', deadlineMs);

describe('transcribing a recording', () => {
  it('goes from queued to completed, with segments, times, the length and an event', async () => {
    const recording = await record(media.speech);
    await stage.beat('stt-post');
    const queued = await queue(recording.recordingId, { language: 'en-GB', participants: { ada: 'Ada' } });
    expect(queued).toEqual({
      transcriptionId: expect.stringMatching(/^tr_/),
      recordingId: recording.recordingId,
      status: 'queued',
      queuedAt: expect.any(String),
    });
    expect(await get(queued.transcriptionId)).toMatchObject({ status: 'queued', progress: 0, segments: [] });
    await work();
    const done = await ended(queued.transcriptionId);
    expect(done).toMatchObject({
      transcriptionId: queued.transcriptionId,
      recordingId: recording.recordingId,
      roomId: recording.roomId,
      status: 'completed',
      language: 'en-GB',
      participants: { ada: 'Ada' },
      progress: 1,
      queuedAt: queued.queuedAt,
      error: null,
    });
    expect(done.durationMs).toBeGreaterThan(4500);
    expect(done.durationMs).toBeLessThan(5500);
    const [first] = done.segments;
    expect(first).toMatchObject({
      transcriptionId: queued.transcriptionId,
      trackId: null,
      participantIdentity: null,
      speaker: 'Ada',
      language: 'en-GB',
      final: true,
      confidence: 0.5,
      text: expect.stringMatching(/^\d\.\d seconds$/),
    });
    const seconds = (first?.end ?? 0) - (first?.start ?? 0);
    expect(Number.parseFloat(first?.text ?? '')).toBeCloseTo(seconds, 0);
    expect(recording.mediaStartedAt).toEqual(expect.any(String));
    const origin = Date.parse(recording.mediaStartedAt ?? '');
    expect(Date.parse(first?.startedAt ?? '')).toBe(origin + Math.round((first?.start ?? 0) * 1000));
    const [delivery] = await receiver.waitFor(({ text }) => text.includes(queued.transcriptionId));
    expect(JSON.parse(delivery?.text ?? '')).toMatchObject({
      event: 'transcription_completed',
      transcription: {
        transcriptionId: queued.transcriptionId,
        kind: 'post',
        recordingId: recording.recordingId,
        status: 'completed',
        segmentCount: done.segments.length,
        durationMs: done.durationMs,
      },
    });
    const text = await call('GET', `/v1/transcriptions/${queued.transcriptionId}?format=srt`);
    expect(text.text).toMatch(/^1\n00:00:00,\d{3} --> 00:00:0\d,\d{3}\nAda: \d\.\d seconds\n/);
  });

  it('is one per language, and the second request returns the first one, until it failed', async () => {
    await stage.beat('stt-post', ['en', 'it']);
    const { recordingId } = await record(media.speech);
    const first = await queue(recordingId);
    expect(await queue(recordingId, { language: 'en-US' })).toEqual(first);
    expect((await queue(recordingId, { language: 'it' })).transcriptionId).not.toBe(first.transcriptionId);
    await work();
    await ended(first.transcriptionId);
    expect(await queue(recordingId)).toEqual({ ...first, status: 'completed' });
  });

  it('leaves a language that the worker does not support to others', async () => {
    await stage.beat('stt-post', ['en', 'it']);
    const { recordingId } = await record(media.speech);
    const italian = await queue(recordingId, { language: 'it' });
    const english = await queue(recordingId, { language: 'en' });
    await work({ languages: ['en'] });
    expect((await ended(english.transcriptionId)).status).toBe('completed');
    expect((await get(italian.transcriptionId)).status).toBe('queued');
    await work({ languages: ['it'] });
    expect((await ended(italian.transcriptionId)).status).toBe('completed');
  });

  it('of a silent recording is completed and empty', async () => {
    await stage.beat('stt-post');
    const { recordingId } = await record(await media.make('silent.mp4', silence(3)));
    const { transcriptionId } = await queue(recordingId);
    await work();
    const done = await ended(transcriptionId);
    expect(done).toMatchObject({ status: 'completed', segments: [], error: null, progress: 1 });
    expect(done.durationMs).toBeGreaterThan(2900);
    expect((await call('GET', `/v1/transcriptions/${transcriptionId}?format=text`)).text).toBe('');
    expect((await call('GET', `/v1/transcriptions/${transcriptionId}?format=vtt`)).text).toBe('WEBVTT\n');
  });

  it.each([
    ['recording-empty', () => emptyFile(join(media.folder, 'empty.mp4'))],
    ['recording-without-audio', () => media.make('video.mp4', videoOnly(2))],
    [
      'recording-not-media',
      async () => {
        const path = join(media.folder, 'text.mp4');
        await writeFile(path, 'This is no film.');
        return path;
      },
    ],
    ['recording-not-media', () => cutOff(media.speech, join(media.folder, 'no-index.mp4'), 20_000)],
  ])('fails at the first attempt with %s', async (code, make) => {
    await stage.beat('stt-post');
    const { recordingId } = await record(await make());
    const { transcriptionId } = await queue(recordingId);
    await work();
    const failed = await ended(transcriptionId);
    expect(failed).toMatchObject({ status: 'failed', segments: [], error: { code } });
    expect(failed.completedAt).not.toBeNull();
    const [delivery] = await receiver.waitFor(({ text }) => text.includes(transcriptionId));
    expect(JSON.parse(delivery?.text ?? '')).toMatchObject({
      event: 'transcription_failed',
      transcription: { transcriptionId, recordingId, status: 'failed', error: failed.error },
    });
    const again = await queue(recordingId);
    expect(again.transcriptionId).not.toBe(transcriptionId);
    expect(again.status).toBe('queued');
  });

  it.each([
    ['was cut off', () => cutOff(media.fastStart, join(media.folder, 'cut.mp4'), 25_000)],
    ['has noise in its middle', () => damage(media.fastStart, join(media.folder, 'noise.mp4'))],
  ])('of a file that %s fails, and keeps everything that was readable', async (_case, make) => {
    await stage.beat('stt-post');
    const { recordingId } = await record(await make());
    const { transcriptionId } = await queue(recordingId);
    await work();
    const failed = await ended(transcriptionId);
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'recording-damaged' } });
    expect(failed.segments.length).toBeGreaterThan(0);
  });

  it('fails when the file is missing', async () => {
    await stage.beat('stt-post');
    const { recordingId, file } = await record(media.speech);
    const { transcriptionId } = await queue(recordingId);
    await rm(join(s3.bucketFolder, file?.path ?? ''));
    await work();
    expect(await ended(transcriptionId)).toMatchObject({ error: { code: 'recording-file-not-found' } });
  });

  it('fails when the recording was deleted, and stays readable', async () => {
    await stage.beat('stt-post');
    const { recordingId } = await record(media.speech);
    const { transcriptionId } = await queue(recordingId);
    expect((await call('DELETE', `/v1/recordings/${recordingId}`)).status).toBe(204);
    await work();
    expect(await ended(transcriptionId)).toMatchObject({
      recordingId,
      status: 'failed',
      error: { code: 'recording-not-found' },
    });
  });

  it('takes speech without text for an error, after it has tried the halves', async () => {
    await stage.beat('stt-post');
    const { recordingId } = await record(media.speech);
    const deaf = await queue(recordingId);
    const { worker } = await work({ recognise: () => '' });
    const failed = await ended(deaf.transcriptionId);
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'speech-not-recognised' } });
    expect(failed.error?.message).toMatch(/from \d+\.\d s to \d+\.\d s/);
    await worker.close();
    const half = await queue(recordingId);
    await work({ recognise: ({ seconds }) => (seconds > 3 ? '' : 'half') });
    const done = await ended(half.transcriptionId);
    expect(done.status).toBe('completed');
    expect(done.segments.filter(({ text }) => text === 'half').length).toBeGreaterThanOrEqual(2);
  });

  it('marks speech without text, and continues', async () => {
    await stage.beat('stt-post');
    const oneSecondThenFour = '0.3*sin(440*2*PI*t)*(lt(t,1)+gt(t,2))';
    const { recordingId } = await record(
      await media.make('one-and-four.mp4', [
        '-f',
        'lavfi',
        '-i',
        `aevalsrc='${oneSecondThenFour}':d=6`,
        '-c:a',
        'aac',
      ]),
    );
    const { transcriptionId } = await queue(recordingId);
    await work({ recognise: ({ seconds }) => (seconds > 1.5 ? '' : 'word') });
    const done = await ended(transcriptionId);
    expect(done.status).toBe('completed');
    expect(new Set(done.segments.map(({ text }) => text))).toEqual(new Set(['word', '[inaudible]']));
  });

  it('shows its progress and the segments so far while it works, and stops when it is deleted', async () => {
    await stage.beat('stt-post');
    const long = await media.make('long.mp4', [
      ...['-stream_loop', '29', '-i', media.fastStart],
      '-c',
      'copy',
    ]);
    const { recordingId } = await record(long);
    const row = await stage.store.recordings.findByEgressId(recordingId);
    if (row === undefined) throw new Error('the recording is not there');
    await stage.store.recordings.update(row, { durationMs: 140_700 });
    const { transcriptionId } = await queue(recordingId);
    const { log } = await work({
      recognise: async () => {
        await systemClock.sleep(200);
        return 'word';
      },
    });
    const halfway = await until(transcriptionId, ({ progress }) => progress > 0.1);
    expect(halfway).toMatchObject({ status: 'processing', completedAt: null });
    expect(halfway.progress).toBeLessThan(1);
    expect(halfway.segments.length).toBeGreaterThan(0);
    const later = await until(transcriptionId, ({ progress }) => progress > halfway.progress);
    expect(later.segments.length).toBeGreaterThan(halfway.segments.length);
    expect((await call('DELETE', `/v1/transcriptions/${transcriptionId}`)).status).toBe(204);
    await vi.waitUntil(() => log.some(({ message }) => message.includes('deleted or taken over')), 60_000);
    expect(await stage.store.transcriptions.countSegments(transcriptionId)).toBe(0);
  });

  it('tries three times after a temporary error, and stores each reason', async () => {
    await stage.beat('stt-post');
    const { recordingId } = await record(media.speech);
    const { transcriptionId } = await queue(recordingId);
    const recognise = (): string => {
      throw new Error('out of memory');
    };
    const error = { code: 'internal-error', message: expect.stringContaining('its log') };
    // Pauses of 5 s and 30 s. A worker on a later day does not wait for them.
    for (const [attempt, lateMs] of [0, 6_000, 60_000].entries()) {
      const { worker } = await work({ recognise }, { clock: lateBy(lateMs) });
      const tried = await vi.waitUntil(
        async () => {
          const row = await stage.store.transcriptions.find(transcriptionId);
          return row?.attempts === attempt + 1 && row.status !== 'processing' && row;
        },
        { timeout: 60_000, interval: 50 },
      );
      expect(tried.status).toBe(attempt === 2 ? 'failed' : 'queued');
      expect((await get(transcriptionId)).error).toEqual(error);
      await worker.close();
    }
  });

  it('of an hour has all of its speech, to its last minute', async () => {
    await stage.beat('stt-post');
    const minute = await media.make('minute.mp4', [
      ...['-i', media.speech, '-af', 'apad', '-c:v', 'copy', '-c:a', 'aac', '-t', '60'],
    ]);
    const hour = await media.make('hour.mp4', [...['-stream_loop', '59', '-i', minute], '-c', 'copy']);
    const { recordingId } = await record(hour);
    await reportLength(recordingId, 3_600_000);
    const { transcriptionId } = await queue(recordingId);
    await work();
    const done = await ended(transcriptionId, 240_000);
    expect(done).toMatchObject({ status: 'completed', error: null, progress: 1 });
    expect((done.durationMs ?? 0) / 60_000).toBeCloseTo(60, 0);
    const minutes = done.segments.map(({ start }) =>
      Math.floor(((start + 1) / (done.durationMs ?? 0)) * 60_000),
    );
    expect(new Set(minutes)).toEqual(new Set(Array.from({ length: 60 }, (_, index) => index)));
  }, 300_000);
});

describe('a speech server', () => {
  const API_KEY = 'sk-secret';
  let server: TestHttpServer;
  afterEach(() => server?.close());
  const createEngine = async (response: Parameters<typeof startHttpServer>[0]): Promise<SpeechEngine> => {
    server = await startHttpServer(response);
    const settings = { url: server.url, apiKey: API_KEY, model: 'whisper-1', languages: ['en'] };
    return createOpenaiEngine({ log: collectingLog([]) }, settings);
  };
  const transcribe = async (engine: SpeechEngine) => {
    await stage.beat('stt-post');
    const { recordingId } = await record(media.speech);
    const { transcriptionId } = await queue(recordingId);
    const { log } = await work({}, { engine });
    return { done: await ended(transcriptionId), log };
  };

  it('that is busy is awaited as long as it requests, without starting the recording again', async () => {
    const askedAt: number[] = [];
    const engine = await createEngine((_request, response, count) => {
      askedAt.push(performance.now());
      if (count === 1) response.writeHead(429, { 'retry-after': '2' }).end();
      else json(response, 200, { text: `words ${count}` });
    });
    const { done } = await transcribe(engine);
    expect(done).toMatchObject({ status: 'completed', error: null });
    expect(done.segments[0]?.text).toBe('words 2');
    expect((askedAt[1] ?? 0) - (askedAt[0] ?? 0)).toBeGreaterThan(1_990);
    expect(await stage.store.transcriptions.find(done.transcriptionId)).toMatchObject({ attempts: 1 });
  });

  it('is sent several segments at once, and they stay in order', async () => {
    let [running, most] = [0, 0];
    const engine = await createEngine((_request, response, count) => {
      running += 1;
      most = Math.max(most, running);
      // The second request gets its response first.
      setTimeout(() => {
        running -= 1;
        json(response, 200, { text: `words ${count}` });
      }, 300 / count);
    });
    // The first request of a process is sent alone.
    const first = await engine.recognise({ samples: new Float32Array(16_000), language: 'en' });
    expect(first.text).toBe('words 1');
    await stage.beat('stt-post');
    const oneSecondOfTwo = '0.3*sin(440*2*PI*t)*lt(mod(t,2),1)';
    const source = ['-f', 'lavfi', '-i', `aevalsrc='${oneSecondOfTwo}':d=16`, '-c:a', 'aac'];
    const { recordingId } = await record(await media.make('beeps.mp4', source));
    const { transcriptionId } = await queue(recordingId);
    await work({}, { engine });
    const done = await ended(transcriptionId);
    expect(done.status).toBe('completed');
    expect(most).toBeGreaterThan(1);
    expect(done.segments.map(({ text }) => text)).toEqual(
      done.segments.map((_, index) => `words ${index + 2}`),
    );
  });

  it('that returns the times of words has them in the transcript', async () => {
    const words = [{ word: 'Good', start: 0.25, end: 0.5 }];
    const segments = [{ avg_logprob: Math.log(0.5), tokens: [1] }];
    const engine = await createEngine((_request, response) =>
      json(response, 200, { text: 'Good!', words, segments }),
    );
    const { done } = await transcribe(engine);
    expect(done.segments).not.toEqual([]);
    for (const segment of done.segments) {
      expect(segment.confidence).toBeCloseTo(0.5);
      expect(segment.words).toEqual([
        { text: 'Good!', start: expect.any(Number), end: expect.any(Number), confidence: null },
      ]);
      expect(segment.words?.[0]?.start).toBeCloseTo(segment.start + 0.25, 2);
    }
  });

  it('that rejects the key fails the transcription at once, and the key is shown nowhere', async () => {
    const engine = await createEngine((_request, response) =>
      json(response, 401, { error: { message: API_KEY } }),
    );
    const { done, log } = await transcribe(engine);
    expect(done).toMatchObject({ status: 'failed', error: { code: 'speech-engine-error' } });
    expect(done.error?.message).toContain('STT_OPENAI_KEY');
    expect(server.received).toHaveLength(1);
    expect(server.received[0]?.headers.authorization).toBe(`Bearer ${API_KEY}`);
    expect(inspect({ done, log }, { depth: null })).not.toContain(API_KEY);
  });
});

describe('a recording in a bucket', () => {
  let network: Network;
  beforeAll(async () => {
    network = await startNetwork(new URL(s3.url));
  });
  afterAll(() => network?.close());

  it('that is unavailable is tried again, and nothing of the recording is lost', async () => {
    await stage.beat('stt-post');
    const { recordingId, file } = await record(media.speech);
    const { transcriptionId } = await queue(recordingId);
    await network.cut();
    const environment = { S3_ENDPOINT: network.url(s3.url) };
    const { worker } = await work({}, { environment });
    const waiting = await until(transcriptionId, ({ error }) => error !== null);
    expect(waiting).toMatchObject({ status: 'queued', segments: [], error: { code: 'storage-unavailable' } });
    await worker.close();
    expect(existsSync(join(s3.bucketFolder, file?.path ?? ''))).toBe(true);
    await network.mend();
    await work({}, { environment, clock: lateBy(6_000) });
    expect(await ended(transcriptionId)).toMatchObject({ status: 'completed', error: null });
  });

  it('that becomes unavailable during the transcription is awaited, and read to its end', async () => {
    await stage.beat('stt-post');
    const whole = await media.make('whole.mp4', [
      ...['-stream_loop', '59', '-i', media.fastStart],
      ...['-c', 'copy'],
    ]);
    const { recordingId } = await record(whole);
    const { transcriptionId } = await queue(recordingId);
    let isCut = false;
    const recognise = async (): Promise<string> => {
      if (!isCut) await network.cut();
      isCut = true;
      return 'word';
    };
    await work({ recognise }, { environment: { S3_ENDPOINT: network.url(s3.url) } });
    await vi.waitUntil(() => isCut, 60_000);
    await network.mend();
    const done = await ended(transcriptionId);
    expect(done).toMatchObject({ status: 'completed', error: null });
    expect(done.segments.at(-1)?.end).toBeGreaterThan((done.durationMs ?? 0) / 1000 - 6);
    expect(await stage.store.transcriptions.find(transcriptionId)).toMatchObject({ attempts: 1 });
  });

  it('that rejects the keys fails at the first attempt, and the error names the setting', async () => {
    await stage.beat('stt-post');
    const { recordingId, file } = await record(media.speech);
    const { transcriptionId } = await queue(recordingId);
    await work({}, { environment: { S3_SECRET_KEY: 'wrong' } });
    const failed = await ended(transcriptionId);
    expect(failed).toMatchObject({
      status: 'failed',
      segments: [],
      error: { code: 'recording-storage-error' },
    });
    expect(failed.error?.message).toContain('S3_SECRET_KEY');
    expect(existsSync(join(s3.bucketFolder, file?.path ?? ''))).toBe(true);
  });
});

describe('a worker', () => {
  const startProcess = async (pauseMs: number): Promise<RunningPart> => {
    const program = new URL('../support/post-worker-process.ts', import.meta.url).pathname;
    const part = runPart({
      name: 'stt-post',
      program: process.execPath,
      args: [program, String(pauseMs)],
      env: { ...process.env, ...settings() },
      stopSignal: 'SIGKILL',
    });
    processes.push(part);
    await vi.waitUntil(() => part.output().includes('ready'), 60_000);
    return part;
  };

  it('that is killed during a transcription is replaced by another, under the same id, without a duplicate segment', async () => {
    await stage.beat('stt-post');
    const twice = await media.make('twice.mp4', [
      ...['-stream_loop', '3', '-i', media.fastStart],
      '-c',
      'copy',
    ]);
    const { recordingId } = await record(twice);
    const { transcriptionId } = await queue(recordingId);
    const first = await startProcess(1500);
    const before = await until(transcriptionId, ({ segments }) => segments.length > 0);
    await first.close();
    await work();
    const done = await ended(transcriptionId);
    expect(done.status).toBe('completed');
    expect(done.segments.length).toBeGreaterThan(before.segments.length);
    expect(new Set(done.segments.map(({ start }) => start)).size).toBe(done.segments.length);
    expect(await stage.store.transcriptions.find(transcriptionId)).toMatchObject({ attempts: 2 });
  }, 60_000);

  it('keeps its lease, by the time of day, whenever it stores its progress', async () => {
    await stage.beat('stt-post');
    const thrice = await media.make('thrice.mp4', [
      ...['-stream_loop', '2', '-i', media.fastStart],
      ...['-c', 'copy'],
    ]);
    const { recordingId } = await record(thrice);
    const { transcriptionId } = await queue(recordingId);
    const leases: (number | null | undefined)[] = [];
    let skippedMs = 0;
    // More than a second passes with each segment, so the progress is stored after each.
    const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + skippedMs };
    const recognise = async (): Promise<string> => {
      leases.push((await stage.store.transcriptions.find(transcriptionId))?.leaseUntil);
      skippedMs += 2_000;
      return 'words';
    };
    const startedAt = Date.now();
    await work({ recognise }, { clock });
    expect((await ended(transcriptionId)).status).toBe('completed');
    expect(leases.length).toBeGreaterThan(1);
    expect(leases.filter((until) => (until ?? 0) < startedAt)).toEqual([]);
  }, 60_000);

  it('that is stopped releases its job, and the attempt does not count', async () => {
    await stage.beat('stt-post');
    const { recordingId } = await record(media.speech);
    const { transcriptionId } = await queue(recordingId);
    const { promise: isHearing, resolve: hears } = Promise.withResolvers<void>();
    const { worker } = await work({
      recognise: async () => {
        hears();
        // Longer than it takes to stop the worker.
        await systemClock.sleep(1_000);
        return 'word';
      },
    });
    await isHearing;
    await worker.close();
    expect(await stage.store.transcriptions.find(transcriptionId)).toMatchObject({
      status: 'queued',
      attempts: 0,
      leaseOwner: null,
    });
    await work();
    expect((await ended(transcriptionId)).status).toBe('completed');
  });

  it('fails a job that ended three workers', async () => {
    await stage.beat('stt-post');
    const { recordingId } = await record(media.speech);
    const { transcriptionId } = await queue(recordingId);
    for (let attempt = 1; attempt <= 3; attempt++) {
      const now = Date.now();
      const claim = { owner: `dead ${attempt}`, now, leaseUntil: now, limit: 100, supports: () => true };
      const claimed = await stage.store.transcriptions.claimPost(claim);
      for (const { id } of claimed) {
        if (id !== transcriptionId) await stage.store.transcriptions.delete(id);
      }
    }
    await work();
    expect(await ended(transcriptionId)).toMatchObject({ status: 'failed', error: { code: 'worker-lost' } });
  });

  it('is visible to the service while it lives, with its languages', async () => {
    await stage.die('stt-post');
    const isThere = async (): Promise<boolean> =>
      ((await call('GET', '/v1/health')).json as Health).capabilities.transcriptionPost;
    // A worker that an earlier test killed counts as alive for some seconds.
    await expect.poll(isThere).toBe(false);
    const { recordingId } = await record(media.speech);
    const refused = readProblem(await call('POST', queuePath(recordingId)));
    expect(refused).toMatchObject({ status: 503, code: 'addon-unavailable' });
    expect(refused.detail).toContain('start a stt-post worker');
    const { worker } = await work({ languages: ['it', 'fr'] });
    const unknown = readProblem(await call('POST', queuePath(recordingId)));
    expect(unknown).toMatchObject({ status: 400, code: 'invalid-request' });
    expect(unknown.errors).toMatchObject([
      { pointer: '#/language', detail: expect.stringContaining('fr, it') },
    ]);
    expect((await call('POST', queuePath(recordingId), { language: 'fr-CA' })).status).toBe(202);
    await worker.close();
    expect((await call('POST', queuePath(recordingId))).status).toBe(503);
  });
});

describe('a recording that cannot be transcribed', () => {
  it('is 404 for an unknown recording, 409 while it runs', async () => {
    await stage.beat('stt-post');
    for (const id of ['EG_unknown', 'x', '\u0000', '../x']) {
      expect(readProblem(await call('POST', queuePath(id)))).toMatchObject({
        status: 404,
        code: 'recording-not-found',
      });
    }
    const running = await stage.record(`room-${randomUUID()}`);
    expect(readProblem(await call('POST', queuePath(running.egressId)))).toMatchObject({
      status: 409,
      code: 'recording-not-finished',
    });
  });

  it.each([[{ language: 'x' }], [{ options: {} }], [{ participants: { a: '' } }], [[]]])(
    'is 400 for %j',
    async (body) => {
      const response = await call('POST', queuePath('EG_x'), body);
      expect(readProblem(response)).toMatchObject({ status: 400, code: 'invalid-request' });
    },
  );
});

describe('the list of transcriptions', () => {
  it('is newest first, in pages, without segments, filtered by room, recording and status', async () => {
    await stage.beat('stt-post', ['en', 'it', 'de']);
    const { recordingId, roomId } = await record(media.speech);
    const ids: string[] = [];
    for (const language of ['en', 'it', 'de']) {
      ids.unshift((await queue(recordingId, { language })).transcriptionId);
      await systemClock.sleep(2);
    }
    const list = async (query: string): Promise<PostTranscriptionList> => {
      const response = await call('GET', `/v1/transcriptions?${query}`);
      expect(response.status, response.text).toBe(200);
      return response.json;
    };
    const room = `roomId=${encodeURIComponent(roomId)}`;
    const first = await list(`${room}&limit=2`);
    expect(first.transcriptions.map(({ transcriptionId }) => transcriptionId)).toEqual(ids.slice(0, 2));
    expect(first.transcriptions[0]).not.toHaveProperty('segments');
    const second = await list(`${room}&limit=2&cursor=${first.nextCursor}`);
    expect(second.transcriptions.map(({ transcriptionId }) => transcriptionId)).toEqual(ids.slice(2));
    expect(second.nextCursor).toBeNull();
    expect((await list(`recordingId=${recordingId}&status=queued`)).transcriptions).toHaveLength(3);
    expect((await list(`${room}&status=completed`)).transcriptions).toEqual([]);
    expect((await list('roomId=nobody')).transcriptions).toEqual([]);
  });

  it.each(['cursor=x', 'limit=0', 'limit=201', 'status=stopped', 'roomId=', 'unknown=1'])(
    'is 400 for %s',
    async (query) => {
      expect((await call('GET', `/v1/transcriptions?${query}`)).status).toBe(400);
    },
  );

  it('has no transcription of an unknown id', async () => {
    for (const id of ['tr_unknown', '%00', 'x'.repeat(256)]) {
      for (const method of ['GET', 'DELETE']) {
        expect(readProblem(await call(method, `/v1/transcriptions/${id}`))).toMatchObject({
          status: 404,
          code: 'transcription-not-found',
        });
      }
    }
  });
});
