import { access } from 'node:fs/promises';
import { runQuietly } from './run-command.ts';

/** Lines of a failed apt-get that are shown: the packages' own scripts say a lot before it. */
const keptLines = 30;

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
 * @returns false when apt-get failed twice; its last words are on the terminal then.
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
  // Another apt-get may hold the lock for a while (unattended upgrades).
  const options = ['--quiet=2', '-o', 'DPkg::Lock::Timeout=120', '-o', 'Dpkg::Use-Pty=0'];
  const result = await runQuietly('apt-get', [...options, ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (result.status !== 0) console.log(result.output.split('\n').slice(-keptLines).join('\n'));
  return result.status === 0;
}
