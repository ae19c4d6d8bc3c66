import { describe, expect, it } from 'vitest';
import { canonicalString, equalityWith, isSignatureValid, signRequest } from '../../src/contract/signing.ts';
import { signatureHeaders } from '../support/sign.ts';

const SECRET = 'wJalrXUtnFEMI/K7MDENG+secret';
const TIMESTAMP = '1767225600';

/*
 * Made by hand, as a shell does it:
 *   hash=$(printf %s "$body" | openssl dgst -sha256 -r | cut -d' ' -f1)
 *   printf '%s\n%s\n%s\n%s' "$method" "$path" 1767225600 "$hash" | openssl dgst -sha256 -hmac "$secret" -r
 */
const EMPTY_HASH = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const VECTORS = [
  {
    method: 'GET',
    path: '/v1/rooms',
    body: '',
    hash: EMPTY_HASH,
    signature: '8b90cb8b5748d70f08488aa383dfd683ac08f37850dc5aa4a17dd914586701ab',
  },
  {
    method: 'GET',
    path: '/v1/rooms?limit=5&cursor=ZGVtbw',
    body: '',
    hash: EMPTY_HASH,
    signature: 'ce4fb02e113b624caa84ac754c3883413691ef4b9956177834e607f2f7fe9fbb',
  },
  {
    method: 'POST',
    path: '/v1/rooms',
    body: '{"name":"demo"}',
    hash: 'd7d234f759ec34fd6298b7e32318614760070aaef9f4e92ced928324b49a0602',
    signature: 'ed39718bf9658747af08429e11ec93d7846fc895dde446ac844feeb8ce265eab',
  },
  {
    method: 'POST',
    path: '/v1/token',
    body: '{"roomId":"caffè ☕","userId":"ada","name":"Ada","role":"host"}',
    hash: 'ae664ad41a00e867ee971200772ab306ca56e11c2f8731e64c9067e92b30faf0',
    signature: '8700cc4d93995f36a6478e9eceaef039e238df5efca93ec9cb66151757c43e2d',
  },
  {
    method: 'DELETE',
    path: '/v1/rooms/a%2Fb%20c',
    body: '',
    hash: EMPTY_HASH,
    signature: 'a31b16f5a93d9c883cde722fc639fcd282492a5dd1b3b1878d42eec67557b771',
  },
  {
    method: 'GET',
    path: '/v1/rooms',
    body: '{}',
    hash: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    signature: '405c330c52843a86f45b508e666f99b9c8d1dce44185b86b94e96fe6169e2bef',
  },
  {
    method: 'POST',
    path: '/v1/rooms',
    body: ' {"name" : "demo"}\n',
    hash: '8890bda4d477dfb5437c9a6e6c38cb13ba9122a0593f6d71b34c4855f2383edc',
    signature: '8ec799ef2e06153d39bc992fa42398595bbba7d3c41d49175f5f5e1bbbe9a6e4',
  },
] as const;

describe('the signature', () => {
  it.each(VECTORS)(
    'of $method $path $body is what openssl makes',
    ({ method, path, body, hash, signature }) => {
      const request = { method, path, body, timestamp: TIMESTAMP };
      expect(canonicalString(request)).toBe(`${method}\n${path}\n${TIMESTAMP}\n${hash}`);
      expect(signRequest(request, SECRET)).toBe(signature);
      expect(signRequest({ ...request, body: Buffer.from(body) }, SECRET)).toBe(signature);
      expect(isSignatureValid(request, signature, SECRET)).toBe(true);
      const witness = signatureHeaders(request, { apiKey: 'k', apiSecret: SECRET, timestamp: TIMESTAMP });
      expect(witness['X-Service-Signature']).toBe(signature);
    },
  );

  it('of no body is that of an empty one', () => {
    const request = { method: 'GET', path: '/v1/rooms', timestamp: TIMESTAMP };
    expect(signRequest(request, SECRET)).toBe(VECTORS[0].signature);
  });

  it('takes the method in upper case', () => {
    const request = { method: 'get', path: '/v1/rooms', timestamp: TIMESTAMP };
    expect(signRequest(request, SECRET)).toBe(VECTORS[0].signature);
  });

  it.each([
    ['upper case', VECTORS[0].signature.toUpperCase()],
    ['mixed case', VECTORS[0].signature.replace('b', 'B')],
  ])('is valid with digits in %s', (_name, signature) => {
    const request = { method: 'GET', path: '/v1/rooms', timestamp: TIMESTAMP };
    expect(isSignatureValid(request, signature, SECRET)).toBe(true);
  });

  it.each([
    ['another secret', VECTORS[0].signature, `${SECRET}x`],
    ['a missing digit', VECTORS[0].signature.slice(1), SECRET],
    ['a further digit', `${VECTORS[0].signature}0`, SECRET],
    ['a letter that is no digit', `${VECTORS[0].signature.slice(1)}g`, SECRET],
    ['no signature', '', SECRET],
  ])('is refused with %s', (_name, signature, secret) => {
    const request = { method: 'GET', path: '/v1/rooms', timestamp: TIMESTAMP };
    expect(isSignatureValid(request, signature, secret)).toBe(false);
  });
});

describe('the comparison in constant time', () => {
  it.each([
    ['a', 'a', true],
    ['', '', true],
    ['a', 'b', false],
    ['a', 'aa', false],
    ['\u00e9', 'e\u0301', false],
  ])('of %j and %j is %s', (given, expected, isEqual) => {
    expect(equalityWith(expected)(given)).toBe(isEqual);
  });
});
