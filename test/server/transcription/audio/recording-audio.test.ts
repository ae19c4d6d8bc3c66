import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../../../src/contract/errors.ts';
import { type Clock, systemClock } from '../../../../src/server/platform/clock.ts';
import { createRecordingFiles } from '../../../../src/server/recordings/files/create-recording-files.ts';
import type { RecordingFiles } from '../../../../src/server/recordings/files/recording-files.ts';
import {
  checkFfmpeg,
  createFfmpegAudio,
  startDecoder,
  TranscriptionError,
} from '../../../../src/server/transcription/audio/ffmpeg-audio.ts';
import { collectingLog } from '../../../support/app.ts';
import { heldBufferBytes } from '../../../support/live-memory.ts';
import {
  cutOff,
  damage,
  emptyFile,
  type MediaFiles,
  makeMediaFiles,
  silence,
  videoOnly,
} from './media-files.ts';

describe('the audio of a recording', () => {
  let media: MediaFiles;
  let files: RecordingFiles;

  beforeAll(async () => {
    media = await makeMediaFiles();
    files = createRecordingFiles({ clock: systemClock, storage: undefined, directory: media.folder });
  });
  afterAll(() => media.remove());

  type Heard = { readonly seconds: number; readonly loudest: number; readonly shares: readonly number[] };

  /** Returns the samples before the error, and the error, if there was one. */
  const hear = async (path: string, over: Partial<RecordingFiles> = {}, clock: Clock = systemClock) => {
    const audio = createFfmpegAudio({
      files: { ...files, ...over },
      clock,
      log: collectingLog([]),
      program: 'ffmpeg',
    });
    let [count, loudest, fault] = [0, 0, undefined as unknown];
    const shares: number[] = [];
    try {
      const location = { filepath: path, bucket: null };
      for await (const { samples, share } of audio.decode(location, new AbortController().signal)) {
        count += samples.length;
        for (const sample of samples) loudest = Math.max(loudest, Math.abs(sample));
        shares.push(share);
      }
    } catch (error) {
      fault = error;
    }
    const heard: Heard = { seconds: count / 16_000, loudest, shares };
    return { heard, fault };
  };
  const pickCode = (fault: unknown): string => {
    if (fault instanceof TranscriptionError || fault instanceof ServiceError) return fault.code;
    throw fault;
  };

  it('is 16 kHz mono from -1 to 1, whether the index is at the end or at the beginning', async () => {
    for (const path of [media.speech, media.fastStart]) {
      const { heard, fault } = await hear(path);
      expect(fault).toBeUndefined();
      expect(heard.seconds).toBeGreaterThan(4.5);
      expect(heard.seconds).toBeLessThan(5.5);
      expect(heard.loudest).toBeGreaterThan(0.3);
      expect(heard.loudest).toBeLessThanOrEqual(1.01);
      expect(heard.shares.at(-1)).toBe(1);
    }
  });

  it('is silence where there is silence', async () => {
    const { heard, fault } = await hear(await media.make('silent.mp4', silence(3)));
    expect(fault).toBeUndefined();
    expect(heard.seconds).toBeCloseTo(3, 0);
    expect(heard.loudest).toBeLessThan(0.001);
  });

  it('begins with silence where the audio track begins late, so that seconds are those of the recording', async () => {
    const late = await media.make('late.mp4', [
      ...['-i', media.speech, '-itsoffset', '2', '-i', media.speech],
      ...['-map', '0:v', '-map', '1:a', '-c', 'copy'],
    ]);
    const audio = createFfmpegAudio({ files, clock: systemClock, log: collectingLog([]), program: 'ffmpeg' });
    const heard: number[] = [];
    const location = { filepath: late, bucket: null };
    for await (const { samples } of audio.decode(location, new AbortController().signal))
      heard.push(...samples);
    const firstSound = heard.findIndex((sample) => Math.abs(sample) > 0.05) / 16_000;
    expect(firstSound).toBeGreaterThan(1.9);
    expect(firstSound).toBeLessThan(2.4);
  });

  it.each([
    ['is not there', 'recording-file-not-found', async () => join(media.folder, 'nothing.mp4')],
    ['is empty', 'recording-empty', () => emptyFile(join(media.folder, 'empty.mp4'))],
    ['has pictures only', 'recording-without-audio', () => media.make('video.mp4', videoOnly(2))],
    [
      'is text',
      'recording-not-media',
      async () => {
        const path = join(media.folder, 'text.mp4');
        await writeFile(path, 'This is no film.');
        return path;
      },
    ],
    [
      'was cut off before its index',
      'recording-not-media',
      () => cutOff(media.speech, join(media.folder, 'no-index.mp4'), 20_000),
    ],
  ])('of a file that %s is rejected: %s', async (_case, code, make) => {
    const { heard, fault } = await hear(await make());
    expect(pickCode(fault)).toBe(code);
    expect(heard.seconds).toBe(0);
  });

  it.each([
    ['was cut off', () => cutOff(media.fastStart, join(media.folder, 'cut.mp4'), 25_000)],
    ['has noise in its middle', () => damage(media.fastStart, join(media.folder, 'noise.mp4'))],
  ])('of a file that %s is decoded as far as possible, and then reported as damaged', async (_case, make) => {
    const { heard, fault } = await hear(await make());
    expect(pickCode(fault)).toBe('recording-damaged');
    expect(heard.seconds).toBeGreaterThan(1);
  });

  it('never comes from another file or address that the recording names', async () => {
    const asked: string[] = [];
    const planted = createServer((request, response) => {
      asked.push(request.url ?? '');
      createReadStream(media.speech).pipe(response);
    });
    planted.listen(0, '127.0.0.1');
    await once(planted, 'listening');
    const { port } = planted.address() as AddressInfo;
    const sources = [`file://${media.speech}`, basename(media.speech), `http://127.0.0.1:${port}/plant`];
    const playlists = [
      (source: string) => `#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n${source}\n#EXT-X-ENDLIST\n`,
      (source: string) => `#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="a",URI="${source}"\n`,
      (source: string) => `ffconcat version 1.0\nfile '${source}'\n`,
      (source: string) => `<?xml version="1.0"?><MPD><BaseURL>${source}</BaseURL></MPD>`,
      (source: string) => `[playlist]\nFile1=${source}\nNumberOfEntries=1\n`,
      (source: string) =>
        `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\na=control:${source}\nm=audio ${port} RTP/AVP 0\n`,
      (source: string) => `RTSPtextRTSP://127.0.0.1:${port}/${source}`,
    ];
    const hearPlaylist = async (index: number, text: string): Promise<void> => {
      const path = join(media.folder, `playlist-${index}.mp4`);
      await writeFile(path, text);
      const { heard, fault } = await hear(path);
      expect([text, pickCode(fault), heard.seconds]).toEqual([text, 'recording-not-media', 0]);
    };
    const texts = playlists.flatMap((write) => sources.map(write));
    await Promise.all(texts.map((text, index) => hearPlaylist(index, text)));
    expect(asked).toEqual([]);
    planted.close();
  });

  it('is read up to a limit, because a small file can claim to be years long', async () => {
    const long = await media.make('gap.mkv', [
      ...['-i', media.speech, '-itsoffset', '3600', '-i', media.speech],
      ...['-map', '0:v', '-map', '1:a', '-c', 'copy'],
    ]);
    const deps = { files, clock: systemClock, log: collectingLog([]), program: 'ffmpeg', maxSeconds: 60 };
    let seconds = 0;
    const listen = async (): Promise<void> => {
      const location = { filepath: long, bucket: null };
      const { signal } = new AbortController();
      for await (const { samples } of createFfmpegAudio(deps).decode(location, signal))
        seconds += samples.length / 16_000;
    };
    await expect(listen()).rejects.toMatchObject({ code: 'recording-damaged' });
    expect(seconds).toBeGreaterThan(50);
    expect(seconds).toBeLessThanOrEqual(60);
  });

  it('is read up to ten minutes more than twice the length of the recording', async () => {
    const sound = ['-f', 'lavfi', '-i', 'anullsrc=r=8000:cl=mono', '-t', '620', '-c:a', 'aac'];
    const long = await media.make('longer.mp4', sound);
    const audio = createFfmpegAudio({ files, clock: systemClock, log: collectingLog([]), program: 'ffmpeg' });
    const readSeconds = async (durationMs: number): Promise<number> => {
      let count = 0;
      const file = { filepath: long, bucket: null, durationMs };
      for await (const { samples } of audio.decode(file, new AbortController().signal))
        count += samples.length;
      return count / 16_000;
    };
    await expect(readSeconds(9_000)).rejects.toMatchObject({ code: 'recording-damaged' });
    expect(await readSeconds(11_000)).toBeGreaterThan(619);
    expect(await readSeconds(0)).toBeGreaterThan(619);
  });

  it.runIf(process.platform === 'linux')(
    'is decoded by a process whose memory and processor time are limited',
    async () => {
      const program = join(media.folder, 'tells-its-limits');
      const limitsFile = join(media.folder, 'limits');
      await writeFile(program, `#!/bin/sh\n{ ulimit -d; ulimit -t; } > '${limitsFile}'\n`, { mode: 0o755 });
      const { samples, end } = startDecoder(program, 'http://127.0.0.1:1/none');
      for await (const _ of samples);
      expect(await end()).toMatchObject({ exitCode: 0 });
      expect(await readFile(limitsFile, 'utf8')).toBe('1048576\n3600\n');
    },
  );

  it('continues after an interrupted connection', async () => {
    const whole = await hear(media.speech);
    let reads = 0;
    const breaking: RecordingFiles['read'] = async (location, start, length) => {
      reads += 1;
      // Every other response ends after 4 KB.
      return await files.read(location, start, reads % 2 === 0 ? length : Math.min(length, 4096));
    };
    const { heard, fault } = await hear(media.speech, { read: breaking }, skippingClock);
    expect(fault).toBeUndefined();
    expect(heard.seconds).toBe(whole.heard.seconds);
    expect(reads).toBeGreaterThan(2);
  });

  it("fails with the storage's error when it persists", async () => {
    let reads = 0;
    const read = async (): Promise<never> => {
      reads += 1;
      throw new ServiceError('storage-unavailable', 'Away.', { retryable: true });
    };
    const away = await hear(media.speech, { read }, skippingClock);
    expect(away.fault).toMatchObject({ code: 'storage-unavailable', retryable: true });
    expect(reads).toBe(5);
    const denied = await hear(media.speech, {
      read: async () => {
        throw new ServiceError('recording-storage-error', 'Denied.');
      },
    });
    expect(pickCode(denied.fault)).toBe('recording-storage-error');
  });

  it('is read with neither an address nor a name in the arguments of a process', async () => {
    const audio = createFfmpegAudio({ files, clock: systemClock, log: collectingLog([]), program: 'ffmpeg' });
    const decoding = audio.decode({ filepath: media.speech, bucket: null }, new AbortController().signal);
    const chunks = decoding[Symbol.asyncIterator]();
    await chunks.next();
    const lines = await commandLinesOfChildren();
    await chunks.return?.(undefined);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('pipe:0');
    expect(lines[0]).not.toMatch(/127\.0\.0\.1|http:\/\//);
    expect(lines[0]).not.toContain(basename(media.folder));
    expect(await commandLinesOfChildren()).toEqual([]);
  });

  it('stops, together with its process, when it is aborted', async () => {
    const long = await media.make('long.mp4', silence(600));
    const audio = createFfmpegAudio({ files, clock: systemClock, log: collectingLog([]), program: 'ffmpeg' });
    const abort = new AbortController();
    const chunks = audio.decode({ filepath: long, bucket: null }, abort.signal)[Symbol.asyncIterator]();
    await chunks.next();
    abort.abort(new Error('enough'));
    await expect(chunks.next()).rejects.toThrow('enough');
    expect(await commandLinesOfChildren()).toEqual([]);
  });

  it('of two hours takes no more memory than that of a minute', async () => {
    const minute = await media.make('minute.mp4', silence(60));
    const long = await media.make('two-hours.mp4', [
      ...['-stream_loop', '119', '-i', minute],
      ...['-c', 'copy'],
    ]);
    await hear(minute);
    const before = heldBufferBytes();
    const hourOfSamples = 3600 * 16_000;
    const audio = createFfmpegAudio({
      ...{ files, clock: systemClock, log: collectingLog([]), program: 'ffmpeg' },
    });
    let [count, looks] = [0, 0];
    const location = { filepath: long, bucket: null };
    for await (const { samples } of audio.decode(location, new AbortController().signal)) {
      count += samples.length;
      if (count < (looks * hourOfSamples) / 4) continue;
      looks += 1;
      expect(heldBufferBytes() - before).toBeLessThan(16 * 1024 * 1024);
    }
    expect(count / 16_000).toBeGreaterThan(7100);
    expect(looks).toBeGreaterThanOrEqual(8);
  }, 120_000);

  it("is decoded without the settings of the service in the decoder's environment", async () => {
    const program = join(media.folder, 'tells-its-environment');
    const environmentFile = join(media.folder, 'environment');
    await writeFile(program, `#!/bin/sh\nenv > '${environmentFile}'\n`, { mode: 0o755 });
    vi.stubEnv('S3_SECRET_KEY', 'a-secret-of-the-service');
    const { samples, end } = startDecoder(program, 'http://127.0.0.1:1/none');
    for await (const _ of samples);
    expect(await end()).toMatchObject({ exitCode: 0 });
    vi.unstubAllEnvs();
    const environment = await readFile(environmentFile, 'utf8');
    expect(environment).toContain(`PATH=${process.env.PATH}`);
    expect(environment).not.toContain('a-secret-of-the-service');
  });

  it('needs ffmpeg, and the error says so', async () => {
    await checkFfmpeg('ffmpeg');
    await expect(checkFfmpeg('no-such-program')).rejects.toThrow(/Install ffmpeg, or set STT_FFMPEG/);
  });

  it('fails with an error when ffmpeg can no longer be started, and leaves nothing open', async () => {
    const listening = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;
    const before = listening();
    const program = 'no-such-program';
    const audio = createFfmpegAudio({ files, program, clock: systemClock, log: collectingLog([]) });
    const location = { filepath: media.speech, bucket: null };
    const decoded = audio.decode(location, new AbortController().signal)[Symbol.asyncIterator]();
    await expect(decoded.next()).rejects.toThrow('no-such-program could not be started');
    await vi.waitFor(() => expect(listening()).toBe(before), { timeout: 60_000 });
  });
});

/** A clock for tests that do not wait: pauses end at once, and stalls never happen. */
const skippingClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    ms < 10_000
      ? Promise.resolve()
      : new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason));
        }),
};

/** Returns the command lines of this process's ffmpeg children, which every user of the machine can read. */
async function commandLinesOfChildren(): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
    const parent = /\) \S (\d+) /.exec(await read('stat'))?.[1];
    const line = (await read('cmdline')).replaceAll('\0', ' ');
    if (parent === String(process.pid) && line.startsWith('ffmpeg')) lines.push(line);
  }
  return lines;
}
