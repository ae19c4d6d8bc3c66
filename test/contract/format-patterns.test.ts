import { describe, expect, it } from 'vitest';
import { blockDurationFault } from '../../src/contract/blocks.ts';
import { nameFault } from '../../src/contract/names.ts';
import { termFault } from '../../src/contract/vocabulary.ts';
import { webhookUrlFault } from '../../src/contract/webhooks.ts';
import { FORMAT_PATTERNS } from '../../src/server/platform/openapi/schema-document.ts';

const matches = (format: string, text: string) =>
  new RegExp(FORMAT_PATTERNS[format] ?? expect.unreachable(), 'u').test(text);

/** Every character of Unicode's first plane, and one beyond it. */
const CHARACTERS = [...Array(0x1_0000).keys()]
  .map((code) => String.fromCharCode(code))
  .filter((character) => character.isWellFormed())
  .concat('🎧');

describe('the pattern of a format in the OpenAPI document', () => {
  it('refuses the characters that no name may have, and only those', () => {
    const differing = CHARACTERS.filter(
      (character) =>
        matches('livekit-name', `a${character}b`) !== (nameFault(`a${character}b`) === undefined),
    );
    expect(differing).toEqual([]);
  });

  it('accepts every character that a term or the URL of a webhook may have', () => {
    const url = (character: string) => `https://example.org/a${character}b`;
    const refused = CHARACTERS.filter(
      (character) =>
        (termFault(`a${character}b`) === undefined && !matches('term', `a${character}b`)) ||
        (webhookUrlFault(url(character)) === undefined && !matches('webhook-url', url(character))),
    );
    expect(refused).toEqual([]);
  });

  it.each(['\n', '\0', '\u0085', ' ', '\\'])(
    'refuses %j in the URL of a webhook, as the service does',
    (character) => {
      const url = `https://example.org/a${character}b`;
      expect([webhookUrlFault(url) === undefined, matches('webhook-url', url)]).toEqual([false, false]);
    },
  );

  it.each([
    ['http://example.org', true],
    ['HTTPS://EXAMPLE.ORG:8443/hooks?of=rtc#1', true],
    ['https://[2001:db8::1]/', true],
    ['ftp://example.org/', false],
    ['example.org/hooks', false],
    ['https://', false],
  ])('agrees with the service about %s', (url, isTaken) => {
    expect([webhookUrlFault(url) === undefined, matches('webhook-url', url)]).toEqual([isTaken, isTaken]);
  });

  it.each([
    ['1', true],
    ['999999999', true],
    ['forever', true],
    ['0', false],
    ['01', false],
    ['1000000000', false],
    ['1.5', false],
    ['forever1', false],
    ['', false],
  ])('agrees with the service about a block of %j', (text, isTaken) => {
    expect([blockDurationFault(text) === undefined, matches('block-duration', text)]).toEqual([
      isTaken,
      isTaken,
    ]);
  });
});
