import { createCipheriv, createHash, randomBytes } from 'node:crypto';

/** Encrypts a secret as version 0.1.0 did, without the id of its webhook. */
export function sealUnbound(key: Buffer, secret: string): string {
  const keyId = createHash('sha256').update('rtc-service key id\0').update(key).digest('base64url');
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `v1.${keyId.slice(0, 8)}.${sealed.toString('base64url')}`;
}
