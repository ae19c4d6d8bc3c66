import { chmod, readdir } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { delimiter, join } from 'node:path';
import { isExecutable } from '../../src/server/dev/binaries/go-binary.ts';
import { runQuietly } from './run-command.ts';

/** Go 1.21 and newer download by themselves the newer toolchain that a module requires. */
const oldestUsableMinor = 21;

/** The version that an older Go (Debian 12 has 1.19) downloads. Toolchains are modules of the Go module proxy too. */
const fetchedVersion = '1.26.8';
const machine = { x64: 'amd64', arm64: 'arm64' }[arch() as string] ?? arch();
const toolchainModule = `golang.org/toolchain@v0.0.1-go${fetchedVersion}.${platform()}-${machine}`;

/** Returns an environment with a usable `go`, or undefined. */
export async function goEnvironment(): Promise<NodeJS.ProcessEnv | undefined> {
  if (await isUsable('go')) return process.env;
  const folder = await fetchedToolchainFolder();
  if (folder === undefined) return undefined;
  const binaries = join(folder, 'bin');
  return (await isExecutable(join(binaries, 'go')))
    ? { ...process.env, PATH: `${binaries}${delimiter}${process.env.PATH ?? ''}` }
    : undefined;
}

/** Lets an old Go download a new one, which is checked against the Go checksum database like every module. */
export async function fetchToolchain(): Promise<void> {
  const { status, output } = await runQuietly('go', ['mod', 'download', toolchainModule]);
  if (status === undefined) throw new Error('there is no Go at all to fetch a newer one with');
  if (status !== 0) throw new Error(`go mod download ${toolchainModule} failed: ${output.trim()}`);
  const folder = await fetchedToolchainFolder();
  if (folder === undefined) throw new Error('go env GOMODCACHE failed');
  // An old Go unpacks every module without the permission to execute its files.
  const programFolders = [join(folder, 'bin'), join(folder, 'pkg', 'tool', `${platform()}_${machine}`)];
  for (const programs of programFolders) {
    for (const name of await readdir(programs)) await chmod(join(programs, name), 0o755);
  }
}

async function isUsable(go: string): Promise<boolean> {
  const { output } = await runQuietly(go, ['version']);
  const minor = /go1\.(\d+)/.exec(output)?.[1];
  return minor !== undefined && Number(minor) >= oldestUsableMinor;
}

async function fetchedToolchainFolder(): Promise<string | undefined> {
  const { status, output } = await runQuietly('go', ['env', 'GOMODCACHE']);
  return status === 0 ? join(output.trim(), toolchainModule) : undefined;
}
