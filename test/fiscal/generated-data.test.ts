import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { generateFiscalData } from '../../scripts/generate-fiscal-data.ts';

describe('the generated data', () => {
  it.each([...generateFiscalData().keys()])('%s is up to date with the CSV files', (name) => {
    const file = new URL(`../../src/fiscal/data/${name}`, import.meta.url);
    // With toBe on the texts, a failure would print hundreds of kilobytes.
    expect(readFileSync(file, 'utf8') === generateFiscalData().get(name)).toBe(true);
  });

  it('and the whole library are ASCII, which takes one byte per character in memory', () => {
    for (const text of generateFiscalData().values()) expect(/^[\n -~]*$/.test(text)).toBe(true);
  });
});
