import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Hint, HintedError } from '../../contract/hint.ts';
import type { Environment } from '../app/config/environment.ts';
import { makeFolder } from '../platform/storage/make-folder.ts';

export type KeyPair = { readonly apiKey: string; readonly apiSecret: string };

export type Credentials = {
  /** Key pair with which callers of our API sign. */
  readonly service: KeyPair;
  /**
   * Key pair of the media server. Every participant holds a token that is signed with it, and could guess a short secret
   * offline. A separate pair protects our API from such a guess.
   */
  readonly mediaServer: KeyPair;
  readonly areNew: boolean;
};

/**
 * Returns the two pairs of the environment. A missing pair is read from the data directory, or generated and stored there.
 */
export async function developmentCredentials(
  environment: Environment,
  dataDir: string,
): Promise<Credentials> {
  const service = readKeyPair(environment, PAIRS.service);
  const mediaServer = readKeyPair(environment, PAIRS.mediaServer);
  if (service !== undefined && mediaServer !== undefined) return { service, mediaServer, areNew: false };
  const file = join(dataDir, 'credentials.json');
  const stored = await readStored(file);
  const chosen = {
    service: service ?? stored?.service ?? createPair('dev'),
    mediaServer: mediaServer ?? stored?.mediaServer ?? createPair('media'),
  };
  // A pair of the environment is not copied to the file.
  await store(file, {
    service: stored?.service ?? (service ? undefined : chosen.service),
    mediaServer: stored?.mediaServer ?? (mediaServer ? undefined : chosen.mediaServer),
  });
  return { ...chosen, areNew: service === undefined && stored?.service === undefined };
}

/** Names of the variables of each pair. */
const PAIRS = {
  service: { key: 'API_KEY', secret: 'API_SECRET' },
  mediaServer: { key: 'LIVEKIT_API_KEY', secret: 'LIVEKIT_API_SECRET' },
} as const;

function readKeyPair(
  environment: Environment,
  { key, secret }: (typeof PAIRS)[keyof typeof PAIRS],
): KeyPair | undefined {
  const apiKey = environment[key];
  const apiSecret = environment[secret];
  if (apiKey && apiSecret) return { apiKey, apiSecret };
  if (apiKey || apiSecret)
    throw new HintedError(`Only one of ${key} and ${secret} is set`, { text: 'set both or neither' });
  return undefined;
}

function createPair(prefix: string): KeyPair {
  return {
    apiKey: `${prefix}${randomBytes(8).toString('hex')}`,
    apiSecret: randomBytes(32).toString('base64url'),
  };
}

type StoredPairs = { readonly service: KeyPair | undefined; readonly mediaServer: KeyPair | undefined };

async function store(file: string, { service, mediaServer }: StoredPairs): Promise<void> {
  const folder = join(file, '..');
  await makeFolder(folder, 0o700);
  await ignoreInGit(folder);
  const content = {
    ...service,
    ...(mediaServer && { livekitApiKey: mediaServer.apiKey, livekitApiSecret: mediaServer.apiSecret }),
  };
  const draft = `${file}.new`;
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
}

/** The default folder is in a project, whose next commit would include the secrets. Other folders are not changed. */
async function ignoreInGit(dataDir: string): Promise<void> {
  if (basename(dataDir) !== DEFAULT_FOLDER) return;
  await writeFile(join(dataDir, '.gitignore'), '*\n', { flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    },
  );
}

const DEFAULT_FOLDER = '.rtc';

async function readStored(file: string): Promise<StoredPairs | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const { apiKey, apiSecret, livekitApiKey, livekitApiSecret } = parse(text, file);
  const service = storedPair(apiKey, apiSecret);
  const mediaServer = storedPair(livekitApiKey, livekitApiSecret);
  if (service === 'incomplete' || mediaServer === 'incomplete' || (service ?? mediaServer) === undefined) {
    throw new HintedError(`${file} does not hold pairs of a key and a secret`, DELETE_IT);
  }
  return { service, mediaServer };
}

const DELETE_IT: Hint = { text: 'delete it to have new credentials made' };

function storedPair(apiKey: unknown, apiSecret: unknown): KeyPair | 'incomplete' | undefined {
  if (typeof apiKey === 'string' && typeof apiSecret === 'string') return { apiKey, apiSecret };
  return apiKey === undefined && apiSecret === undefined ? undefined : 'incomplete';
}

function parse(text: string, file: string): Readonly<Record<string, unknown>> {
  const broken = `${file} is not JSON`;
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null) return { ...parsed };
  } catch (cause) {
    throw new HintedError(broken, DELETE_IT, { cause });
  }
  throw new HintedError(broken, DELETE_IT);
}
