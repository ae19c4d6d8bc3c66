import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { silentMp4 } from '../../../src/server/media-simulator/silent-mp4.ts';

const run = promisify(execFile);
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-mp4-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it.each([
  [0, 0.001, 1],
  [1, 0.001, 1],
  [999, 0.999, 1],
  [1000, 1, 1],
  [1001, 1.001, 2],
  [61_234.4, 61.234, 62],
])(
  'the simulator writes %d ms of black and silence that decode without errors',
  async (durationMs, seconds, pictures) => {
    const path = join(folder, `${durationMs}.mp4`);
    await writeFile(path, silentMp4(durationMs));
    const decoded = await run('ffmpeg', ['-v', 'warning', '-xerror', '-i', path, '-f', 'null', '-']);
    expect(decoded.stderr).toBe('');
    const entries = 'format=duration:stream=codec_name,duration,nb_frames';
    const { stdout } = await run('ffprobe', ['-v', 'error', '-show_entries', entries, '-of', 'json', path]);
    const probed = JSON.parse(stdout) as {
      format: { duration: string };
      streams: { codec_name: string; duration: string; nb_frames: string }[];
    };
    expect(Number(probed.format.duration)).toBe(seconds);
    expect(probed.streams[0]).toMatchObject({ codec_name: 'h264', nb_frames: String(pictures) });
    expect(Number(probed.streams[0]?.duration)).toBe(seconds);
    expect(probed.streams[1]?.codec_name).toBe('aac');
    // Audio consists of whole frames of 1,024 samples.
    expect(Number(probed.streams[1]?.duration) - seconds).toBeLessThan(1024 / 48_000);
    expect(Number(probed.streams[1]?.duration)).toBeGreaterThanOrEqual(seconds - 0.000_001);
  },
);
