import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { type RemoteTrack, TrackKind, VideoStream } from '@livekit/rtc-node';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Token } from '../../../src/contract/tokens.ts';
import { MissingPackagesError } from '../../../src/server/app/native-packages.ts';
import { chooseServicePort, startHookedService } from '../../server/webhooks/support/hooked-service.ts';
import { runFfmpeg } from '../../support/parts/ffmpeg.ts';
import { startLivekit } from '../../support/parts/livekit.ts';
import {
  isAudible,
  type JoinedParticipant,
  join,
  subscribedTrack,
  untilLoudness,
} from '../../support/parts/participant.ts';
import { sharedLivekit } from '../../support/parts/shared.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { startRtc } from '../support/process.ts';
import { type Run, type RunOptions, run } from '../support/run.ts';
import { startStack } from '../support/stack.ts';

const loaders = { roomClient: () => import('../../../src/server/room-client.ts') };

let service: TestService;
let environment: Readonly<Record<string, string>>;
let folder: string;
let room: string;
let people: JoinedParticipant[] = [];
beforeAll(async () => {
  service = await startTestService({ livekit: await sharedLivekit() });
  environment = {
    RTC_URL: service.url,
    RTC_API_KEY: service.apiKey,
    RTC_API_SECRET: service.apiSecret,
    USER: 'otto',
  };
  folder = await mkdtemp(joinPath(tmpdir(), 'rtc-join-'));
  await runFfmpeg(['-f', 'lavfi', '-i', 'sine=440:duration=1.5', file('tone.wav')]);
  await runFfmpeg([
    ...['-f', 'lavfi', '-i', 'testsrc=size=320x240:rate=10:duration=2'],
    ...['-f', 'lavfi', '-i', 'sine=440:duration=2', '-shortest', file('film.mp4')],
  ]);
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  room = `join ${randomUUID()}`;
});

const file = (name: string): string => joinPath(folder, name);

type Joining = { readonly ended: Promise<Run>; seen(text: string): Promise<void>; stop(): void };

/** Starts `rtc rooms join`, which runs until it ends or is stopped. */
function joining(words: readonly string[], options: RunOptions = {}): Joining {
  const interruption = new AbortController();
  let stderr = '';
  const ended = run(['rooms', 'join', room, ...words], {
    env: environment,
    loaders,
    workingDirectory: folder,
    signal: interruption.signal,
    ...options,
    onStderr: (soFar) => {
      stderr = soFar;
    },
  });
  return {
    ended,
    seen: (text) => expect.poll(() => stderr).toContain(text),
    stop: () => interruption.abort(),
  };
}

async function enter(identity: string, role = 'participant'): Promise<JoinedParticipant> {
  const body = { roomId: room, userId: identity, name: identity, role };
  const { url, token } = (await service.call('POST', '/v1/token', { body })).json as Token;
  const participant = await join(url, token);
  people.push(participant);
  return participant;
}

async function allLeave(): Promise<void> {
  await Promise.all(people.map((participant) => participant.leave()));
  people = [];
}

const listener = { deadlineMs: 20_000 };

/** Returns the size of the frames, and how many different frames arrived. */
async function watch(track: RemoteTrack, count: number): Promise<{ size: string; differ: boolean }> {
  const reader = new VideoStream(track).getReader();
  const pictures: string[] = [];
  let size = '';
  while (pictures.length < count) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the pictures ended after ${pictures.length}`);
    size = `${value.frame.width}x${value.frame.height}`;
    pictures.push(Buffer.from(value.frame.data).toString('base64'));
  }
  await reader.cancel();
  return { size, differ: new Set(pictures).size === count };
}

describe('rtc rooms join', () => {
  it('publishes a moving picture and a tone until it is stopped', async () => {
    const bob = await enter('bob');
    const joined = joining(['--publish', 'test-pattern', '--as', 'ada']);
    const sound = await subscribedTrack(bob, { identity: 'ada', ...listener });
    const picture = await subscribedTrack(bob, { identity: 'ada', kind: TrackKind.KIND_VIDEO, ...listener });
    expect(await untilLoudness(sound, { accepts: isAudible, ...listener })).toBeGreaterThan(0.1);
    expect(await watch(picture.track, 3)).toEqual({ size: '640x360', differ: true });
    await joined.seen('Publishing pictures');
    joined.stop();
    const { code, stdout, stderr } = await joined.ended;
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain(`Joined ${room} as ada (participant); with bob.`);
    expect(stderr).toContain(`Left ${room}.`);
    await allLeave();
  });

  it('plays a WAV file to its end and leaves, while another one writes the speech', async () => {
    const listening = joining(['--listen', 'said.wav', '--as', 'eve']);
    await listening.seen('Joined');
    const playing = await joining(['--publish', 'tone.wav', '--as', 'ada']).ended;
    expect(playing.stderr).toContain(`Played tone.wav to its end, and left ${room}.`);
    expect(playing.code).toBe(0);
    await listening.seen('ada has left');
    listening.stop();
    const { code, stderr } = await listening.ended;
    expect(code).toBe(0);
    expect(stderr).toContain('Writing what ada says to said.wav.');
    const { rate, loudSeconds } = loudness(await readFile(file('said.wav')));
    expect(rate).toBe(48_000);
    expect(loudSeconds).toBeGreaterThan(1.3);
    expect(loudSeconds).toBeLessThan(1.8);
  });

  it('plays a film with ffmpeg, repeatedly with --loop', async () => {
    const bob = await enter('bob');
    const joined = joining(['--publish', 'film.mp4', '--as', 'ada', '--loop']);
    const { track } = await subscribedTrack(bob, {
      identity: 'ada',
      kind: TrackKind.KIND_VIDEO,
      ...listener,
    });
    const sound = await subscribedTrack(bob, { identity: 'ada', ...listener });
    // More frames than the file of two seconds has, so the file has been started again.
    expect((await watch(track, 70)).size).toBe('320x240');
    await untilLoudness(sound, { accepts: isAudible, ...listener });
    joined.stop();
    expect((await joined.ended).code).toBe(0);
    await allLeave();
  });

  it('plays stdin, with a header or without', async () => {
    const bob = await enter('bob');
    const wav = await readFile(file('tone.wav'));
    for (const [identity, stdin, options] of [
      ['ada', wav, []],
      ['eve', wav.subarray(200), ['--rate', '44100']],
    ] as const) {
      const joined = joining(['--publish', '-', '--as', identity, ...options], { stdin });
      const sound = await subscribedTrack(bob, { identity, ...listener });
      await untilLoudness(sound, { accepts: isAudible, windows: 2, ...listener });
      const { code, stderr } = await joined.ended;
      expect([code, stderr.includes('Played stdin to its end')]).toEqual([0, true]);
    }
    await allLeave();
  });

  it('tells that the room will be closed', async () => {
    const joined = joining(['--as', 'ada']);
    await joined.seen('Joined');
    const closing = { reason: 'closes_at', closesAt: '2026-12-01T09:30:00.000Z', secondsLeft: 290 };
    const body = { topic: 'rtc.closing', data: JSON.stringify(closing) };
    await service.call('POST', `/v1/rooms/${encodeURIComponent(room)}/data`, { body });
    await joined.seen(`${room} closes in 4m 50s.`);
    joined.stop();
    await joined.ended;
  });

  it('tells whoever joins after the warning how long the room stays open', async () => {
    const { port, webhookUrl } = await chooseServicePort();
    const livekit = await startLivekit({ webhookUrl });
    const hooked = await startHookedService(port, { livekit });
    // The warning is due when the room has been opened.
    const closesAt = new Date(Date.now() + 604_000).toISOString();
    const body = { roomId: room, userId: 'bob', name: 'Bob', role: 'participant' };
    const { url, token } = (await hooked.call('POST', '/v1/token', { body })).json as Token;
    const bob = await join(url, token);
    await hooked.call('PUT', '/v1/plans/late', { body: { room, closesAt, closingWarnings: [600] } });
    const warned = `/v1/events?types=room_closing&roomId=${encodeURIComponent(room)}`;
    await expect.poll(async () => (await hooked.call('GET', warned)).text).toContain('closes_at');
    const env = { RTC_URL: hooked.url, RTC_API_KEY: hooked.apiKey, RTC_API_SECRET: hooked.apiSecret };
    const joined = joining(['--as', 'ada'], { env });
    await joined.seen(`${room} closes in `);
    joined.stop();
    await joined.ended;
    await bob.leave();
    await hooked.close();
    await livekit.close();
  });

  it('reports what happens as JSON lines, for a script', async () => {
    const { code, stdout } = await joining(['--publish', 'tone.wav', '--as', 'ada', '--json']).ended;
    expect(code).toBe(0);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { type: 'joined', room, identity: 'ada', others: [] },
      { type: 'published', kind: 'audio', trackSid: expect.stringMatching(/^TR_/) },
      { type: 'left', reason: 'played' },
    ]);
  });

  it('exits with 7 when it is removed, when its identity joins again, and when the room is closed before the end of a file', async () => {
    const remove = () => run(['participants', 'remove', room, 'ada', '--yes'], { env: environment });
    const close = () => run(['rooms', 'delete', room, '--yes'], { env: environment });
    for (const [act, message] of [
      [remove, 'ada was removed'],
      [() => enter('ada'), 'Another ada has joined'],
      [close, 'was closed'],
    ] as const) {
      const joined = joining(['--publish', 'tone.wav', '--loop', '--as', 'ada']);
      await joined.seen('Publishing sound');
      await act();
      const { code, stderr } = await joined.ended;
      expect([code, stderr]).toEqual([7, expect.stringContaining(message)]);
      await allLeave();
    }
  });

  it('says that the room is full, which the media server does not', async () => {
    await run(['rooms', 'create', room, '--max-participants', '1'], { env: environment });
    await enter('ada');
    const { code, stderr } = await joining(['--as', 'bob']).ended;
    expect([code, stderr]).toEqual([5, expect.stringContaining(`${room} is full: 1 of 1`)]);
    await allLeave();
  });

  it('exits with 0 at the end of the room when nothing is interrupted', async () => {
    const joined = joining(['--as', 'ada']);
    await joined.seen('Joined');
    await run(['rooms', 'delete', room, '--yes'], { env: environment });
    expect((await joined.ended).code).toBe(0);
  });

  it('generates an identity without --identity, so that two do not replace each other', async () => {
    const joined = joining([]);
    await joined.seen(`as otto-${process.pid} (participant)`);
    joined.stop();
    expect((await joined.ended).code).toBe(0);
  });

  it('leaves at SIGTERM, as a process of its own', async () => {
    const bob = await enter('bob');
    const { child, seen, ended } = startRtc(
      ['rooms', 'join', room, '--publish', 'test-pattern', '--as', 'ada'],
      { env: environment },
    );
    await seen(/Publishing pictures/);
    child.kill('SIGTERM');
    const { code, stderr } = await ended;
    expect([code, stderr]).toEqual([0, expect.stringContaining(`Left ${room}.`)]);
    await expect.poll(() => bob.room.remoteParticipants.size).toBe(0);
    await allLeave();
  });

  it.each([
    [['--publish', 'missing.wav'], 2, 'missing.wav cannot be read: there is no such file'],
    [['--publish', 'text.wav'], 1, 'text.wav is not a WAV file'],
    [['--publish', 'text.txt'], 1, 'ffmpeg finds no sound and no pictures in'],
    [['--listen', 'text.wav'], 5, 'text.wav already exists'],
    [['--listen', 'missing/said.wav'], 2, 'said.wav cannot be written: its folder does not exist'],
    [['--publish', 'tone.wav', '--role', 'viewer'], 2, 'a viewer may not publish'],
    [['--publish', '-', '--loop'], 2, '--loop needs a file'],
    [['--publish', 'tone.wav', '--rate', '16000'], 2, '--rate and --channels are for stdin'],
  ])('explains what is wrong with %j', async (words, code, message) => {
    await writeFile(file('text.wav'), 'no sound');
    await writeFile(file('text.txt'), 'no sound');
    const result = await joining([...words, '--as', 'ada']).ended;
    expect([result.code, result.stderr]).toEqual([code, expect.stringContaining(message)]);
  });

  it('exits with 6 without ffmpeg, without the package, and on the embedded media server', async () => {
    const { PATH } = process.env;
    process.env.PATH = '/nowhere';
    const withoutFfmpeg = await joining(['--publish', 'film.mp4']).ended;
    process.env.PATH = PATH;
    expect([withoutFfmpeg.code, withoutFfmpeg.stderr]).toEqual([
      6,
      expect.stringContaining('install ffmpeg'),
    ]);
    const missing = async (): Promise<never> => {
      throw new MissingPackagesError('rtc rooms join needs a package that is not installed', {
        text: 'install 32 MB with',
        command: 'npm install -g @livekit/rtc-node@1.1.0',
      });
    };
    const withoutPackage = await joining([], {
      loaders: { roomClient: async () => ({ visitRoom: missing }) },
    }).ended;
    expect([withoutPackage.code, withoutPackage.stderr]).toEqual([
      6,
      expect.stringContaining('install 32 MB with: npm install -g @livekit/rtc-node@1.1.0'),
    ]);
    const stack = await startStack();
    const embedded = await joining([], { env: stack.environment }).ended;
    await stack.close();
    expect([embedded.code, embedded.stderr]).toEqual([
      6,
      expect.stringContaining('the embedded media server carries no sound and no pictures'),
    ]);
  });
});

describe('rtc dev join and leave on a real LiveKit', () => {
  it('connects a real participant with a tone and disconnects it', async () => {
    const bob = await enter('bob');
    const joined = run(['dev', 'join', room, 'ada', '--publish', 'audio'], { env: environment, loaders });
    const sound = await subscribedTrack(bob, { identity: 'ada', ...listener });
    await untilLoudness(sound, { accepts: isAudible, ...listener });
    const left = await run(['dev', 'leave', room, 'ada'], { env: environment });
    expect([left.code, left.stderr]).toEqual([0, `ada has left ${room}.\n`]);
    expect((await joined).code).toBe(7);
    await allLeave();
  });
});

/** Returns when a mono WAV file is loud. */
function loudness(wav: Buffer): { readonly rate: number; readonly loudSeconds: number } {
  const rate = wav.readUInt32LE(24);
  expect(wav.readUInt32LE(40)).toBe(wav.length - 44);
  const windowLength = rate / 50;
  let loud = 0;
  for (let start = 44; start + 2 * windowLength <= wav.length; start += 2 * windowLength) {
    let peak = 0;
    for (let at = start; at < start + 2 * windowLength; at += 2)
      peak = Math.max(peak, Math.abs(wav.readInt16LE(at)));
    if (peak > 1_000) loud += 1;
  }
  return { rate, loudSeconds: loud / 50 };
}
