import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { access, copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LiveStarted } from '../../../src/contract/transcription.ts';
import { loadConfig } from '../../../src/server/app/config/config.ts';
import { systemClock, systemIds } from '../../../src/server/platform/clock.ts';
import { type RunningWorker, startWorker } from '../../../src/server/worker.ts';
import { type MediaFiles, makeMediaFiles } from '../../server/transcription/audio/media-files.ts';
import {
  segment,
  startTranscriptionStage,
  type TranscriptionStage,
} from '../../server/transcription/support/transcription-stage.ts';
import { collectingLog } from '../../support/app.ts';
import { testSpeech } from '../../support/test-speech.ts';
import { type Run, type RunOptions, run } from '../support/run.ts';

let stage: TranscriptionStage;
let media: MediaFiles;
let worker: RunningWorker;
beforeAll(async () => {
  media = await makeMediaFiles();
  stage = await startTranscriptionStage();
  await stage.beat('stt-live', ['en', 'it']);
  const settings = {
    API_KEY: 'k',
    API_SECRET: 's',
    DATA_DIR: stage.dataDir,
    RECORDING_DIR: stage.recordingDir,
  };
  const parts = { log: collectingLog([]), clock: systemClock, ids: systemIds };
  worker = await startWorker(loadConfig(settings), { ...parts, kind: 'stt-post', speech: testSpeech() });
});
afterAll(async () => {
  await worker?.close();
  await stage?.close();
  await media?.remove();
});

function rtc(argv: readonly string[], options: RunOptions = {}): Promise<Run> {
  const { url, apiKey, apiSecret } = stage.service;
  const env = { RTC_URL: url, RTC_API_KEY: apiKey, RTC_API_SECRET: apiSecret, ...options.env };
  return run(argv, { ...options, env });
}

async function ok(argv: readonly string[], options?: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await rtc(argv, options);
  expect(code, stderr).toBe(0);
  return stdout;
}

describe('rtc transcription', () => {
  it('starts, names, shows and stops', async () => {
    const room = `room-${randomUUID()}`;
    await stage.open(room);
    const argv = [
      'transcription',
      'start',
      room,
      'bob=Bob',
      '--language',
      'it',
      '--profanity-filter',
      '--json',
    ];
    const started = JSON.parse(await ok(argv)) as LiveStarted;
    expect(started).toMatchObject({ roomId: room, status: 'active', language: 'it' });
    expect(await stage.store.transcriptions.find(started.transcriptionId)).toMatchObject({
      speakers: { bob: 'Bob' },
      options: { partialResults: false, punctuation: true, profanityFilter: true },
    });
    const origin = Date.parse(started.startedAt);
    await stage.storeSegments(started.transcriptionId, [
      segment(`1-${room}`, { startedAt: origin + 61_500, endedAt: origin + 63_000, text: 'Good morning.' }),
    ]);
    expect(await ok(['transcription', 'get', room])).toBe('61.5\tAda Lovelace\tGood morning.\n');
    expect(await ok(['transcription', 'speakers', room, 'ada=Countess = A', 'bob='])).toBe('');
    expect(await ok(['transcription', 'get', room, '--format', 'text'])).toBe(
      '[00:01:01] Countess = A: Good morning.\n',
    );
    expect((await stage.store.transcriptions.find(started.transcriptionId))?.speakers).toEqual({
      ada: 'Countess = A',
    });
    const since = new Date(origin + 63_000).toISOString();
    expect(await ok(['transcription', 'get', room, '--since', since, '--format', 'srt'])).toBe('');
    const atItsEnd = { clock: () => origin + 63_000 };
    expect(await ok(['transcription', 'get', room, '--since', '0s'], atItsEnd)).toBe('');
    expect(await ok(['transcription', 'get', room, '--since', '1s'], atItsEnd)).toContain('Good morning.');
    const terminal = stripVTControlCharacters(
      await ok(['transcription', 'get', room], { terminals: ['stdout'] }),
    );
    expect(terminal).toMatch(/1:01\s+Countess = A\s+Good morning\./);
    const list = ['transcription', 'list', '--room', room, '--json'];
    const summary = { transcriptionId: started.transcriptionId, roomId: room, language: 'it', error: null };
    expect(JSON.parse(await ok([...list, '--status', 'active']))).toMatchObject({
      transcriptions: [{ ...summary, status: 'active', stoppedAt: null }],
      nextCursor: null,
    });
    expect(JSON.parse(await ok([...list, '--status', 'stopped'])).transcriptions).toEqual([]);
    const stopped = JSON.parse(await ok(['transcription', 'stop', room, '--json']));
    expect(stopped).toMatchObject({ transcriptionId: started.transcriptionId, segmentCount: 1 });
    const api = await stage.service.call('GET', `/v1/rooms/${room}/transcription`);
    for (const format of [['--json'], ['--format', 'json']]) {
      expect(JSON.parse(await ok(['transcription', 'get', room, ...format]))).toEqual(api.json);
    }
  });

  it.each([
    [3, ['transcription', 'stop', 'nobody-is-here'], 'is not being transcribed'],
    [3, ['transcription', 'get', 'nobody-is-here'], 'was never transcribed'],
    [3, ['transcription', 'start', 'nobody-is-here'], 'There is no room'],
    [2, ['transcription', 'start', 'demo', '--language', 'de'], 'there are en, it'],
    [2, ['transcription', 'start', 'demo', 'ada'], 'is not KEY=NAME'],
    [2, ['transcription', 'start', 'demo', 'ada='], 'has no name'],
    [2, ['transcription', 'get', 'demo', '--since', 'yesterday'], 'since'],
    [2, ['transcription', 'get', 'demo', '--format', 'pdf'], 'json, text, md, vtt, srt'],
  ])('ends with %i for %j', async (code, argv, words) => {
    const refused = await rtc(argv);
    expect([refused.code, refused.stdout]).toEqual([code, '']);
    expect(refused.stderr).toContain(words);
  });

  it('ends with 6 without a worker, and explains how to start one', async () => {
    await stage.die('stt-live');
    const refused = await rtc(['transcription', 'start', 'demo']);
    await stage.beat('stt-live', ['en', 'it']);
    expect(refused.code).toBe(6);
    expect(refused.stderr).toContain('start a stt-live worker');
    expect(refused.stderr).toContain('rtc worker stt-live');
  });
});

describe('rtc transcriptions', () => {
  it('explains how to make one when there is none to list', async () => {
    const { code, stdout, stderr } = await rtc(['transcriptions', 'list', '--room', randomUUID()]);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toBe(
      'No transcription of a recording is listed. Make one: rtc transcriptions create RECORDING\n',
    );
  });

  it('are deleted by participant, after a confirmation', async () => {
    const room = `room-${randomUUID()}`;
    await stage.open(room);
    const started = JSON.parse(await ok(['transcription', 'start', room, '--json'])) as LiveStarted;
    await stage.storeSegments(started.transcriptionId, [segment(`3-${room}`)]);
    const argv = ['participants', 'forget', room, 'ada'];
    const refused = await rtc(argv);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(await ok([...argv, '--yes'])).toBe(
      'SEGMENTS\t1\nTRANSCRIPTIONS\t1\nSTILL-RUNNING\t1\nRECORDINGS-LEFT\t0\n',
    );
    expect(JSON.parse(await ok([...argv, '--yes', '--all-rooms', '--json']))).toMatchObject({ running: 1 });
    const { stderr } = await rtc([...argv, '--yes'], { terminals: ['stdout', 'stderr'] });
    expect(stripVTControlCharacters(stderr)).toContain(`rtc transcription stop ${room}`);
    await ok(['transcription', 'stop', room]);
  });

  it('are forgotten with every other trace of the participant, and say what stays until when', async () => {
    const room = `room-${randomUUID()}`;
    await stage.open(room);
    const started = JSON.parse(
      await ok(['transcription', 'start', room, 'ada=Ada', '--json']),
    ) as LiveStarted;
    await stage.storeSegments(started.transcriptionId, [segment(`4-${room}`)]);
    await ok(['transcription', 'stop', room]);
    const now = Date.now();
    await stage.store.blocks.save({ room, identity: 'ada', createdAt: now, blockedUntil: null });
    const argv = ['participants', 'forget', room, 'ada', '--everything'];
    const refused = await rtc(argv);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(await ok(['participants', 'forget', room, 'ada', '--yes', '--all-rooms'])).not.toContain('EVENTS');
    const erased = await rtc([...argv, '--yes'], { terminals: ['stdout', 'stderr'] });
    const notes = stripVTControlCharacters(erased.stderr).replaceAll(/\s+/g, ' ');
    expect(stripVTControlCharacters(erased.stdout)).toMatch(/SPEAKER-NAMES\s+1[\s\S]*BLOCKS-ENDED\s+1/);
    const { traces } = JSON.parse(await ok([...argv, '--yes', '--json']));
    expect(Date.parse(traces.blocksUntil)).toBeGreaterThan(now);
    expect(notes).toContain(`have the identity until ${traces.blocksUntil}`);
    expect(notes).toMatch(/The audit log keeps .* until \d{4}-/);
    expect(await ok([...argv, '--yes'])).toBe(
      'SEGMENTS\t0\nTRANSCRIPTIONS\t0\nSTILL-RUNNING\t0\nRECORDINGS-LEFT\t0\nEVENTS\t0\nCONNECTIONS\t0\nSPEAKER-NAMES\t0\nBLOCKS-ENDED\t0\nAUDIT-ENTRIES\t0\nPRESENT-IN\t0\n',
    );
  });

  it('are searched for words, which are marked on a terminal and have no syntax', async () => {
    const room = `room-${randomUUID()}`;
    await stage.open(room);
    const started = JSON.parse(await ok(['transcription', 'start', room, '--json'])) as LiveStarted;
    const origin = Date.parse(started.startedAt);
    const { transcriptionId } = started;
    const times = { startedAt: origin + 61_500, endedAt: origin + 63_000 };
    await stage.storeSegments(transcriptionId, [
      segment(`2-${room}`, { ...times, text: 'Two meetings today.' }),
    ]);
    const argv = ['transcriptions', 'search', 'today', 'meeting', '--room', room];
    const at = new Date(times.startedAt).toISOString();
    expect(await ok(argv)).toBe(
      `${[transcriptionId, room, at, '61.5', 'Ada Lovelace', 'Two meetings today.'].join('\t')}\n`,
    );
    const terminal = stripVTControlCharacters(await ok(argv, { terminals: ['stdout'] }));
    expect(terminal).toContain('[meetings]');
    const json = JSON.parse(await ok([...argv, '--json']));
    expect(json).toMatchObject({ hits: [{ roomId: room, segment: { transcriptionId } }], nextCursor: null });
    expect(await ok(['transcriptions', 'search', 'meeting OR nothing', '--room', room])).toBe('');
    expect(await ok([...argv, '--language', 'it'])).toBe('');
    expect(await ok([...argv, '--until', at])).toBe('');
    await ok(['transcription', 'stop', room]);
  });

  const record = async (file: string): Promise<string> => {
    const recording = await stage.recordWhole(`room-${randomUUID()}`);
    await copyFile(file, recording.file?.path ?? '');
    return recording.recordingId;
  };

  it('are added to the file of the recording as subtitles, if ffmpeg is installed', async () => {
    const recording = await record(media.speech);
    const path = join(media.folder, `${recording}.mp4`);
    const argv = ['recordings', 'download', recording, path, '--with-captions'];
    const withFfmpeg = { env: { PATH: process.env.PATH ?? '' } };
    const missing = await rtc(argv);
    expect([missing.code, missing.stdout]).toEqual([6, '']);
    expect(missing.stderr).toContain('install ffmpeg');
    const without = await rtc(argv, withFfmpeg);
    expect(without.code).toBe(3);
    expect(without.stderr).toContain(`rtc transcriptions create ${recording} --wait`);
    const piped = await rtc(['recordings', 'download', recording, '-', '--with-captions'], withFfmpeg);
    expect(piped.code).toBe(2);
    await expect(access(path)).rejects.toThrow('ENOENT');
    const srt = await ok(['transcriptions', 'create', recording, 'x=Ada', '--wait', '--format', 'srt']);
    expect(await ok(argv, withFfmpeg)).toBe(`${path}\n`);
    const readBack = await media.make(`${recording}.srt`, ['-i', path, '-map', '0:s:0']);
    expect((await readFile(readBack, 'utf8')).trim()).toBe(srt.trim());
    const { stderr } = await promisify(execFile)('ffmpeg', ['-hide_banner', '-i', path, '-f', 'null', '-']);
    expect(stderr).toMatch(/Subtitle: mov_text/);
    expect(stderr).toMatch(/\(eng\): Subtitle|Stream #0:2.*\(eng\)/);
    expect(stderr).toMatch(/Video: h264/);
    expect(stderr).toMatch(/Audio: aac/);
    const left = (await readdir(media.folder)).filter((name) => name.endsWith('.part'));
    expect(left).toEqual([]);
    await writeFile((await stage.get(recording)).file?.path ?? '', 'no film');
    const broken = await rtc([...argv, '--force'], withFfmpeg);
    expect(broken.code).toBe(1);
    expect(broken.stderr).toContain('without captions');
    expect(await readFile(path, 'utf8')).toBe('no film');
  });

  it('are created, awaited and printed as subtitles, listed, read and deleted', async () => {
    const recording = await record(media.speech);
    const srt = await ok(['transcriptions', 'create', recording, 'x=Ada', '--wait', '--format', 'srt']);
    expect(srt).toMatch(/^1\n00:00:00,\d{3} --> 00:00:0\d,\d{3}\nAda: \d\.\d seconds\n/);
    const [line, ...others] = (await ok(['transcriptions', 'list', '--recording', recording]))
      .trimEnd()
      .split('\n');
    expect(others).toEqual([]);
    const [id = '', recordingId, , status, language] = (line ?? '').split('\t');
    expect([recordingId, status, language]).toEqual([recording, 'completed', 'en-US']);
    expect(await ok(['transcriptions', 'get', id, '--format', 'srt'])).toBe(srt);
    expect(await ok(['transcriptions', 'get', id])).toContain('STATUS\tcompleted\n');
    const api = await stage.service.call('GET', `/v1/transcriptions/${id}`);
    expect(JSON.parse(await ok(['transcriptions', 'get', id, '--json']))).toEqual(api.json);
    expect(JSON.parse(await ok(['transcriptions', 'get', id, '--json', 'status,progress']))).toEqual({
      status: 'completed',
      progress: 1,
    });
    const again = JSON.parse(await ok(['transcriptions', 'create', recording, '--json']));
    expect(again).toMatchObject({ transcriptionId: id, status: 'completed' });
    expect((await rtc(['transcriptions', 'delete', id])).code).toBe(2);
    expect(await ok(['transcriptions', 'delete', id, '--yes'])).toBe('');
    expect((await rtc(['transcriptions', 'get', id])).code).toBe(3);
  });

  it('end with 1 when they failed, with the reason', async () => {
    const path = `${media.folder}/text.mp4`;
    await writeFile(path, 'This is no film.');
    const failed = await rtc(['transcriptions', 'create', await record(path), '--wait']);
    expect([failed.code, failed.stdout]).toEqual([1, '']);
    expect(failed.stderr).toContain('recording-not-media');
  });

  it('wait for the file of a recording that was just stopped, but not for one that runs', async () => {
    const { egressId, roomId } = await stage.record();
    const running = await rtc(['transcriptions', 'create', egressId, '--wait']);
    expect(running.code).toBe(5);
    const stop = stage.service.call('POST', `/v1/rooms/${roomId}/recording/stop`);
    await stop;
    expect(await ok(['transcriptions', 'create', egressId, '--wait', '--json', 'status'])).toBe(
      '{"status":"completed"}\n',
    );
  });

  it('end with 8 at the time limit', async () => {
    await stage.beat('stt-post', ['it']);
    const waiting = await rtc([
      ...['transcriptions', 'create', await record(media.speech)],
      ...['--language', 'it', '--wait', '--timeout', '1s'],
    ]);
    expect([waiting.code, waiting.stdout]).toEqual([8, '']);
  });

  it.each([
    [3, ['transcriptions', 'create', 'EG_unknown']],
    [3, ['transcriptions', 'get', 'tr_unknown']],
    [2, ['transcriptions', 'list', '--status', 'stopped']],
    [2, ['transcriptions', 'create', 'EG_unknown', '--language', 'klingon!']],
  ])('end with %i for %j', async (code, argv) => {
    const refused = await rtc(argv);
    expect([refused.code, refused.stdout]).toEqual([code, '']);
  });
});

describe('rtc worker', () => {
  it('runs the worker of the given kind until the signal', async () => {
    const kinds: string[] = [];
    const runWorker = async ({ kind }: { readonly kind: string }) => kinds.push(kind);
    const { code } = await run(['worker', 'stt-post'], { loaders: { worker: async () => ({ runWorker }) } });
    expect([code, kinds]).toEqual([0, ['stt-post']]);
  });

  it('ends with 2 for an unknown kind, and with 1 and what to do when it cannot start', async () => {
    expect(await run(['worker', 'stt'])).toMatchObject({ code: 2, stdout: '' });
    const runWorker = async () => {
      throw new Error('There is no speech model yet. Install the small English one');
    };
    const failed = await run(['worker', 'stt-live'], { loaders: { worker: async () => ({ runWorker }) } });
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain('There is no speech model yet');
  });
});
