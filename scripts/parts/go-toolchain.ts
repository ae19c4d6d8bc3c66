import { createHash } from 'node:crypto';
import { chmod, readdir, readFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  cachedProgramPath,
  defaultCacheDir,
  type GoInstallOptions,
  type GoProgram,
  installGoProgram,
  isExecutable,
} from '../../src/server/dev/binaries/go-binary.ts';
import { runQuietly } from './run-command.ts';

/** Options for building a part: how to report progress, and where the build tools are. */
export type BuildOptions = Pick<GoInstallOptions, 'cacheDir' | 'onProgress' | 'env'>;

/** The parts that are built or fetched once, into the cache. */
export interface Cached {
  /** Returns the path of its program or folder; undefined if it is not there. */
  readonly find: () => Promise<string | undefined>;
  readonly install: (options: BuildOptions) => Promise<unknown>;
}

/** Go 1.21 and newer download by themselves the newer toolchain that a module requires. */
const OLDEST_USABLE_MINOR = 21;
/** The version that an older Go (Debian 12 has 1.19) downloads. Toolchains are modules of the Go module proxy too. */
const FETCHED_VERSION = '1.26.8';
const MACHINE = { x64: 'amd64', arm64: 'arm64' }[arch() as string] ?? arch();
const TOOLCHAIN_MODULE = `golang.org/toolchain@v0.0.1-go${FETCHED_VERSION}.${platform()}-${MACHINE}`;

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
  const { status, output } = await runQuietly('go', ['mod', 'download', TOOLCHAIN_MODULE]);
  if (status === undefined) throw new Error('there is no Go at all to fetch a newer one with');
  if (status !== 0) throw new Error(`go mod download ${TOOLCHAIN_MODULE} failed: ${output.trim()}`);
  const folder = await fetchedToolchainFolder();
  if (folder === undefined) throw new Error('go env GOMODCACHE failed');
  // An old Go unpacks every module without the permission to execute its files.
  const programFolders = [join(folder, 'bin'), join(folder, 'pkg', 'tool', `${platform()}_${MACHINE}`)];
  for (const programs of programFolders) {
    for (const name of await readdir(programs)) await chmod(join(programs, name), 0o755);
  }
}

async function isUsable(go: string): Promise<boolean> {
  const { output } = await runQuietly(go, ['version']);
  const minor = /go1\.(\d+)/.exec(output)?.[1];
  return minor !== undefined && Number(minor) >= OLDEST_USABLE_MINOR;
}

async function fetchedToolchainFolder(): Promise<string | undefined> {
  const { status, output } = await runQuietly('go', ['env', 'GOMODCACHE']);
  return status === 0 ? join(output.trim(), TOOLCHAIN_MODULE) : undefined;
}

/** A program that is built once, into the cache. `moduleFolder` is the module that pins its version, if it has one. */
function builtOnce(program: () => Promise<GoProgram>, moduleFolder?: string): Cached {
  return {
    find: async () => {
      const path = cachedProgramPath(await program(), defaultCacheDir(process.env));
      return (await isExecutable(path)) ? path : undefined;
    },
    install: async (options) =>
      installGoProgram(await program(), moduleFolder === undefined ? options : { ...options, moduleFolder }),
  };
}

/** Helm (Apache-2.0) lints and renders the chart. It takes 2 to 10 minutes on two cores. */
export const helm = builtOnce(async () => ({
  name: 'helm',
  packagePath: 'helm.sh/helm/v3/cmd/helm',
  version: 'v3.22.0',
}));

/** A real S3 server that stores in a folder (Apache-2.0). It takes about a minute on two cores; 84 MB. */
export const versitygw = builtOnce(async () => ({
  name: 'versitygw',
  packagePath: 'github.com/versity/versitygw/cmd/versitygw',
  version: 'v1.8.0',
}));

const INGRESS = fileURLToPath(new URL('../build-ingress/', import.meta.url));

/**
 * LiveKit's ingress service (Apache-2.0). `go install …@version` refuses it, because its go.mod has a replace line.
 * Therefore it is built from a module of ours that requires it and repeats that line. GStreamer's development packages must
 * be installed (cgo). It takes 3 minutes on two cores; 59 MB.
 */
export const ingress = builtOnce(async () => {
  const { text, digest } = await readModule(INGRESS, ['go.mod', 'go.sum']);
  const release = /livekit\/ingress (v\S+)/.exec(text)?.[1] ?? 'unpinned';
  const packagePath = 'github.com/livekit/ingress/cmd/server';
  // The service starts its workers as `ingress` by PATH, so the program must have this name.
  return { name: 'ingress', packagePath, version: `${release}-${digest}` };
}, INGRESS);

const PEOPLE = fileURLToPath(new URL('../build-people/', import.meta.url));

/** People of a room, by LiveKit's SDK for Go (Apache-2.0). It takes a minute on two cores; 31 MB. */
export const people = builtOnce(async () => {
  const { digest } = await readModule(PEOPLE, ['go.mod', 'go.sum', 'main.go']);
  return { name: 'people', packagePath: 'rtc-service/people', version: digest };
}, PEOPLE);

/** The text of a module of ours. The digest is of its whole content, so any change causes a new build. */
async function readModule(folder: string, files: readonly string[]) {
  const text = (await Promise.all(files.map((file) => readFile(`${folder}${file}`, 'utf8')))).join('');
  return { text, digest: createHash('sha256').update(text).digest('hex').slice(0, 12) };
}
