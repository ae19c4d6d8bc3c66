import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DevOptions, DevReady } from '../../../src/contract/launcher.ts';
import { type Run, run } from '../support/run.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'rtc-dev-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

type DevRun = { readonly argv?: readonly string[]; readonly addOns?: DevReady['addOns'] };

const NO_ADD_ONS: DevReady['addOns'] = { running: [], absent: [] };

/** Runs `rtc dev` in a folder until it is ready. */
async function dev(
  folder: string,
  port: number,
  { argv = [], addOns = NO_ADD_ONS }: DevRun = {},
): Promise<Run> {
  const workingDirectory = join(home, folder);
  await mkdir(workingDirectory, { recursive: true });
  const ready = {
    url: `http://127.0.0.1:${port}`,
    apiKey: `key-of-${port}`,
    apiSecret: `secret-of-${port}`,
    areCredentialsNew: false,
    dataDir: './data',
    media: { kind: 'embedded', url: 'ws://127.0.0.1:7880', notes: [] },
    addOns,
  } as const;
  return await run(['dev', ...argv], {
    workingDirectory,
    env: { XDG_CONFIG_HOME: home },
    loaders: {
      dev: async () => ({ dev: ({ announce }: DevOptions) => announce(ready) }),
    },
  });
}

async function profiles(): Promise<Record<string, { readonly url: string }>> {
  return JSON.parse(await readFile(join(home, 'rtc', 'config.json'), 'utf8')).profiles;
}

describe('rtc dev', () => {
  it('keeps a profile of its own for each folder, and prints its name', async () => {
    const first = await dev('shop', 3000);
    expect(first.stdout).toContain('Profile       dev\n');
    const second = await dev('school', 3001);
    expect(second.stdout).toContain('Profile       dev-school\n');
    expect(second.stdout).toContain('rooms create demo --profile dev-school');
    expect(await profiles()).toMatchObject({
      dev: { url: 'http://127.0.0.1:3000' },
      'dev-school': { url: 'http://127.0.0.1:3001' },
    });
  });

  it('takes the profile of its folder again at the next start', async () => {
    await dev('shop', 3000);
    await dev('school', 3001);
    await dev('school', 3005);
    await dev('shop', 3006);
    const kept = await profiles();
    expect(Object.keys(kept)).toEqual(['dev', 'dev-school']);
    expect(kept).toMatchObject({
      dev: { url: 'http://127.0.0.1:3006' },
      'dev-school': { url: 'http://127.0.0.1:3005' },
    });
  });

  it('distinguishes two folders of one name', async () => {
    await dev('shop', 3000);
    await dev('one/app', 3001);
    await dev('two/app', 3002);
    expect(Object.keys(await profiles())).toEqual(['dev', 'dev-app', 'dev-app-2']);
  });

  it('with --json prints where everything is, and no secret', async () => {
    const { stdout } = await dev('shop', 3000, { argv: ['--json'] });
    expect(JSON.parse(stdout)).toEqual({
      url: 'http://127.0.0.1:3000',
      profile: 'dev',
      dataDir: './data',
      media: { kind: 'embedded', url: 'ws://127.0.0.1:7880', notes: [] },
      addOns: [],
    });
    expect((await dev('shop', 3000, { argv: ['--json', 'profile'] })).stdout).toBe('{"profile":"dev"}\n');
  });

  const NO_MODEL = {
    reason: 'There is no speech model yet',
    hint: { text: 'install the small English one', command: 'rtc stt install moonshine-tiny-en' },
  };
  const NO_RECORDER = {
    name: 'recorder',
    reason: "LiveKit's egress worker is not on PATH",
    hint: { text: 'how to run one', command: 'rtc help recorder' },
  } as const;

  it('names what runs beside the service', async () => {
    const { stdout } = await dev('shop', 3000, {
      addOns: { running: ['stt-live', 'stt-post', 'recorder'], absent: [] },
    });
    expect(stdout).toContain(
      [
        '  Captions      of what is said in a room',
        '  Transcripts   of recordings',
        "  Recorder      LiveKit's egress worker",
      ].join('\n'),
    );
  });

  it('names what an add-on is missing, and the command for it, once for both speech workers', async () => {
    const { stdout } = await dev('shop', 3000, {
      addOns: {
        running: [],
        absent: [{ name: 'stt-live', ...NO_MODEL }, { name: 'stt-post', ...NO_MODEL }, NO_RECORDER],
      },
    });
    expect(stdout.replace(/\s+/g, ' ')).toMatch(
      /Speech none: there is no speech model yet; install the small English one: \S+.* stt install moonshine-tiny-en Recorder none: LiveKit's egress worker is not on PATH; how to run one: \S+.* help recorder/,
    );
    expect(stdout.match(/speech model/g)).toHaveLength(1);
  });

  it('names what each speech worker is missing when that differs', async () => {
    const noFfmpeg = { reason: '"ffmpeg" cannot be run', hint: { text: 'install ffmpeg' } };
    const { stdout } = await dev('shop', 3000, {
      addOns: { running: ['stt-live'], absent: [{ name: 'stt-post', ...noFfmpeg }] },
    });
    expect(stdout).toContain('  Captions      of what is said in a room\n');
    expect(stdout).toContain('  Transcripts   none: "ffmpeg" cannot be run; install ffmpeg\n');
  });
});

describe('rtc dev --with and --without', () => {
  const withAddOns = async (argv: readonly string[]) => {
    const given: unknown[] = [];
    const dev = async (options: DevOptions) => given.push([options.with, options.without]);
    const { code, stderr } = await run(['dev', ...argv], { loaders: { dev: async () => ({ dev }) } });
    return { code, stderr, addOns: given[0] };
  };

  it('name the add-ons that must run, and those to leave out', async () => {
    expect(await withAddOns([])).toMatchObject({ code: 0, addOns: [[], []] });
    expect(await withAddOns(['--with', 'stt-live,stt-post'])).toMatchObject({
      addOns: [['stt-live', 'stt-post'], []],
    });
    expect(await withAddOns(['--with', 'stt-post, stt-post', '--without', 'recorder'])).toMatchObject({
      addOns: [['stt-post'], ['recorder']],
    });
  });

  it('refuse an unknown add-on, and one that is in both', async () => {
    expect(await withAddOns(['--with', 'stt'])).toMatchObject({ code: 2, addOns: undefined });
    const both = await withAddOns(['--with', 'recorder', '--without', 'recorder']);
    expect(both).toMatchObject({ code: 2, addOns: undefined });
    expect(both.stderr).toContain('recorder is in both --with and --without');
  });
});
