import { isHeaderValue } from '../../client/transport/request-parts.ts';
import { copyingFault } from '../../contract/webhooks.ts';
import { CancelledError, CliError, EXIT, usageError } from '../errors/cli-error.ts';
import { didYouMean } from '../errors/did-you-mean.ts';
import type { Environment, Io } from '../terminal/io.ts';
import { decodeText, readStdin, readTextFile } from '../terminal/source-text.ts';
import { type Profile, type ProfileStore, profilesPath, readProfiles } from './profiles.ts';

export const DEFAULT_URL = 'http://127.0.0.1:3000';

/** The connection options of a command line. */
export type ConnectionFlags = {
  readonly url: string | undefined;
  readonly apiKey: string | undefined;
  readonly apiSecretFile: string | undefined;
  readonly profile: string | undefined;
};

/** A value with its source, for doctor and for messages. */
type Sourced = { readonly value: string; readonly source: string };

export type Settings = {
  readonly url: Sourced;
  readonly apiKey: Sourced | undefined;
  /** Read only when a request is signed, because a command may ask for a passphrase. */
  readonly apiSecret: { readonly source: string; readonly read: () => Promise<string> } | undefined;
  readonly profile: string | undefined;
  /** Whether the profile needs care: pages show it in red. */
  readonly isProtected: boolean;
};

/**
 * Resolves each setting separately: flag, then environment, then profile, then default. A profile that --profile names
 * counts as a flag, because its user must not reach another server because of a variable.
 */
export async function resolveSettings(io: Io, flags: ConnectionFlags): Promise<Settings> {
  const { env } = io;
  const urlVariable = firstVariable(env, URL_VARIABLES);
  const keyVariable = firstVariable(env, KEY_VARIABLES);
  const secretVariable = firstVariable(env, SECRET_VARIABLES);
  const needsProfile = flags.profile !== undefined || !urlVariable || !keyVariable || !secretVariable;
  const store = needsProfile ? await readProfiles(io) : undefined;
  const name = store === undefined ? undefined : (flags.profile ?? (env.RTC_PROFILE || store.current));
  const profile = name === undefined ? undefined : pickProfile(io, store, name);
  const origin = profileSource(name ?? '');
  const named = flags.profile === undefined ? undefined : profile;

  const url = withSource(flags.url, '--url') ??
    withSource(named?.url, origin) ??
    urlVariable ??
    withSource(profile?.url, origin) ?? { value: DEFAULT_URL, source: 'default' };
  const apiKey =
    withSource(flags.apiKey, '--api-key') ??
    withSource(named?.apiKey, origin) ??
    keyVariable ??
    withSource(profile?.apiKey, origin);
  const apiSecret =
    secretFromFlag(io, flags.apiSecretFile) ??
    secretFromProfile(io, named, origin) ??
    secretFromVariable(secretVariable) ??
    secretFromProfile(io, profile, origin);
  return { url, apiKey, apiSecret, profile: name, isProtected: profile?.isProtected === true };
}

/** Reads key and secret. Throws with what is missing and how to set it. */
export async function readCredentials(
  settings: Settings,
): Promise<{ readonly apiKey: string; readonly apiSecret: string }> {
  if (settings.apiKey === undefined || settings.apiSecret === undefined) {
    const missing = [
      settings.apiKey === undefined ? 'API key' : '',
      settings.apiSecret === undefined ? 'API secret' : '',
    ].filter((name) => name !== '');
    throw new CliError(
      EXIT.authentication,
      `no ${missing.join(' and no ')} for ${settings.url.value}`,
      'run: rtc profile add NAME, or set RTC_API_KEY and RTC_API_SECRET',
    );
  }
  const { value: apiKey, source } = settings.apiKey;
  if (!isHeaderValue(apiKey)) {
    throw new CliError(
      EXIT.authentication,
      `the API key (${source}) has a character that a header cannot contain`,
      'check for a line end or a quotation mark that was copied with it',
    );
  }
  return { apiKey, apiSecret: await settings.apiSecret.read() };
}

const URL_VARIABLES = ['RTC_URL'];

const KEY_VARIABLES = ['RTC_API_KEY', 'API_KEY'];

const SECRET_VARIABLES = ['RTC_API_SECRET', 'API_SECRET'];

function pickProfile(io: Io, store: ProfileStore | undefined, name: string): Profile {
  const profiles = store?.profiles ?? {};
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile !== undefined) return profile;
  const known = Object.keys(profiles);
  const next = known.length === 0 ? 'run: rtc profile add NAME' : `choose from ${known.join(', ')}`;
  const suggestion = didYouMean(name, known);
  throw usageError(`there is no profile ${JSON.stringify(name)} in ${profilesPath(io)}${suggestion}`, next);
}

function secretFromFlag(io: Io, path: string | undefined): Settings['apiSecret'] {
  if (path === undefined) return undefined;
  return { source: '--api-secret-file', read: () => readSecretFile(io, path) };
}

function secretFromVariable(variable: Sourced | undefined): Settings['apiSecret'] {
  if (variable === undefined) return undefined;
  return { source: variable.source, read: async () => checkSecret(variable.value, variable.source) };
}

function secretFromProfile(io: Io, profile: Profile | undefined, origin: string): Settings['apiSecret'] {
  if (profile === undefined) return undefined;
  const { apiSecret, apiSecretCommand, apiSecretFile } = profile;
  if (apiSecretCommand !== undefined) {
    return { source: `${origin} (command)`, read: () => runSecretCommand(io, apiSecretCommand) };
  }
  if (apiSecretFile !== undefined) {
    return { source: `${origin} (file)`, read: () => readSecretFile(io, apiSecretFile) };
  }
  return apiSecret === undefined ? undefined : { source: origin, read: async () => apiSecret };
}

/** A variable that is set to an empty text counts as not set. */
function firstVariable(env: Environment, names: readonly string[]): Sourced | undefined {
  const name = names.find((each) => env[each]);
  return name === undefined ? undefined : withSource(env[name], name);
}

export function profileSource(name: string): string {
  return `profile ${name}`;
}

function withSource(value: string | undefined, source: string): Sourced | undefined {
  return value === undefined ? undefined : { value, source };
}

/** Time limit: a secret command may ask for a passphrase. */
const COMMAND_TIMEOUT_MS = 60_000;

/** Reads the secret in a file, `-` for stdin. The line end that editors add is not part of it. */
export async function readSecretFile(io: Io, path: string): Promise<string> {
  const text = path === '-' ? await readStdin(io) : await readTextFile(io, path, EXIT.authentication);
  return requireSecret(text, path === '-' ? 'stdin' : path);
}

/**
 * Runs `command` in the shell and returns its output. Its stdin and stderr are the terminal's, so that it can ask for a
 * passphrase.
 */
async function runSecretCommand(io: Io, command: string): Promise<string> {
  const { spawn } = await import('node:child_process');
  const child = spawn(command, {
    shell: true,
    env: { ...io.env },
    cwd: io.workingDirectory,
    stdio: ['inherit', 'pipe', 'inherit'],
    timeout: COMMAND_TIMEOUT_MS,
    signal: io.signal,
  });
  const printed: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => printed.push(chunk));
  const ended = await new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(code === 0 ? '' : `it ended with ${signal ?? code}`));
  });
  if (io.signal.aborted) throw new CancelledError('stopped in the secret command');
  if (ended !== '') {
    // The command itself is the user's own setting, not a secret.
    throw new CliError(
      EXIT.authentication,
      `the secret command failed: ${ended}`,
      `try it yourself: ${command}`,
    );
  }
  const source = 'the secret command';
  return requireSecret(decodeText(Buffer.concat(printed), source), source);
}

function requireSecret(text: string, source: string): string {
  const secret = withoutLineEnd(text);
  if (secret !== '') return checkSecret(secret, source);
  throw new CliError(
    EXIT.authentication,
    `${source} has no secret`,
    'it must contain the API secret, and nothing else, on one line',
  );
}

/** Removes the line end that an editor or `echo` adds. */
export function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}

/**
 * Returns the secret. With a blank, a line end or quotes it would be another secret, and the service would only say that
 * the signature does not match.
 * @throws CliError (usage), without the secret
 */
export function checkSecret(secret: string, source: string): string {
  const fault = copyingFault(secret);
  if (fault === undefined) return secret;
  throw usageError(
    `the secret in ${source} ${fault}`,
    'give the secret alone; to see what is there: … | od -c | tail -3',
  );
}
