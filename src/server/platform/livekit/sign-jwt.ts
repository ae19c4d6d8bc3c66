import { createHmacSha256 } from '../../../contract/hmac-sha256.ts';

/** Signs JSON Web Tokens with HS256. */
export type SignJwt = (payload: object) => string;

/** Used instead of the SDK's signer, which takes three times as long. */
export function createJwtSigner(secret: string): SignJwt {
  const hmac = createHmacSha256(secret);
  return (payload) => {
    const signed = `${HEADER}.${encode(payload)}`;
    return `${signed}.${hmac(signed, 'base64url')}`;
  };
}

const HEADER = encode({ alg: 'HS256', typ: 'JWT' });

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
