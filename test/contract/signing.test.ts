import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { equalityWith, isSignatureValid, signRequest } from '../../src/contract/signing.ts';

const SECRET = 'wJalrXUtnFEMI/K7MDENG+secret';
const TIMESTAMP = '1767225600';
const SIGNATURE = '8b90cb8b5748d70f08488aa383dfd683ac08f37850dc5aa4a17dd914586701ab';

describe('the signature', () => {
  it('of no body is that of an empty one', () => {
    const request = { method: 'GET', path: '/v1/rooms', timestamp: TIMESTAMP };
    expect(signRequest(request, SECRET)).toBe(SIGNATURE);
  });

  it('covers a body of a single byte', () => {
    const request = { method: 'POST', path: '/v1/rooms', timestamp: TIMESTAMP };
    const hashOfOne = '6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b';
    const signed = `POST\n/v1/rooms\n${TIMESTAMP}\n${hashOfOne}`;
    const expected = createHmac('sha256', SECRET).update(signed).digest('hex');
    expect(signRequest({ ...request, body: '1' }, SECRET)).toBe(expected);
    expect(isSignatureValid(request, expected, SECRET)).toBe(false);
  });

  it('has the method in upper case', () => {
    const request = { method: 'get', path: '/v1/rooms', timestamp: TIMESTAMP };
    expect(signRequest(request, SECRET)).toBe(SIGNATURE);
  });

  it.each([
    ['upper case', SIGNATURE.toUpperCase()],
    ['mixed case', SIGNATURE.replace('b', 'B')],
  ])('is valid with digits in %s', (_name, signature) => {
    const request = { method: 'GET', path: '/v1/rooms', timestamp: TIMESTAMP };
    expect(isSignatureValid(request, signature, SECRET)).toBe(true);
  });

  it.each([
    ['another secret', SIGNATURE, `${SECRET}x`],
    ['a missing digit', SIGNATURE.slice(1), SECRET],
    ['a further digit', `${SIGNATURE}0`, SECRET],
    ['a letter that is no digit', `${SIGNATURE.slice(1)}g`, SECRET],
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
