import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { profilesPath } from '../../src/cli/connection/profiles.ts';
import { openBrowser } from '../../src/cli/pages/present-link.ts';
import type { Io } from '../../src/cli/terminal/io.ts';
import { run } from './support/run.ts';

/*
 * The behaviour of the command line on other platforms, tested on Linux with a given platform. docs/install.md describes
 * the rest.
 */

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-platform-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

const makeRuntime = (platform: string) => ({ node: '', platform, arch: '' });

describe('profiles', () => {
  it.each([
    ['linux', '/settings', '/settings'],
    ['darwin', 'settings', '/home/ada/.config'],
    ['win32', 'C:\\Users\\Ada Lovelace\\settings', 'C:\\Users\\Ada Lovelace\\settings'],
    ['win32', 'settings', '/home/ada/.config'],
  ])('on %s with XDG_CONFIG_HOME=%s are below %s', (platform, base, expected) => {
    const env = { XDG_CONFIG_HOME: base, HOME: '/home/ada' };
    expect(profilesPath({ env, runtime: makeRuntime(platform) })).toBe(join(expected, 'rtc', 'config.json'));
  });

  it('that other users may read are refused, except on Windows, which has no such modes', async () => {
    const env = { XDG_CONFIG_HOME: folder };
    await mkdir(join(folder, 'rtc'), { mode: 0o700 });
    const file = join(folder, 'rtc', 'config.json');
    await writeFile(
      file,
      JSON.stringify({
        current: 'work',
        profiles: { work: { url: 'http://127.0.0.1:1', apiKey: 'api', apiSecret: 's' } },
      }),
    );
    await chmod(file, 0o644);
    for (const platform of ['linux', 'darwin'] as const) {
      const { code, stderr } = await run(['profile', 'list'], { env, platform });
      expect([code, stderr.includes('lets other users read it')]).toEqual([1, true]);
    }
    const { code, stdout } = await run(['profile', 'list'], { env, platform: 'win32' });
    expect([code, stdout.includes('work')]).toEqual([0, true]);
  });
});

describe('the browser', () => {
  /** Installs programs with these names. Each writes its arguments to a file. */
  async function installOpeners(...names: readonly string[]): Promise<string> {
    const argumentsFile = join(folder, 'told');
    for (const name of names) {
      const path = join(folder, name);
      await writeFile(
        path,
        `#!/bin/sh\nprintf '%s\\n' "${name}" "$@" > "${argumentsFile}.new"\nmv "${argumentsFile}.new" "${argumentsFile}"\n`,
      );
      await chmod(path, 0o755);
    }
    vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
    return argumentsFile;
  }

  it.each([
    ['linux', ['xdg-open']],
    ['freebsd', ['xdg-open']],
    ['darwin', ['open']],
    ['win32', ['rundll32', 'url.dll,FileProtocolHandler']],
  ])('on %s is opened by %s, with a file that redirects to the link', async (platform, command) => {
    const argumentsFile = await installOpeners('xdg-open', 'open', 'rundll32');
    const io: Pick<Io, 'env' | 'runtime'> = { env: {}, runtime: makeRuntime(platform) };
    const opened = await openBrowser(io, 'http://127.0.0.1:1/#code=s3cret');
    const read = () => readFile(argumentsFile, 'utf8').catch(() => '');
    await expect.poll(read).toContain('open.html');
    const [, ...lines] = [undefined, ...(await read()).trim().split('\n')];
    expect(lines.slice(0, -1)).toEqual(command);
    expect(lines.join('')).not.toContain('s3cret');
    expect(await readFile(lines.at(-1) ?? '', 'utf8')).toContain('code=s3cret');
    await opened?.close();
  });
});

describe('colours', () => {
  it.each(['linux', 'darwin', 'win32'] as const)(
    'on %s are those of a terminal, unless NO_COLOR is set',
    async (platform) => {
      const help = async (env: Readonly<Record<string, string>>) =>
        (await run(['rooms', '--help'], { platform, env, terminals: ['stdout'] })).stdout.includes('\u001b[');
      expect([await help({}), await help({ NO_COLOR: '1' }), await help({ TERM: 'dumb' })]).toEqual([
        true,
        false,
        false,
      ]);
    },
  );
});
