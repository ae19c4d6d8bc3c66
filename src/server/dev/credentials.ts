import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { makeFolder } from '../../folders/make-folder.ts';
import type { Environment } from '../app/config/config.ts';

export type Credentials = { readonly apiKey: string; readonly apiSecret: string; readonly areNew: boolean };

/** Returns API_KEY and API_SECRET of the environment, or the stored pair of the data directory, or a new stored pair. */
export async function developmentCredentials(
  environment: Environment,
  dataDir: string,
): Promise<Credentials> {
  const { API_KEY: apiKey, API_SECRET: apiSecret } = environment;
  if (apiKey && apiSecret) return { apiKey, apiSecret, areNew: false };
  if (apiKey || apiSecret) throw new Error('Set both API_KEY and API_SECRET, or neither.');
  const file = join(dataDir, 'credentials.json');
  const stored = await readStored(file);
  if (stored !== undefined) return { ...stored, areNew: false };
  const created = {
    apiKey: `dev${randomBytes(8).toString('hex')}`,
    apiSecret: randomBytes(32).toString('base64url'),
  };
  await makeFolder(dataDir, 0o700);
  await ignoreInGit(dataDir);
  await writeFile(file, `${JSON.stringify(created, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  return { ...created, areNew: true };
}

/** The default folder lies within a project, and the next commit would include the secrets. Other folders are left alone. */
async function ignoreInGit(dataDir: string): Promise<void> {
  if (basename(dataDir) !== DEFAULT_FOLDER) return;
  await writeFile(join(dataDir, '.gitignore'), '*\n', { flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    },
  );
}

const DEFAULT_FOLDER = '.rtc';

async function readStored(file: string): Promise<Omit<Credentials, 'areNew'> | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const { apiKey, apiSecret } = parse(text, file);
  if (typeof apiKey === 'string' && typeof apiSecret === 'string') return { apiKey, apiSecret };
  throw new Error(`${file} does not hold an apiKey and an apiSecret; delete it to have new ones made.`);
}

function parse(text: string, file: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    throw new Error(`${file} is not JSON; delete it to have new credentials made.`);
  }
}
