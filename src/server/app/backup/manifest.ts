import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '../../../contract/errors.ts';
import { isObject } from '../../../contract/unknown-value.ts';

export const DATABASE_FILE = 'rtc.sqlite';
export const KEY_FILE = 'encryption.key';
export const MANIFEST_FILE = 'backup.json';

/** Contents of a backup. The manifest is written last: a folder without one is an incomplete backup. */
export type Manifest = {
  readonly format: 1;
  /** Version of the service that made the backup. */
  readonly version: string;
  readonly createdAt: string;
  /** Whether the key of the webhook secrets is in a file of the backup, or in the setting ENCRYPTION_KEY. */
  readonly key: 'file' | 'setting';
  /** SHA-256 in hex, by file name. */
  readonly files: Readonly<Record<string, string>>;
};

export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/**
 * Reads the manifest of a backup and checks that its files are unchanged.
 *
 * @throws ServiceError invalid-request that names the file.
 */
export async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, MANIFEST_FILE);
  const manifest = parseManifest(await readManifestText(path), path);
  const names = manifest.key === 'file' ? [DATABASE_FILE, KEY_FILE] : [DATABASE_FILE];
  for (const name of names) {
    const hash = await hashRegularFile(join(folder, name)).catch(() => undefined);
    if (hash === undefined)
      throw toRefusal(`${join(folder, name)} is missing, or is not a regular file. Take another backup.`);
    if (hash !== manifest.files[name]) {
      throw toRefusal(`${join(folder, name)} is not the file that was backed up. Take another backup.`);
    }
  }
  return manifest;
}

/** Anything else, such as a device or a pipe, may never end. */
async function hashRegularFile(path: string): Promise<string> {
  if (!(await stat(path)).isFile()) throw new Error('not a regular file');
  return await hashFile(path);
}

/** A manifest has a few hundred bytes. */
const MAX_MANIFEST_BYTES = 65_536;

async function readManifestText(path: string): Promise<string> {
  const read = async (): Promise<string> => {
    const found = await stat(path);
    if (!found.isFile() || found.size > MAX_MANIFEST_BYTES) throw new Error('not a manifest');
    return await readFile(path, 'utf8');
  };
  return await read().catch((cause: unknown) => {
    throw toRefusal(
      `There is no backup: ${path} cannot be read. Name the folder that rtc admin backup made.`,
      cause,
    );
  });
}

function parseManifest(text: string, path: string): Manifest {
  const value = parseJson(text);
  if (isManifest(value)) return value;
  throw toRefusal(`${path} is not that of a backup that this version can read. Take another backup.`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isManifest(value: unknown): value is Manifest {
  if (!isObject(value)) return false;
  const { format, version, createdAt, key, files } = value;
  const isKey = key === 'file' || key === 'setting';
  return (
    format === 1 && typeof version === 'string' && typeof createdAt === 'string' && isKey && isObject(files)
  );
}

function toRefusal(message: string, cause?: unknown): ServiceError {
  return new ServiceError('invalid-request', message, { cause });
}
