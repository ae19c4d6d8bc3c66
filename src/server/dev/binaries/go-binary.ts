import { spawn } from 'node:child_process';
import { access, chmod, constants, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, posix, win32 } from 'node:path';
import { createInterface } from 'node:readline';
import { makeFolder } from '../../platform/storage/make-folder.ts';

/** A program of the Go module proxy, pinned to one version. */
export interface GoProgram {
  /** Name of the installed program. */
  readonly name: string;
  /** The command's import path. */
  readonly packagePath: string;
  readonly version: string;
}

export interface GoInstallOptions {
  readonly cacheDir: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Receives one short line, without a newline, for each step. */
  readonly onProgress?: (line: string) => void;
  readonly signal?: AbortSignal;
  /** A module that requires the program and pins its version, for programs whose own go.mod has replace lines. */
  readonly moduleFolder?: string;
}

/** Number of lines of the compiler's output that an error message repeats. */
const errorLines = 5;

/** The per-user folder of built programs: `$XDG_CACHE_HOME/rtc-service`, or `~/.cache/rtc-service`. */
export function defaultCacheDir(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'rtc-service');
}

/** The name of a program's file: Windows runs nothing without an extension. */
export function programFile(name: string, platform: NodeJS.Platform = process.platform): string {
  return platform === 'win32' ? `${name}.exe` : name;
}

/** Path of the program that {@link installGoProgram} builds, in a folder per version. */
export function cachedProgramPath(program: GoProgram, cacheDir: string): string {
  return join(cacheDir, program.name, program.version, programFile(program.name));
}

/** Returns whether this user may run the file. */
export async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/**
 * Builds the program with `go install` and returns its path. A program that was built before is not built again.
 *
 * The build runs in its own folder, and its result is renamed into place at the end. An interrupted build therefore
 * leaves no incomplete program, and of two simultaneous builds the later one replaces an equal file.
 *
 * @throws Error when Go is not there, when the build fails (with the compiler's last lines), or when the signal aborts it.
 */
export async function installGoProgram(program: GoProgram, options: GoInstallOptions): Promise<string> {
  const target = cachedProgramPath(program, options.cacheDir);
  if (await isExecutable(target)) return target;
  const versionDir = join(options.cacheDir, program.name, program.version);
  await makeFolder(versionDir);
  const buildDir = await mkdtemp(join(versionDir, '.building-'));
  try {
    await runGoInstall(program, buildDir, options);
    const built = join(buildDir, programFile(program.packagePath.split('/').at(-1) ?? program.name));
    await chmod(built, 0o755);
    await rename(built, target);
    return target;
  } finally {
    await rm(buildDir, { recursive: true, force: true });
  }
}

async function runGoInstall(program: GoProgram, buildDir: string, options: GoInstallOptions): Promise<void> {
  const { env = process.env, moduleFolder, onProgress, signal } = options;
  const subject = moduleFolder ? program.packagePath : `${program.packagePath}@${program.version}`;
  const go = spawn('go', ['install', '-v', subject], {
    cwd: moduleFolder ?? buildDir,
    env: { ...env, GOBIN: buildDir, GOFLAGS: '', GOWORK: 'off' },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal ? { signal } : {}),
  });
  const exited = new Promise<number | null>((resolve, reject) => {
    go.once('error', (cause) =>
      reject(new Error(`cannot run go install ${subject}: ${cause.message}`, { cause })),
    );
    go.once('close', resolve);
  });
  const [status, lastLines] = await Promise.all([exited, followBuild(go.stderr, program, onProgress)]);
  if (status !== 0) throw new Error(`go install ${subject} failed:\n${lastLines.join('\n')}`);
}

/** Reports Go's lines as progress, and returns the last lines that are not progress. */
async function followBuild(
  output: NodeJS.ReadableStream,
  program: GoProgram,
  onProgress: GoInstallOptions['onProgress'],
): Promise<readonly string[]> {
  let downloaded = 0;
  let compiled = 0;
  let lastLines: readonly string[] = [];
  for await (const line of createInterface({ input: output })) {
    if (line.startsWith('go: downloading ')) downloaded += 1;
    else if (/^[\w.~-]+(\/[\w.~-]+)*$/.test(line)) compiled += 1;
    else lastLines = [...lastLines, line].slice(-errorLines);
    onProgress?.(
      `${program.name} ${program.version}: ${downloaded} modules downloaded, ${compiled} packages compiled`,
    );
  }
  return lastLines;
}

export type Program = { readonly name: string; readonly path: string };

/** Returns the path of the first of these names that is a program in a folder of the search path. */
export async function findOnPath(
  names: readonly string[],
  searchPath: string | undefined,
  platform: NodeJS.Platform = process.platform,
): Promise<Program | undefined> {
  const { delimiter } = platform === 'win32' ? win32 : posix;
  const folders = (searchPath ?? '').split(delimiter).filter((part) => part !== '');
  for (const name of names) {
    for (const folder of folders) {
      const path = join(folder, programFile(name, platform));
      if (await isExecutable(path)) return { name, path };
    }
  }
  return undefined;
}

/** Version of the media server that the service is built for and tested with. */
export const livekitServerVersion = 'v1.13.5';

/** The media server's module. Go names its command `server`; the cache names it `livekit-server`. */
const livekitServer: GoProgram = {
  name: 'livekit-server',
  packagePath: 'github.com/livekit/livekit-server/cmd/server',
  version: livekitServerVersion,
};

/** The folders in which a media server is searched: PATH of `env`, then the cache. */
interface LivekitSearch {
  readonly env: NodeJS.ProcessEnv;
  readonly cacheDir: string;
}

/** Returns `livekit-server` of PATH, in any version, or the pinned version in the cache. */
export async function findLivekitServer(search: LivekitSearch): Promise<string | undefined> {
  const onPath = await findOnPath(['livekit-server'], search.env.PATH);
  return onPath?.path ?? (await findCachedLivekitServer(search.cacheDir));
}

/** Returns the pinned version if it was built before. Tests use it, whatever PATH contains. */
export async function findCachedLivekitServer(cacheDir: string): Promise<string | undefined> {
  const path = cachedProgramPath(livekitServer, cacheDir);
  return (await isExecutable(path)) ? path : undefined;
}

/**
 * Builds the pinned media server into the cache with `go install` (about 2 minutes on two cores, once; 75 MB)
 * and returns its path. Safe when two processes do it at once.
 *
 * @throws Error when Go is missing, the build fails, or the signal aborts it.
 */
export async function buildLivekitServer(options: GoInstallOptions): Promise<string> {
  return installGoProgram(livekitServer, options);
}
