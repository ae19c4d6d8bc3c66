import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LAUNCHER } from '../support/parts/built.ts';

/*
 * A folder below /proc reports that nothing exists in it, like an automounter's /home does. Node's recursive mkdir never
 * returns there, and no signal ends it. Therefore these processes are killed if they take too long.
 */

const DEADLINE_MS = 60_000;

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'rtc-home-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

function rtc(argv: readonly string[], env: Readonly<Record<string, string>>, stdin = '') {
  return new Promise<{ readonly code: number | null; readonly stderr: string; readonly isKilled: boolean }>(
    (resolve) => {
      const options = {
        timeout: DEADLINE_MS,
        killSignal: 'SIGKILL',
        env: { PATH: process.env.PATH, HOME: home, ...env },
        cwd: home,
      } as const;
      const child = execFile(process.execPath, [LAUNCHER, ...argv], options, (error, _stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), stderr, isKilled: error?.killed === true }),
      );
      child.stdin?.end(stdin);
    },
  );
}

describe.runIf(process.platform === 'linux')(
  'a folder in which no file can be created',
  { timeout: 60_000 },
  () => {
    const SERVE = { API_KEY: 'key', API_SECRET: 'a-secret-of-32-characters-0000000', PORT: '0' };

    it.each([
      ['/proc/rtc', 'ENOENT'],
      ['/dev/null/rtc', 'ENOTDIR'],
    ])('as DATA_DIR (%s) causes a clear error of serve and of dev', async (folder, reason) => {
      for (const argv of [['serve'], ['dev', '--media', 'embedded', '--port', '0']]) {
        const { code, stderr, isKilled } = await rtc(argv, { ...SERVE, DATA_DIR: folder });
        expect([argv[0], isKilled, code]).toEqual([argv[0], false, 1]);
        expect(stderr).toContain(`${folder} cannot be created (${reason})`);
        expect(stderr).toContain('DATA_DIR');
      }
    });

    it('as DATA_DIR causes an error that says that it is a file', async () => {
      const { code, stderr } = await rtc(['serve'], { ...SERVE, DATA_DIR: '/etc/passwd' });
      expect([code, stderr.split('\n')[0]]).toEqual([1, 'Error: /etc/passwd is not a folder']);
    });

    it.each(['/proc/rtc', '/dev/null'])(
      'as the cache (%s) is left unused, and the command works without a cache',
      async (folder) => {
        for (const name of ['HOME', 'XDG_CACHE_HOME']) {
          const { code, stderr } = await rtc(['version'], { [name]: folder });
          expect([name, code, stderr]).toEqual([name, 0, '']);
        }
      },
    );

    it('as the cache is created where possible, level by level', async () => {
      const { code } = await rtc(['version'], { XDG_CACHE_HOME: join(home, 'a', 'b') });
      expect(code).toBe(0);
      expect(await readdir(join(home, 'a', 'b', 'rtc'))).toEqual(['compile']);
    });

    it('as the folder of profiles causes a clear error', async () => {
      const argv = ['profile', 'add', 'x', '--url', 'http://127.0.0.1:9', '--api-key', 'k', '--secret-stdin'];
      const { code, stderr, isKilled } = await rtc(argv, { XDG_CONFIG_HOME: '/proc/rtc' }, 'secret\n');
      expect([isKilled, code]).toEqual([false, 1]);
      expect(stderr).toContain('/proc/rtc');
    });
  },
);
