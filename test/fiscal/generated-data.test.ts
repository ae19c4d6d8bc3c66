import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generateFiscalData } from '../../scripts/generate-fiscal-data.ts';
import { packSymbols } from '../../scripts/pack-fiscal-data.ts';
import { placeHistory } from '../../src/fiscal/index.ts';
import { type Symbols, unpackSymbols } from '../../src/fiscal/packed-symbols.ts';

const generated = generateFiscalData();

describe('the generated data', () => {
  it.each([...generated.keys()])('%s is up to date with the CSV files', (name) => {
    const file = new URL(`../../src/fiscal/data/${name}`, import.meta.url);
    // With toBe on the texts, a failure would print hundreds of kilobytes.
    expect(readFileSync(file, 'utf8') === generated.get(name)).toBe(true);
  });

  it('and the whole library are ASCII, which takes one byte per character in memory', () => {
    for (const text of generated.values()) expect(/^[\n -~]*$/.test(text)).toBe(true);
  });

  it('has each name of places.csv, with its province and days', () => {
    const file = new URL('../../data/places.csv', import.meta.url);
    const rows: readonly Readonly<Record<string, string>>[] = parse(readFileSync(file), { columns: true });
    const expected = rows.map(({ code, name, province, valid_from, valid_to }) =>
      [code, name, province, valid_from, valid_to].join(),
    );
    const codes = new Set(rows.map(({ code }) => code ?? ''));
    const found = [...codes].flatMap((code) =>
      placeHistory(code).map(({ name, province, validFrom, validTo }) =>
        [code, name, province, validFrom ?? '', validTo ?? ''].join(),
      ),
    );
    const missing = new Set(expected).difference(new Set(found));
    expect([...missing].slice(0, 10)).toEqual([]);
    expect(found).toHaveLength(expected.length);
  });
});

describe('packed symbols', () => {
  /** Reads parts of so many symbols, each in the context of the one before. */
  const unpackParts = (lengths: readonly number[]) => (symbols: Symbols) => {
    const read = symbols.addKind({ below: 100, contexts: 100 });
    return lengths.map((length, part) => {
      symbols.open(part);
      let last = 0;
      return Array.from({ length }, () => {
        last = read(last);
        return last;
      });
    });
  };

  it('are read as they were written, whatever they are', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(99), { maxLength: 300 }), { maxLength: 3 }), (parts) => {
        const unpack = unpackParts(parts.map(({ length }) => length));
        expect(unpack(unpackSymbols(packSymbols(parts, unpack)))).toEqual(parts);
      }),
      { numRuns: 50 },
    );
  });

  it('take no bits if they follow from the one before', () => {
    const values = Array.from({ length: 6_000 }, (_, at) => (at * 7) % 100);
    // Only after a 0, as which the first one is read, there is a choice: of the first symbol and the 60 after each 0.
    expect(packSymbols([values], unpackParts([6_000])).parts.map(({ length }) => length)).toEqual([
      Math.ceil(61 / 6),
    ]);
  });

  it('have codes that are not too long, however rare some are', () => {
    const values = Array.from({ length: 18 }, (_, symbol) => new Array<number>(2 ** symbol).fill(symbol));
    const unpack = (symbols: Symbols): number[] => {
      const read = symbols.addKind({ below: 18 });
      symbols.open(0);
      return values.flat().map(() => read(0));
    };
    expect(unpack(unpackSymbols(packSymbols([values.flat()], unpack)))).toEqual(values.flat());
  });

  it('are refused if they do not fit, or if too few or too many are listed', () => {
    expect(() => packSymbols([[1, 100]], unpackParts([2]))).toThrow('symbol 1 of part 0');
    expect(() => packSymbols([[1]], unpackParts([2]))).toThrow('symbol 1 of part 0');
    expect(() => packSymbols([[1, 2, 3]], unpackParts([2]))).toThrow('symbols of part 0 are left');
  });
});
