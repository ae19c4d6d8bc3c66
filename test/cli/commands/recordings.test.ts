import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { transferLine } from '../../../src/cli/commands/recordings/download-command.ts';
import { formatBytes } from '../../../src/contract/amounts.ts';
import type { Recording } from '../../../src/contract/recordings.ts';
import { startNetwork } from '../../server/platform/storage/network.ts';
import { type Stage, startStage } from '../../server/recordings/support/stage.ts';
import { bucketSettings, type S3, startS3 } from '../../support/parts/s3.ts';
import { type Run, type RunOptions, run } from '../support/run.ts';

let s3: S3;
let local: Stage;
let bucket: Stage;
let folder: string;

beforeAll(async () => {
  s3 = await startS3();
  [local, bucket] = await Promise.all([startStage(), startStage({ environment: bucketSettings(s3) })]);
});
afterAll(async () => {
  await Promise.all([local?.close(), bucket?.close()]);
  await s3?.close();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-downloads-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function rtc(stage: Stage, argv: readonly string[], options: RunOptions = {}): Promise<Run> {
  const { url, apiKey, apiSecret } = stage.service;
  const env = { RTC_URL: url, RTC_API_KEY: apiKey, RTC_API_SECRET: apiSecret, ...options.env };
  return run(['recordings', ...argv], { workingDirectory: folder, ...options, env });
}

/** Opens a room with a participant who publishes. */
async function openRoom(stage: Stage, room = `room-${randomUUID()}`): Promise<string> {
  await stage.service.call('POST', '/v1/rooms', { body: { name: room } });
  stage.media.control.join(room, { identity: 'ada' });
  stage.media.control.publish(room, 'ada');
  return room;
}

function pathOnDisk({ file }: Recording): string {
  if (file === null) throw new Error('there is no file');
  return file.bucket === null ? file.path : join(s3.bucketFolder, file.path);
}

describe('rtc recordings start, stop', () => {
  it('starts and waits for the recorder, stops and waits for the file', async () => {
    const room = await openRoom(local);
    const started = await rtc(local, ['start', room, '--wait', '--json', 'egressId,status,mediaStartedAt']);
    expect(started.code, started.stderr).toBe(0);
    const { egressId, ...rest } = JSON.parse(started.stdout) as { egressId: string };
    expect(rest).toEqual({ status: 'recording', mediaStartedAt: expect.stringMatching(/Z$/) });
    expect((await local.service.call('GET', `/v1/rooms/${room}`)).json).toMatchObject({
      activeRecording: true,
    });
    const stopped = await rtc(local, ['stop', room, '--wait', '--json']);
    expect(stopped.code, stopped.stderr).toBe(0);
    expect(JSON.parse(stopped.stdout)).toMatchObject({ recordingId: egressId, endedAt: expect.any(String) });
  });

  it('exits with 8 at its time limit when the file is not complete', async () => {
    const slow = await startStage({
      media: { timings: { startMs: 20, recorderJoinMs: 20, finishMs: 60_000 } },
    });
    try {
      const { roomId } = await slow.record();
      const stopped = await rtc(slow, ['stop', roomId, '--wait', '--timeout', '1s']);
      expect([stopped.code, stopped.stdout]).toEqual([8, '']);
      expect(stopped.stderr).toContain('still waiting for the file of EG_');
    } finally {
      await slow.close();
    }
  });

  it('exits with 1 when the recorder fails', async () => {
    const failing = await startStage({ media: { faults: { recorder: 'failing' } } });
    try {
      const room = await openRoom(failing);
      const started = await rtc(failing, ['start', room]);
      expect(started.code, started.stderr).toBe(0);
      const { recordings } = (await failing.service.call('GET', '/v1/recordings')).json as {
        recordings: Recording[];
      };
      await expect
        .poll(async () => (await failing.get(recordings[0]?.recordingId ?? '')).status, { timeout: 60_000 })
        .toBe('failed');
      const shown = await rtc(failing, ['get', recordings[0]?.recordingId ?? '']);
      expect(shown.stdout).toMatch(/^STATUS\tfailed$/m);
      expect(shown.stdout).toMatch(/^ERROR\tthe embedded recorder was told to fail$/m);
    } finally {
      await failing.close();
    }
  });

  it('reports that nothing was recorded when there was no media', async () => {
    const room = `silent-${randomUUID()}`;
    await local.service.call('POST', '/v1/rooms', { body: { name: room } });
    await rtc(local, ['start', room]);
    const stopped = await rtc(local, ['stop', room, '--wait']);
    expect(stopped.code).toBe(7);
    expect(stopped.stdout).toMatch(/^STATUS\taborted$/m);
    expect(stopped.stderr).toContain('nothing was recorded');
  });
});

describe('rtc recordings list, get, delete', () => {
  it('prints a table on a terminal, tab-separated text elsewhere, and JSON on request', async () => {
    const recording = await local.recordWhole('the room');
    const { recordingId, sizeBytes, durationMs, startedAt } = recording;
    const plain = await rtc(local, ['list', '--room', 'the room']);
    expect(plain.stdout.trimEnd().split('\t')).toEqual([
      recordingId,
      'the room',
      'stopped',
      expect.stringMatching(/^\d{4}-.*Z$/),
      String((durationMs ?? 0) / 1000),
      String(sizeBytes),
    ]);
    expect(Date.parse(plain.stdout.split('\t')[3] ?? '')).toBe(Date.parse(`${startedAt}`));
    const table = await rtc(local, ['ls', '--room', 'the room'], { terminals: ['stdout'], columns: 120 });
    expect(stripVTControlCharacters(table.stdout)).toMatch(/ID +ROOM +STATUS +STARTED +DURATION +SIZE/);
    expect(table.stdout).toContain(formatBytes(sizeBytes ?? 0));
    const json = await rtc(local, ['list', '--room', 'the room', '--json']);
    expect(JSON.parse(json.stdout)).toEqual({ recordings: [recording], nextCursor: null });
    const none = await rtc(local, ['list', '--room', 'the room', '--status', 'failed']);
    expect([none.code, none.stdout]).toEqual([0, '']);
    expect(none.stderr).toContain('No recordings');
    const limited = await rtc(local, ['list', '--limit', '1'], { terminals: ['stderr'] });
    expect(limited.stdout.split('\n').filter((line) => line !== '')).toHaveLength(1);
    expect(limited.stderr).toContain('There are more');
  });

  it('refuses to delete without a terminal and without --yes', async () => {
    const recording = await local.recordWhole();
    const refused = await rtc(local, ['delete', recording.recordingId]);
    expect([refused.code, existsSync(pathOnDisk(recording))]).toEqual([2, true]);
  });

  it('deletes several, continues after an unknown one, and reports it', async () => {
    const [one, two] = [await local.recordWhole(), await local.recordWhole()];
    const { code, stderr } = await rtc(local, [
      'rm',
      one.recordingId,
      'EG_unknown',
      two.recordingId,
      '--yes',
    ]);
    expect(code).toBe(3);
    expect(stderr).toContain('EG_unknown');
    expect(stderr).toContain(`Deleted ${one.recordingId}, ${two.recordingId}.`);
    expect([existsSync(pathOnDisk(one)), existsSync(pathOnDisk(two))]).toEqual([false, false]);
  });

  it('reports a conflict while the recording runs', async () => {
    const { egressId } = await local.record();
    for (const verb of [
      ['delete', egressId, '--yes'],
      ['download', egressId],
    ]) {
      const { code, stderr } = await rtc(local, verb);
      expect(code).toBe(5);
      expect(stderr).toContain('still running');
    }
  });
});

describe.each([
  ['a folder', () => local],
  ['a bucket', () => bucket],
])('rtc recordings download from %s', (_where, findStage) => {
  let recording: Recording;
  /** Text in which every part is different, so that the file and stdout can be compared. */
  const content = Array.from({ length: 40_000 }, (_, index) => `line ${index}\n`).join('');
  beforeEach(async () => {
    recording = await findStage().recordWhole();
    writeFileSync(pathOnDisk(recording), content);
  });

  it('saves under its id, prints the path, and leaves no partial file', async () => {
    const { code, stdout, stderr } = await rtc(findStage(), ['download', recording.recordingId]);
    expect([code, stdout, stderr]).toEqual([0, `${join(folder, `${recording.recordingId}.mp4`)}\n`, '']);
    expect(readFileSync(stdout.trim(), 'utf8')).toBe(content);
    expect(await readdir(folder)).toEqual([`${recording.recordingId}.mp4`]);
  });

  it('saves to the given path: a file, or into a folder', async () => {
    await rtc(findStage(), ['download', recording.recordingId, 'lesson.mp4']);
    await mkdir(join(folder, 'sub'));
    await rtc(findStage(), ['download', recording.recordingId, 'sub']);
    expect(readFileSync(join(folder, 'lesson.mp4'), 'utf8')).toBe(content);
    expect(await readdir(join(folder, 'sub'))).toEqual([`${recording.recordingId}.mp4`]);
  });

  it('overwrites only with --force, and then only a file', async () => {
    writeFileSync(join(folder, 'mine.mp4'), 'mine');
    const refused = await rtc(findStage(), ['download', recording.recordingId, 'mine.mp4']);
    expect([refused.code, readFileSync(join(folder, 'mine.mp4'), 'utf8')]).toEqual([5, 'mine']);
    expect(refused.stderr).toContain('--force');
    const forced = await rtc(findStage(), ['download', recording.recordingId, 'mine.mp4', '--force']);
    expect([forced.code, readFileSync(join(folder, 'mine.mp4'), 'utf8')]).toEqual([0, content]);
    await mkdir(join(folder, 'taken', `${recording.recordingId}.mp4`), { recursive: true });
    expect((await rtc(findStage(), ['download', recording.recordingId, 'taken', '-f'])).code).toBe(5);
    const homeless = await rtc(findStage(), ['download', recording.recordingId, 'mine.mp4/x.mp4']);
    const lost = await rtc(findStage(), ['download', recording.recordingId, 'nowhere/x.mp4']);
    expect([homeless.code, lost.code]).toEqual([1, 1]);
    expect(lost.stderr).toContain(`the folder ${join(folder, 'nowhere')} does not exist`);
  });

  it('continues after the bytes that exist already', async () => {
    const part = join(folder, `x.mp4.${recording.recordingId}.part`);
    // Other content, which shows that the part is not fetched again.
    writeFileSync(part, '#'.repeat(1000));
    const { code, stderr } = await rtc(findStage(), ['download', recording.recordingId, 'x.mp4']);
    expect([code, stderr]).toEqual([0, 'Continuing after 1.0 kB, which are already here.\n']);
    expect(readFileSync(join(folder, 'x.mp4'), 'utf8')).toBe('#'.repeat(999) + content.slice(999));
    expect(existsSync(part)).toBe(false);
  });

  it('starts again when the partial file is larger than the file, and renames a complete one', async () => {
    const original = readFileSync(pathOnDisk(recording));
    const part = join(folder, `x.mp4.${recording.recordingId}.part`);
    writeFileSync(part, Buffer.alloc(original.length + 1));
    expect((await rtc(findStage(), ['download', recording.recordingId, 'x.mp4'])).code).toBe(0);
    expect(readFileSync(join(folder, 'x.mp4')).equals(original)).toBe(true);
    writeFileSync(part, Buffer.alloc(original.length, '#'));
    expect((await rtc(findStage(), ['download', recording.recordingId, 'x.mp4', '-f'])).code).toBe(0);
    expect(readFileSync(join(folder, 'x.mp4'), 'utf8')).toBe(`${'#'.repeat(original.length - 1)}\n`);
  });

  it('writes to stdout with -, but not to a terminal', async () => {
    const piped = await rtc(findStage(), ['download', recording.recordingId, '-']);
    expect([piped.code, piped.stdout === content, piped.stderr]).toEqual([0, true, '']);
    const refused = await rtc(findStage(), ['download', recording.recordingId, '-'], {
      terminals: ['stdout'],
    });
    expect([refused.code, refused.stdout]).toEqual([2, '']);
  });

  it('draws a bar on a terminal and nowhere else', async () => {
    const { stderr } = await rtc(findStage(), ['download', recording.recordingId], { terminals: ['stderr'] });
    expect(stderr).toMatch(/[█░]{24} +\d+ %/);
    expect(stderr).toContain(`of ${formatBytes(content.length)}`);
  });

  it('exits with 3 for an unknown recording, and for one whose file is gone', async () => {
    expect((await rtc(findStage(), ['download', 'EG_unknown'])).code).toBe(3);
    await rm(pathOnDisk(recording));
    const gone = await rtc(findStage(), ['download', recording.recordingId]);
    expect(gone.code).toBe(3);
    expect(gone.stderr).toContain('no longer where it was stored');
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('an interrupted download', () => {
  const size = 48 * 1024 * 1024;

  async function recordLarge(): Promise<Recording> {
    const recording = await local.recordWhole();
    const file = await open(pathOnDisk(recording), 'r+');
    await file.truncate(size);
    await file.write('the end', size - 7);
    await file.close();
    return recording;
  }

  it('keeps the received bytes, says how to continue, and is completed by the same command', async () => {
    const { recordingId } = await recordLarge();
    const network = await startNetwork(new URL(local.service.url));
    const env = { RTC_URL: network.url(local.service.url) };
    const part = join(folder, `x.mp4.${recordingId}.part`);
    const broken = rtc(local, ['download', recordingId, 'x.mp4'], { env });
    await expect
      .poll(
        () =>
          stat(part).then(
            (found) => found.size,
            () => 0,
          ),
        { timeout: 60_000, interval: 5 },
      )
      .toBeGreaterThan(1_000_000);
    await network.cut();
    const { code, stdout, stderr } = await broken;
    expect([code, stdout]).toEqual([6, '']);
    expect(stderr).toContain('the download broke off after');
    expect(stderr).toContain(part);
    expect((await stat(part)).size).toBeLessThan(size);
    const second = await rtc(local, ['download', recordingId, 'x.mp4']);
    expect(second.stderr).toContain('Continuing after');
    const whole = await open(join(folder, 'x.mp4'));
    const { size: received } = await whole.stat();
    const end = Buffer.alloc(7);
    await whole.read(end, 0, 7, size - 7);
    await whole.close();
    expect([second.code, received, end.toString()]).toEqual([0, size, 'the end']);
  });

  it('exits with 130 after Ctrl-C, and keeps the received bytes', async () => {
    const { recordingId } = await recordLarge();
    const part = join(folder, `${recordingId}.mp4.${recordingId}.part`);
    const stopping = new AbortController();
    const running = rtc(local, ['download', recordingId], { signal: stopping.signal });
    await expect
      .poll(
        () =>
          stat(part).then(
            (found) => found.size,
            () => 0,
          ),
        { timeout: 60_000, interval: 5 },
      )
      .toBeGreaterThan(0);
    stopping.abort();
    const { code, stderr } = await running;
    expect(code).toBe(130);
    expect(stderr).toContain('run the command again');
    expect((await stat(part)).size).toBeGreaterThan(0);
  });
});

describe('the size or progress', () => {
  it.each([
    [0, '0 bytes'],
    [999, '999 bytes'],
    [1000, '1.0 kB'],
    [9949, '9.9 kB'],
    [9950, '10 kB'],
    [999_499, '999 kB'],
    [999_500, '1.0 MB'],
    [7_340_032, '7.3 MB'],
    [1_500_000_000_000, '1.5 TB'],
    [5_000_000_000_000_000, '5000 TB'],
  ])('shows %i as %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it('shows speed and remaining time, and counts earlier bytes for neither', () => {
    const transfer = { from: 50_000_000, done: 60_000_000, sizeBytes: 100_000_000, seconds: 2 };
    expect(transferLine(transfer)).toBe(
      `${'█'.repeat(14)}${'░'.repeat(10)}  60 %  60 MB of 100 MB  5.0 MB/s  8s left`,
    );
    expect(transferLine({ ...transfer, done: 50_000_000, seconds: 0 })).toBe(
      `${'█'.repeat(12)}${'░'.repeat(12)}  50 %  50 MB of 100 MB`,
    );
    expect(transferLine({ ...transfer, sizeBytes: undefined })).toBe('60 MB  5.0 MB/s');
  });
});
