import { expect, it } from 'vitest';
import { describeRedirect } from '../../src/contract/http-responses.ts';

const BASE = 'https://example.org/hook?token=secret';

it.each([
  ['https://www.example.org/hook', 'redirects to https://www.example.org/hook: register that address'],
  ['/other', 'redirects to https://example.org/other: register that address'],
  ['//other.example/', 'redirects to https://other.example/: register that address'],
  [
    'https://u:p@www.example.org/hook?key=s#x',
    'redirects to https://***@www.example.org/hook?***: register that address',
  ],
  [`/${'x'.repeat(300)}`, `redirects to https://example.org/${'x'.repeat(199)}…: register that address`],
  ['http://\u001b[31m/', 'redirects to an address that is not valid'],
  ['javascript:alert(1)', 'redirects to an address that is neither http nor https'],
  ['', 'redirects, but does not say where'],
  [undefined, 'redirects, but does not say where'],
])('a redirect to %j is described without its secrets', (location, expected) => {
  expect(describeRedirect(location, BASE)).toBe(expected);
});
