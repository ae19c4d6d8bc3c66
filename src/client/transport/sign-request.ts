import { canonicalLines, type SignableRequest } from '../../contract/canonical-request.ts';

/** Computes a request's signature with the caller's secret. */
export type RequestSigner = (request: SignableRequest) => string | Promise<string>;

const encoder = new TextEncoder();

/** Signs with WebCrypto, which every runtime has. contract/signing.ts makes the same signature with node:crypto. */
export function createWebCryptoSigner(apiSecret: string): RequestSigner {
  let key: ReturnType<typeof importKey> | undefined;
  return async (request) => {
    key ??= importKey(encoder.encode(apiSecret));
    const body = request.body ?? '';
    const bytes = typeof body === 'string' ? encoder.encode(body) : new Uint8Array(body);
    const bodyHash = toHex(await crypto.subtle.digest('SHA-256', bytes));
    const lines = encoder.encode(canonicalLines(request, bodyHash));
    return toHex(await crypto.subtle.sign('HMAC', await key, lines));
  };
}

/** HMAC-SHA256 with WebCrypto, for a key that is used once. */
export async function hmacSha256(key: Uint8Array, message: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign('HMAC', await importKey(key), new Uint8Array(message)));
}

async function importKey(secret: Uint8Array) {
  // HMAC pads a short key with zeros, so one zero byte equals the empty key, which WebCrypto rejects.
  const bytes = secret.length === 0 ? new Uint8Array(1) : new Uint8Array(secret);
  return await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
}

function toHex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
