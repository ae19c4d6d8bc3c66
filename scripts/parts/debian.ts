import { access } from 'node:fs/promises';
import { runQuietly } from './run-command.ts';

/** Number of lines of a failed apt-get to print: the packages' own scripts print a lot before the error. */
const keptLines = 30;

/** Whether this script may install packages: on Debian or a descendant, as root. */
export async function canInstallPackages(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  return access('/etc/debian_version').then(
    () => true,
    () => false,
  );
}

/**
 * Installs the packages with apt-get, without the recommended ones. If a download fails, the lists and the download are
 * tried once more, because a mirror that is being updated lists files that it no longer has.
 *
 * @returns false if apt-get failed twice. The terminal then shows its last lines.
 */
export async function installPackages(packages: readonly string[]): Promise<boolean> {
  const install = async () =>
    (await aptGet(['update'])) &&
    (await aptGet(['install', '--yes', '--no-install-recommends', ...packages]));
  if (await install()) return true;
  console.log('apt-get failed; trying once more');
  return install();
}

async function aptGet(args: readonly string[]): Promise<boolean> {
  // Another apt-get (unattended upgrades) may hold the lock for a while.
  const options = ['--quiet=2', '-o', 'DPkg::Lock::Timeout=120', '-o', 'Dpkg::Use-Pty=0'];
  const result = await runQuietly('apt-get', [...options, ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (result.status !== 0) console.log(result.output.split('\n').slice(-keptLines).join('\n'));
  return result.status === 0;
}
