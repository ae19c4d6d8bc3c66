import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

/* `systemd-analyze security` rates the shipped units from 0 (safe) to 10 (exposed). */

const FOLDER = join(import.meta.dirname, '..', '..', 'deploy', 'systemd');
const run = promisify(execFile);

describe.each(['rtc-service.service', 'rtc-worker@.service'])('%s', (unit) => {
  it('has an exposure below 3', async () => {
    const file = join(FOLDER, unit);
    const { stdout } = await run('systemd-analyze', ['security', '--offline=true', '--threshold=29', file]);
    const exposure = /Overall exposure level for \S+: (\d+\.\d+)/.exec(stdout)?.[1];
    expect(Number(exposure)).toBeGreaterThan(0);
    expect(Number(exposure)).toBeLessThan(3);
  });

  it('has only settings that systemd knows', async () => {
    const { stderr } = await run('systemd-analyze', ['verify', '--man=no', join(FOLDER, unit)]).catch(
      (error: { readonly stderr: string }) => error,
    );
    expect(stderr).not.toMatch(/Unknown|Failed to parse|Invalid|ignoring/i);
  });
});
