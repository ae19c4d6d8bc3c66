import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createHmacSha256 } from '../../src/contract/signing.ts';

const SECRETS = ['', 'a', 'x'.repeat(63), 'x'.repeat(64), 'x'.repeat(65), 'x'.repeat(300), 'città €'];
// 1365 characters are the most that are signed without createHmac.
const TEXTS = [
  '',
  'a',
  'POST\n/v1/token',
  'è€😀',
  '\ud800',
  '€'.repeat(1365),
  '€'.repeat(1366),
  'a'.repeat(1366),
  'ab'.repeat(9000),
];

describe('the HMAC of a prepared secret', () => {
  it.each(SECRETS)('is what createHmac computes with %j', (secret) => {
    const sign = createHmacSha256(secret);
    for (const text of [...TEXTS, ...TEXTS.toReversed()]) {
      for (const encoding of ['hex', 'base64url'] as const) {
        const expected = createHmac('sha256', secret).update(text).digest(encoding);
        expect(sign(text, encoding)).toBe(expected);
      }
    }
  });

  it('is that of RFC 4231, case 2', () => {
    const expected = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';
    expect(createHmacSha256('Jefe')('what do ya want for nothing?', 'hex')).toBe(expected);
  });
});
