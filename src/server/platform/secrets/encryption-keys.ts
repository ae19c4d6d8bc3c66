import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../../../contract/errors.ts';
import { HintedError } from '../../../contract/hint.ts';
import { codeOfError } from '../../../contract/unknown-value.ts';
import type { Log } from '../log.ts';

export function encryptionKeyPath(dataDir: string): string {
  return join(dataDir, 'encryption.key');
}

/**
 * Reads the key file of the data directory, and creates it on first use with access for its owner only. A new key opens no
 * stored secret, so callers check first that none is stored (requireKeyOfSecrets). A file that other users may read, such as a
 * copy or a restored backup, causes a warning and no error, because a mounted secret may have to be readable.
 */
export function readEncryptionKey(
  dataDir: string,
  log: Pick<Log, 'warn'>,
  platform: NodeJS.Platform = process.platform,
): Buffer {
  const path = encryptionKeyPath(dataDir);
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
  const path = encryptionKeyPath(dataDir);
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

const VERSION = 'v2';

const CIPHER = 'aes-256-gcm';

const NONCE_BYTES = 12;

const TAG_BYTES = 16;

export const ENCRYPTION_KEY_BYTES = 32;

/** Encrypts secrets at rest, each bound to the id of its row. */
export type SecretBox = {
  /** Ids of the keys, the first one being that with which the operator wants secrets to be encrypted. */
  readonly keyIds: readonly [string, ...string[]];
  /** The position in `keyIds` of the key that encrypts now. Keys that are derived from these have the same positions. */
  readonly currentIndex: () => number;
  /** Lets the key with this id encrypt from now on. A former key does until all instances have the new one (key-rotation.ts). */
  readonly encryptWith: (keyId: string) => void;
  readonly seal: (secret: string, boundTo: string) => string;
  /** Returns whether the secret was sealed with the key that encrypts now. */
  readonly isCurrent: (sealed: string) => boolean;
  /** Throws ServiceError secret-unavailable when no key opens the secret, or when it belongs to another row. */
  readonly open: (sealed: string, boundTo: string) => string;
};

/**
 * AES-256-GCM. A sealed secret is `v2.<key id>.<base64url of nonce, ciphertext, tag>`, with the id of its row as associated
 * data: an attacker who can write to the database, but has no key, cannot give a webhook the secret of another one. All keys
 * decrypt, and the first one encrypts until `encryptWith` chooses another.
 */
export function createSecretBox(keys: readonly [Buffer, ...Buffer[]]): SecretBox {
  const [first, ...others] = keys;
  const keyIds = [readKeyId(first), ...others.map(readKeyId)] as const;
  const byId = new Map(keys.map((key) => [readKeyId(key), createSecretKey(key)]));
  let current = { id: keyIds[0], key: createSecretKey(first) };
  return {
    keyIds,
    currentIndex: () => keyIds.indexOf(current.id),
    encryptWith: (id) => {
      const key = byId.get(id);
      if (key !== undefined) current = { id, key };
    },
    seal: (secret, boundTo) => {
      const sealed = encryptBytes(current.key, Buffer.from(secret), boundTo);
      return `${VERSION}.${current.id}.${sealed.toString('base64url')}`;
    },
    isCurrent: (sealed) => sealed.startsWith(`${VERSION}.${current.id}.`),
    open: (sealed, boundTo) => {
      const [version, id = '', text = ''] = sealed.split('.');
      const key = byId.get(id);
      if (version !== VERSION || key === undefined) throw cannotOpen();
      return decrypt(key, Buffer.from(text, 'base64url'), boundTo);
    },
  };
}

function decrypt(key: KeyObject, sealed: Buffer, boundTo: string): string {
  try {
    return decryptBytes(key, sealed, boundTo).toString();
  } catch {
    throw cannotOpen();
  }
}

/** AES-256-GCM with `boundTo` as associated data: nonce, ciphertext and tag. */
export function encryptBytes(key: Buffer | KeyObject, bytes: Buffer, boundTo: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(boundTo));
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** Throws unless the bytes were encrypted with this key and the same `boundTo`. */
export function decryptBytes(key: Buffer | KeyObject, sealed: Buffer, boundTo: string): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(boundTo)).setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
}

/** Identifies a key without revealing it. */
function readKeyId(key: Buffer): string {
  return createHash('sha256').update('rtc-service key id\0').update(key).digest('base64url').slice(0, 8);
}

/** Another instance may have the key, and a rotation may end soon: a caller may try again. */
function cannotOpen(): ServiceError {
  return new ServiceError(
    'secret-unavailable',
    'A stored secret cannot be decrypted: this instance does not have the ENCRYPTION_KEY that it was stored with, or the row is damaged.',
    {
      retryable: true,
      hint: { text: 'add that key to ENCRYPTION_KEY, after the current one' },
    },
  );
}
