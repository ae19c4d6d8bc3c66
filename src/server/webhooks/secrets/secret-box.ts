import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { ServiceError } from '../../../contract/errors.ts';
import type { SecretBox } from '../sender/sender.ts';

const VERSION = 'v2';
/** The format without the webhook's id. Stored secrets of earlier versions have it until they are re-encrypted. */
const UNBOUND_VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const ENCRYPTION_KEY_BYTES = 32;

/**
 * AES-256-GCM. A sealed secret is `v2.<key id>.<base64url of nonce, ciphertext, tag>`, with the webhook's id as associated
 * data: an attacker who can write to the database, but has no key, cannot give a webhook the secret of another one. The
 * first key encrypts and all keys decrypt. To rotate keys, put the new one in front, and drop the old one when every secret
 * has been re-encrypted.
 */
export function createSecretBox(keys: readonly [Buffer, ...Buffer[]]): SecretBox {
  const byId = new Map(keys.map((key) => [keyId(key), createSecretKey(key)]));
  const currentId = keyId(keys[0]);
  const current = createSecretKey(keys[0]);
  return {
    seal: (secret, webhookId) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current, nonce).setAAD(Buffer.from(webhookId));
      const sealed = Buffer.concat([
        nonce,
        cipher.update(secret, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return `${VERSION}.${currentId}.${sealed.toString('base64url')}`;
    },
    isCurrent: (sealed) => sealed.startsWith(`${VERSION}.${currentId}.`),
    open: (sealed, webhookId) => {
      const [version, id = '', text = ''] = sealed.split('.');
      const key = byId.get(id);
      const isKnown = version === VERSION || version === UNBOUND_VERSION;
      if (!isKnown || key === undefined) throw cannotOpen();
      const associatedData = version === VERSION ? Buffer.from(webhookId) : undefined;
      return decrypt(key, Buffer.from(text, 'base64url'), associatedData);
    },
  };
}

function decrypt(key: KeyObject, sealed: Buffer, associatedData: Buffer | undefined): string {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES));
    if (associatedData !== undefined) decipher.setAAD(associatedData);
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    return (
      decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    );
  } catch {
    throw cannotOpen();
  }
}

/** Identifies a key without revealing it. */
function keyId(key: Buffer): string {
  return createHash('sha256').update('rtc-service key id\0').update(key).digest('base64url').slice(0, 8);
}

function cannotOpen(): ServiceError {
  return new ServiceError(
    'internal-error',
    'A stored secret cannot be decrypted: the ENCRYPTION_KEY that it was stored with is not configured.',
  );
}
