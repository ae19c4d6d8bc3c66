import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs systemd-analyze, which needs no running systemd. Rejects if it finds an error. */
export async function analyzeUnits(
  ...args: readonly string[]
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return await promisify(execFile)('systemd-analyze', args);
}
