import { createHmac, createSecretKey } from 'node:crypto';

/** Signs JSON Web Tokens with HS256. */
export type SignJwt = (payload: object) => string;

/** Used instead of the SDK's signer, which takes three times as long. */
export function createJwtSigner(secret: string): SignJwt {
  const key = createSecretKey(secret, 'utf8');
  return (payload) => {
    const signed = `${HEADER}.${encode(payload)}`;
    return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
  };
}

const HEADER = encode({ alg: 'HS256', typ: 'JWT' });

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
