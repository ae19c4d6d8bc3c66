import { access } from 'node:fs/promises';
import { runCommand } from './run-command.ts';

/** True where this script may install packages: Debian or a descendant, as root. */
export async function canInstallPackages(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  return access('/etc/debian_version').then(
    () => true,
    () => false,
  );
}

/**
 * Installs the packages with apt-get, without the recommended ones. A fetch that fails is tried once more, lists
 * included: a mirror that is being updated names files that are gone.
 *
 * @returns false when apt-get failed twice; its own words are on the terminal.
 */
export async function installPackages(packages: readonly string[]): Promise<boolean> {
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    if (attempt > 1) console.log('apt-get failed; trying once more');
    if ((await aptGet(['update'])) !== 0) continue;
    if ((await aptGet(['install', '--yes', '--no-install-recommends', ...packages])) === 0) return true;
  }
  return false;
}

function aptGet(args: readonly string[]): Promise<number> {
  // Another apt-get may hold the lock for a while (unattended upgrades).
  const options = ['--quiet=2', '-o', 'DPkg::Lock::Timeout=120', '-o', 'Dpkg::Use-Pty=0'];
  return runCommand('apt-get', [...options, ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}
