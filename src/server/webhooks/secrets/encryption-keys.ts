import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HintedError } from '../../../contract/hint.ts';
import { codeOfError } from '../../../contract/unknown-value.ts';
import type { Log } from '../../platform/log.ts';
import { ENCRYPTION_KEY_BYTES } from './secret-box.ts';

const FILE = 'encryption.key';

/**
 * Reads the key file of the data directory, and creates it on first use with access for its owner only. Without the file the
 * stored secrets are lost. A file that other users may read, such as a copy or a restored backup, causes a warning and no
 * error, because a mounted secret may have to be readable.
 */
export function readEncryptionKey(
  dataDir: string,
  log: Pick<Log, 'warn'>,
  platform: NodeJS.Platform = process.platform,
): Buffer {
  const path = join(dataDir, FILE);
  const kept = readKeyFile(path) ?? makeKey(dataDir, path);
  if (isOpenToOthers(path, platform))
    log.warn({ path }, 'others may read the encryption key; run chmod 600 on it');
  return parseKey(kept, path);
}

/**
 * Whether the data directory has its key file already.
 *
 * @throws an error when the file cannot be read, or holds no key.
 */
export function checkEncryptionKey(dataDir: string): boolean {
  const path = join(dataDir, FILE);
  const kept = readKeyFile(path);
  if (kept !== undefined) parseKey(kept, path);
  return kept !== undefined;
}

function parseKey(text: string, path: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length === ENCRYPTION_KEY_BYTES) return key;
  throw new HintedError(`${path} does not contain a key of ${ENCRYPTION_KEY_BYTES} bytes in base64`, {
    text: 'restore the right key file',
  });
}

/** Windows has no file modes. */
function isOpenToOthers(path: string, platform: NodeJS.Platform): boolean {
  return platform !== 'win32' && (statSync(path).mode & 0o077) !== 0;
}

function readKeyFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOfError(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Two processes may start at once: the second one uses the key of the first. The file gets its name when it is complete and
 * on the disk, so that no process reads half a key and a power cut leaves none.
 */
function makeKey(dataDir: string, path: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const text = `${randomBytes(ENCRYPTION_KEY_BYTES).toString('base64')}\n`;
  const unfinished = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(unfinished, text, { mode: 0o600, flag: 'wx', flush: true });
    linkSync(unfinished, path);
    return text;
  } catch (error) {
    const kept = codeOfError(error) === 'EEXIST' ? readKeyFile(path) : undefined;
    if (kept === undefined) throw error;
    return kept;
  } finally {
    rmSync(unfinished, { force: true });
  }
}
