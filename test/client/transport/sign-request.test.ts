import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWebCryptoSigner } from '../../../src/client/transport/sign-request.ts';
import { signRequest } from '../../../src/contract/signing.ts';

describe('signing by WebCrypto', () => {
  it('gives the signature of node:crypto, whatever is signed', async () => {
    const text = fc.string({ unit: 'binary' });
    const request = fc.record({
      method: fc.constantFrom('GET', 'post', 'DELETE'),
      path: fc.webPath(),
      timestamp: fc.nat().map(String),
      body: fc.option(fc.oneof(text, fc.uint8Array()), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(request, text, async (signable, secret) => {
        expect(await createWebCryptoSigner(secret)(signable)).toBe(signRequest(signable, secret));
      }),
    );
  });

  it.each(['', '\0', 'a'.repeat(200), 'è☕'])('takes the secret %j', async (secret) => {
    const request = { method: 'GET', path: '/v1/rooms', timestamp: '1767225600' };
    expect(await createWebCryptoSigner(secret)(request)).toBe(signRequest(request, secret));
  });
});
