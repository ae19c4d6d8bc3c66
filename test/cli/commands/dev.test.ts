import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DevOptions } from '../../../src/cli/terminal/io.ts';
import { type Run, run } from '../support/run.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'rtc-dev-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** `rtc dev` in a folder, up to its announcement. */
async function dev(folder: string, port: number, argv: readonly string[] = []): Promise<Run> {
  const workingDirectory = join(home, folder);
  await mkdir(workingDirectory, { recursive: true });
  const ready = {
    url: `http://127.0.0.1:${port}`,
    apiKey: `key-of-${port}`,
    apiSecret: `secret-of-${port}`,
    areCredentialsNew: false,
    dataDir: './data',
    media: { kind: 'embedded', url: 'ws://127.0.0.1:7880', notes: [] },
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

  it('tells two folders of one name apart', async () => {
    await dev('shop', 3000);
    await dev('one/app', 3001);
    await dev('two/app', 3002);
    expect(Object.keys(await profiles())).toEqual(['dev', 'dev-app', 'dev-app-2']);
  });

  it('with --json prints where everything is, and no secret', async () => {
    const { stdout } = await dev('shop', 3000, ['--json']);
    expect(JSON.parse(stdout)).toEqual({
      url: 'http://127.0.0.1:3000',
      profile: 'dev',
      dataDir: './data',
      media: { kind: 'embedded', url: 'ws://127.0.0.1:7880', notes: [] },
    });
    expect((await dev('shop', 3000, ['--json', 'profile'])).stdout).toBe('{"profile":"dev"}\n');
  });
});
