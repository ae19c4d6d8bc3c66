import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CheckResult,
  caps,
  check,
  cities,
  createChecker,
  type DecodedCode,
  decode,
  findPlace,
  generate,
  omocodie,
  type Person,
  placeHistory,
  suggestPlaces,
} from '../../src/fiscal/index.ts';
import { anyPerson, asOf } from './people.ts';

const pickCode = (person: Person): string => {
  const result = generate(person, { asOf });
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.codiceFiscale;
};
const decoded = (code: string, century?: number): DecodedCode => {
  const result = decode(code, { asOf, century });
  if (!result.ok) throw new Error(result.message);
  return result;
};
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

describe('the functions of the library', () => {
  it('invert each other: decode and generate', () => {
    fc.assert(
      fc.property(anyPerson, (person) => {
        const { year, month, day } = person.birthDate;
        const code = pickCode(person);
        const read = decoded(code, year - (year % 100));
        expect(read).toMatchObject({
          codiceFiscale: code,
          baseCode: code,
          sex: person.sex,
          year,
          month,
          day,
        });
        expect(read.birthplace.codiceCatastale).toBe(person.birthplace);
        expect(read.omocodia).toEqual({ level: 0, positions: [] });
        expect(read.warnings).not.toContain('names-not-derivable');
      }),
      { numRuns: 1000 },
    );
  });

  it('generate a code with each name of a place that it decodes to', () => {
    fc.assert(
      fc.property(anyPerson, (person) => {
        const { name, province, codiceCatastale } = decoded(pickCode(person)).birthplace;
        const found = findPlace(name, { province });
        const places = found.ok ? [found.place, ...found.alternatives] : found.candidates;
        expect(places.map((place) => place.codiceCatastale)).toContain(codiceCatastale);
      }),
      { numRuns: 1000 },
    );
  });

  it('decode all 128 forms of a code equally, and list each other', () => {
    fc.assert(
      fc.property(anyPerson, (person) => {
        const base = pickCode(person);
        const forms = omocodie(base, { asOf });
        if (!forms.ok) throw new Error(forms.message);
        expect(new Set([base, ...forms.omocodie]).size).toBe(128);
        const { omocodia: _level, codiceFiscale: _form, ...expected } = decoded(base);
        for (const form of forms.omocodie) {
          const { omocodia, codiceFiscale, ...rest } = decoded(form);
          expect(rest).toEqual(expected);
          expect(codiceFiscale).toBe(form);
          expect(omocodia.positions).toHaveLength(omocodia.level);
          for (const at of omocodia.positions) expect('LMNPQRSTUV').toContain(form.charAt(at));
        }
        const [one = ''] = forms.omocodie.slice(77);
        const others = omocodie(one, { asOf });
        expect(others).toEqual({
          ok: true,
          baseCode: base,
          omocodie: [base, ...forms.omocodie].filter((form) => form !== one),
        });
      }),
      { numRuns: 100 },
    );
  });

  it('return the same for text, bytes and status, in either case', () => {
    const checker = createChecker({ asOf });
    const codes = fc.oneof(
      anyPerson.map(pickCode),
      fc.string({ unit: fc.constantFrom(...ALPHABET, ' ', 'à'), maxLength: 20 }),
      fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 11, maxLength: 11 }),
    );
    fc.assert(
      fc.property(codes, (code) => {
        const bytes = new TextEncoder().encode(`;${code};`);
        const status = checker.checkStatus(code);
        const lower = code.toLowerCase();
        expect(checker.checkStatus(lower)).toBe(status);
        expect(check(code, { asOf }).ok).toBe(status <= 1);
        expect(checker.check(code)).toEqual(check(code, { asOf }));
        // A wider character takes several bytes. It is refused, and before anything else.
        expect(checker.checkBytes(bytes, 1, bytes.length - 1)).toBe(status);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a wrong character', () => {
  /** The values of the characters, computed here independently: at odd positions, 0-9 have the values of A-J. */
  const ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
  const value = (character: string): number => {
    const code = character.charCodeAt(0);
    return code < 58 ? code - 48 : code - 65;
  };
  const weight = (character: string, at: number): number =>
    at % 2 === 0 ? (ODD[value(character)] ?? -1) : value(character);

  it('is noticed wherever it changes the check sum', () => {
    const failures: string[] = [];
    fc.assert(
      fc.property(anyPerson, fc.nat(15), (person, at) => {
        const code = pickCode(person);
        for (const character of ALPHABET) {
          if (character === code.charAt(at)) continue;
          const wrong = code.slice(0, at) + character + code.slice(at + 1);
          const isSumSame = at < 15 && weight(character, at) === weight(code.charAt(at), at);
          if (!isSumSame && check(wrong, { asOf }).ok) failures.push(`${code} ${wrong}`);
        }
      }),
      { numRuns: 500 },
    );
    expect(failures).toEqual([]);
  });

  it('is reported with its position', () => {
    fc.assert(
      fc.property(
        anyPerson,
        fc.nat(15),
        fc.constantFrom('-', ' ', '\u00e0', '\u0141', '\ud83d', '?'),
        (person, at, stray) => {
          const code = pickCode(person);
          const result = check(code.slice(0, at) + stray + code.slice(at + 1), { asOf });
          expect(result).toMatchObject({ ok: false, reason: 'characters', start: at, end: at + 1 });
        },
      ),
    );
  });

  it('is reported with the right check character, if it is the last one', () => {
    fc.assert(
      fc.property(anyPerson, fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'), (person, letter) => {
        const code = pickCode(person);
        fc.pre(letter !== code.charAt(15));
        const result: CheckResult = check(code.slice(0, 15) + letter, { asOf });
        expect(result).toMatchObject({ ok: false, reason: 'check-character', start: 15, end: 16 });
        expect(result.ok ? '' : result.faults[0].expected).toBe(code.charAt(15));
      }),
    );
  });
});

describe('arbitrary input', () => {
  it('never throws', () => {
    const anything = fc.oneof(
      fc.anything(),
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constant('x'.repeat(5000)),
    );
    fc.assert(
      fc.property(anything, anything, (one, other) => {
        const text = one as string;
        expect(check(text, { asOf }).ok).toBe(false);
        expect(decode(text, { asOf }).ok).toBe(false);
        expect(omocodie(text, { asOf }).ok).toBe(false);
        findPlace(text, { province: other as string });
        suggestPlaces(text, { province: other as string });
        cities(text);
        caps(text, other as string);
        placeHistory(text);
        const person = {
          surname: one,
          givenName: other,
          sex: one,
          birthDate: other,
          birthplace: one,
          province: other,
        };
        expect(generate(person as Person, { asOf }).ok).toBe(false);
        expect(generate(one as Person, { asOf }).ok).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});
