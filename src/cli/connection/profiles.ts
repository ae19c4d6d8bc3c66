import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, posix, win32 } from 'node:path';
import { shellQuote } from '../../contract/shell-quote.ts';
import { codeOfError, isObject, readMembers } from '../../contract/unknown-value.ts';
import { CliError, EXIT } from '../errors/cli-error.ts';
import { fileError } from '../errors/file-error.ts';
import type { Io } from '../terminal/io.ts';
import { decodeText } from '../terminal/source-text.ts';

/** A named service. It has exactly one of the three: the secret itself, a command or a file. */
export type Profile = {
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret?: string;
  /** A shell command that prints the secret, such as `pass show rtc`. */
  readonly apiSecretCommand?: string;
  /** A file that holds the secret. */
  readonly apiSecretFile?: string;
  /** The data folder of the `rtc dev` that keeps this profile. */
  readonly devDataDir?: string;
  /** Whether the service needs care, such as one in production: changes are confirmed by typing the name of the profile. */
  readonly isProtected?: boolean;
};

export type ProfileStore = {
  /** The default profile. */
  readonly current: string | undefined;
  readonly profiles: Readonly<Record<string, Profile>>;
};

const EMPTY: ProfileStore = { current: undefined, profiles: {} };

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

export function profilesPath({ env, runtime }: Pick<Io, 'env' | 'runtime'>): string {
  const base = env.XDG_CONFIG_HOME ?? '';
  // A path that is not absolute is ignored, as these variables are specified.
  const { isAbsolute } = runtime.platform === 'win32' ? win32 : posix;
  const config = isAbsolute(base) ? base : join(env.HOME ?? homedir(), '.config');
  return join(config, 'rtc', 'config.json');
}

/** @throws CliError when other users could read or change the file, or when its content is invalid */
export async function readProfiles(io: Io): Promise<ProfileStore> {
  const path = profilesPath(io);
  const text = await readPrivately(path, io.runtime.platform);
  return text === undefined ? EMPTY : parseStore(path, text);
}

/** Replaces the file in one step, so that a reader or a crash never sees half of it. */
export async function writeProfiles(io: Io, store: ProfileStore): Promise<void> {
  const path = profilesPath(io);
  const directory = dirname(path);
  const draft = `${path}.${randomUUID()}.draft`;
  try {
    // A new home has no folder for settings. Node's `recursive` would try for ever below /proc, or an automounter's /home.
    for (const folder of [dirname(directory), directory]) await makeMissing(folder);
    await chmod(directory, DIRECTORY_MODE);
    await writeFile(draft, `${JSON.stringify(store, undefined, 2)}\n`, { mode: FILE_MODE, flag: 'wx' });
    await rename(draft, path);
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw fileError(cause, { path, doing: 'written', exitCode: EXIT.failure });
  }
}

async function makeMissing(folder: string): Promise<void> {
  await mkdir(folder, { mode: DIRECTORY_MODE }).catch((error: unknown) => {
    if (codeOfError(error) !== 'EEXIST') throw error;
  });
}

async function readPrivately(path: string, platform: string): Promise<string | undefined> {
  try {
    // Windows has no file modes: a profile directory there belongs to the user.
    if (platform !== 'win32') {
      await requirePrivate(dirname(path), DIRECTORY_MODE);
      await requirePrivate(path, FILE_MODE);
    }
    return decodeText(await readFile(path), path);
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    if (codeOfError(cause) === 'ENOENT') return undefined;
    throw fileError(cause, { path, doing: 'read', exitCode: EXIT.failure });
  }
}

async function requirePrivate(path: string, recommendedMode: number): Promise<void> {
  const mode = (await stat(path)).mode & 0o777;
  if ((mode & 0o077) === 0) return;
  throw new CliError(
    EXIT.failure,
    `${path} contains secrets, and its mode ${mode.toString(8).padStart(4, '0')} lets other users read it`,
    `run: chmod ${recommendedMode.toString(8)} ${shellQuote(path)}`,
  );
}

function parseStore(path: string, text: string): ProfileStore {
  const broken = (why: string): CliError =>
    new CliError(
      EXIT.failure,
      `${path} is broken: ${why}`,
      'repair it, or move it away and run: rtc profile add',
    );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes the file, and perhaps a secret in it.
    throw broken('it is not JSON');
  }
  const { current, profiles } = readMembers(value);
  if (!isObject(profiles)) throw broken('it has no "profiles" object');
  if (current !== undefined && typeof current !== 'string') throw broken('"current" is not a name');
  for (const [name, profile] of Object.entries(profiles)) {
    const error = profileError(profile);
    if (error !== undefined) throw broken(`profile ${JSON.stringify(name)} ${error}`);
  }
  return { current, profiles: profiles as Record<string, Profile> };
}

function profileError(profile: unknown): string | undefined {
  if (!isObject(profile)) return 'is not an object';
  const { url, apiKey, ...rest } = profile;
  if (typeof url !== 'string' || typeof apiKey !== 'string') return 'lacks "url" or "apiKey"';
  const { apiSecret, apiSecretCommand, apiSecretFile } = rest;
  const sources = [apiSecret, apiSecretCommand, apiSecretFile].filter((source) => source !== undefined);
  if (sources.length !== 1 || typeof sources[0] !== 'string') {
    return 'needs exactly one of "apiSecret", "apiSecretCommand" and "apiSecretFile"';
  }
  return undefined;
}
