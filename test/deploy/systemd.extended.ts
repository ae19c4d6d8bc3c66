import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { analyzeUnits } from '../support/parts/systemd.ts';

/* `systemd-analyze security` rates the shipped units from 0 (safe) to 10 (exposed). */

const FOLDER = join(import.meta.dirname, '..', '..', 'deploy', 'systemd');

describe.each(['rtc-service.service', 'rtc-worker@.service'])('%s', (unit) => {
  it('has an exposure below 3', async () => {
    const file = join(FOLDER, unit);
    const { stdout } = await analyzeUnits('security', '--offline=true', '--threshold=29', file);
    const exposure = /Overall exposure level for \S+: (\d+\.\d+)/.exec(stdout)?.[1];
    expect(Number(exposure)).toBeGreaterThan(0);
    expect(Number(exposure)).toBeLessThan(3);
  });

  it('has only settings that systemd knows', async () => {
    const { stderr } = await analyzeUnits('verify', '--man=no', join(FOLDER, unit)).catch(
      (error: { readonly stderr: string }) => error,
    );
    expect(stderr).not.toMatch(/Unknown|Failed to parse|Invalid|ignoring/i);
  });
});
