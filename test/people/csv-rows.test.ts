import { expect, it } from 'vitest';
import { decodeTable } from '../../src/people/csv-rows.ts';

const TEXT = 'Cognome;Nome\r\nNicolò;Forlì\r\n';
const UTF16 = Buffer.from(`\ufeff${TEXT}`, 'utf16le');

it.each([
  ['UTF-8', Buffer.from(TEXT)],
  ['UTF-8 with a mark', Buffer.from(`\ufeff${TEXT}`)],
  ['Windows-1252', Buffer.from(TEXT, 'latin1')],
  ['UTF-16', UTF16],
  ['UTF-16 of the other order', Buffer.from(UTF16).swap16()],
])('a table of people in %s is decoded', (_encoding, bytes) => {
  expect(decodeTable(bytes)).toBe(TEXT);
});
