import { canonicalLines, type SignableRequest } from '../contract/canonical-request.ts';

/** Computes a request's signature with the caller's secret. */
export type RequestSigner = (request: SignableRequest) => string | Promise<string>;

/** Signs with WebCrypto, which every runtime has. */
export function createWebCryptoSigner(apiSecret: string): RequestSigner {
  const encoder = new TextEncoder();
  const bytesOf = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);
  let key: Promise<WebCryptoKey> | undefined;
  return async (request) => {
    key ??= importKey(bytesOf(apiSecret));
    const body =
      typeof request.body === 'string' ? bytesOf(request.body) : new Uint8Array(request.body ?? []);
    const bodyHash = toHex(await crypto.subtle.digest('SHA-256', body));
    const lines = bytesOf(canonicalLines(request, bodyHash));
    return toHex(await crypto.subtle.sign('HMAC', await key, lines));
  };
}

type WebCryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

function importKey(secret: Uint8Array<ArrayBuffer>): Promise<WebCryptoKey> {
  return crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
}

function toHex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
