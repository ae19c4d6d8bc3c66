import { describe, expect, it } from 'vitest';
import { checkTaxCode, decode, generate, match, omocodie, type Person } from '../../src/fiscal/index.ts';
import { asOf } from './people.ts';

const mario: Person = {
  surname: 'Rossi',
  givenName: 'Mario',
  sex: 'M',
  birthDate: '1980-01-01',
  birthplace: 'Roma',
  province: 'RM',
};
const pickCode = (changes: Partial<Person>): string => {
  const result = generate({ ...mario, ...changes }, { asOf });
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.codiceFiscale;
};
/** Returns the code with other letters for the names, and the matching check character. */
const withLetters = (letters: string, code = pickCode({})): string => {
  const body = letters + code.slice(letters.length, 15);
  for (const last of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') if (decode(body + last, { asOf }).ok) return body + last;
  throw new Error('no check letter fits');
};
const different = (code: string, changes: Partial<Person>): string[] => {
  const result = match(code, { ...mario, ...changes }, { asOf });
  if (!result.ok) return [result.code?.reason ?? '', ...result.faults.map(({ field }) => field)];
  const parts = result.parts.filter(({ matches }) => !matches).map(({ part }) => part);
  expect(result.matches).toBe(parts.length === 0);
  return parts;
};

describe('match', () => {
  it('confirms the code of the person, part by part', () => {
    expect(match(pickCode({}), mario, { asOf })).toEqual({
      ok: true,
      matches: true,
      parts: [
        { part: 'surname', matches: true, expected: 'RSS', found: 'RSS' },
        { part: 'givenName', matches: true, expected: 'MRA', found: 'MRA' },
        { part: 'sex', matches: true, expected: 'M', found: 'M' },
        { part: 'day', matches: true, expected: 1, found: 1 },
        { part: 'month', matches: true, expected: 1, found: 1 },
        { part: 'year', matches: true, expected: 1980, found: 1980 },
        { part: 'birthplace', matches: true, expected: 'H501', found: 'H501' },
      ],
      skipped: [],
      compared: 'all',
    });
  });

  it('compares every subset of the data, skips the rest, and says how much it proves', () => {
    const fields = ['surname', 'givenName', 'sex', 'birthDate', 'birthplace'] as const;
    for (let subset = 1; subset < 32; subset++) {
      const given = fields.filter((_, at) => (subset & (1 << at)) !== 0);
      const known = Object.fromEntries(given.map((field) => [field, mario[field]]));
      const names = given.flatMap((field) =>
        field === 'birthDate' ? (['day', 'month', 'year'] as const) : [field],
      );
      const result = match(pickCode({}), known, { asOf });
      expect(result).toMatchObject({ ok: true, matches: true });
      if (!result.ok) continue;
      expect(result.parts.map(({ part }) => part)).toEqual(names);
      const all = ['surname', 'givenName', 'sex', 'day', 'month', 'year', 'birthplace'] as const;
      expect(result.skipped).toEqual(all.filter((part) => !names.includes(part)));
      const [hasNames, hasDate] = [(subset & 3) === 3, (subset & 8) !== 0];
      const some = hasNames ? (hasDate ? 'names-and-date' : 'names') : 'some';
      expect(result.compared).toBe(subset === 31 ? 'all' : some);
    }
  });

  it('reports a difference of what is given', () => {
    const known = { surname: 'Bianchi', givenName: 'Mario' };
    expect(match(pickCode({}), known, { asOf })).toMatchObject({
      matches: false,
      parts: [{ part: 'surname', matches: false, expected: 'BNC', found: 'RSS' }, { part: 'givenName' }],
      compared: 'names',
    });
    expect(match(pickCode({}), { birthDate: '1980-01-02' }, { asOf })).toMatchObject({ matches: false });
    expect(match(pickCode({}), { surname: '', noSurname: true }, { asOf })).toMatchObject({ matches: false });
  });

  it('compares a place without a birth date on the date in the code', () => {
    const of = (code: string, birthplace: string, birthDate: string) =>
      match(pickCode({ birthplace: code, province: '', birthDate }), { birthplace }, { asOf });
    expect(of('F159', 'Mestre', '1920-01-01')).toMatchObject({ matches: true });
    expect(of('L736', 'Mestre', '1970-01-01')).toMatchObject({ matches: true });
    expect(of('Z118', 'Croazia', '1970-01-01')).toMatchObject({ matches: true });
    expect(of('H501', 'Milano', '1970-01-01')).toMatchObject({ matches: false });
  });

  it('still refuses what is given and empty, an unknown place, a province alone, and nothing at all', () => {
    const faults = (known: object): readonly string[] => {
      const result = match(pickCode({}), known, { asOf });
      return result.ok ? [] : result.faults.map(({ field, reason }) => `${field}: ${reason}`);
    };
    expect(faults({ surname: 'Rossi', givenName: '' })).toEqual(['givenName: missing']);
    expect(faults({ surname: 'Rossi', birthplace: 'Atlantide' })).toEqual(['birthplace: unknown']);
    expect(faults({ surname: 'Rossi', birthDate: '1980-02-30' })).toEqual(['birthDate: unknown']);
    expect(faults({ surname: 'Rossi', sex: 'X' })).toEqual(['sex: unknown']);
    expect(faults({ surname: 'Rossi', province: 'RM' })).toEqual(['birthplace: missing']);
    const nothing = ['surname', 'givenName', 'sex', 'birthDate', 'birthplace'].map(
      (each) => `${each}: missing`,
    );
    expect(faults({})).toEqual(nothing);
    expect(faults({ surname: undefined, sex: undefined })).toEqual(nothing);
  });

  it.each([
    [{ surname: 'Bianchi' }, ['surname']],
    [{ givenName: 'Luca' }, ['givenName']],
    [{ sex: 'F' }, ['sex']],
    [{ birthDate: '1980-01-02' }, ['day']],
    [{ birthDate: '1980-02-01' }, ['month']],
    [{ birthDate: '1981-01-01' }, ['year']],
    [{ birthplace: 'Milano', province: 'MI' }, ['birthplace']],
    [{ surname: 'Bianchi', birthplace: 'Milano', province: 'MI' }, ['surname', 'birthplace']],
  ] as const)('reports for %j that %j differ', (changes, expected) => {
    expect(different(pickCode({}), changes)).toEqual(expected);
  });

  it('reports what was found and what was expected', () => {
    const result = match(pickCode({ birthDate: '1975-03-09' }), mario, { asOf });
    expect(result.ok && result.parts.filter(({ matches }) => !matches)).toEqual([
      { part: 'day', matches: false, expected: 1, found: 9 },
      { part: 'month', matches: false, expected: 1, found: 3 },
      { part: 'year', matches: false, expected: 1980, found: 1975 },
    ]);
  });

  it('accepts every form of omocodia, in either case', () => {
    const forms = omocodie(pickCode({}), { asOf });
    for (const form of forms.ok ? forms.omocodie : []) {
      expect(different(form, {})).toEqual([]);
      expect(different(form.toLowerCase(), {})).toEqual([]);
    }
  });

  it.each([
    ['Al\u00f9', 'LAX'],
    ['Al\u00f9', 'LAU'],
    ['Beta\u00f1a', 'BTE'],
    ['Beta\u00f1a', 'BTN'],
    ['B\u00f6', 'BOE'],
    ['B\u00f6', 'BOX'],
    ['\u00d8', 'OEX'],
    ['\u00d8', 'OXX'],
    ['\u00c5', 'AAX'],
    ['\u00c5', 'AXX'],
  ])('accepts the surname %s as %s', (surname, letters) => {
    expect(different(withLetters(letters), { surname })).toEqual([]);
  });

  it('accepts given names with and without those after a comma', () => {
    expect(different(withLetters('RSSMRA'), { givenName: 'Maria, Teresa' })).toEqual([]);
    expect(different(withLetters('RSSMTR'), { givenName: 'Maria, Teresa' })).toEqual([]);
    expect(different(withLetters('RSSTRS'), { givenName: 'Maria, Teresa' })).toEqual(['givenName']);
  });

  it('accepts people without a surname or a given name', () => {
    expect(different(withLetters('XXX'), { surname: '', noSurname: true })).toEqual([]);
    expect(different(withLetters('RSSXXX'), { givenName: '', noName: true })).toEqual([]);
    expect(different(pickCode({}), { surname: '', noSurname: true })).toEqual(['surname']);
  });

  it.each([
    ['1920-01-01', 'F159', 'Venezia'],
    ['1920-01-01', 'F159', 'Mestre'],
    ['1970-01-01', 'L736', 'Mestre'],
    ['1990-01-01', 'A001', 'Abano'],
    ['1970-01-01', 'Z118', 'Croazia'],
    ['1970-01-01', 'Z149', 'Jugoslavia'],
    ['1980-01-01', 'Z152', 'Kazakhstan'],
    ['1980-01-01', 'Z135', 'Russia'],
    ['1980-01-01', 'Z154', 'URSS'],
    ['1960-01-01', 'D620', 'Fiume'],
    ['1960-01-01', 'D621', 'Fiume'],
  ])('accepts for one born on %s in %s the birthplace %s', (birthDate, code, birthplace) => {
    expect(
      different(pickCode({ birthDate, birthplace: code, province: '' }), {
        birthDate,
        birthplace,
        province: '',
      }),
    ).toEqual([]);
  });

  it('does not take one state for another of a later time', () => {
    const inRussia = pickCode({ birthDate: '2010-01-01', birthplace: 'Z154', province: '' });
    expect(different(inRussia, { birthDate: '2010-01-01', birthplace: 'Ucraina', province: '' })).toEqual([
      'birthplace',
    ]);
  });

  it('reports an invalid code and invalid data at once', () => {
    expect(different('RSSMRA80A01H501X', {})).toEqual(['check-character']);
    expect(different('RSSMRA80A01H501X', { surname: '', birthplace: 'Atlantide' })).toEqual([
      'check-character',
      'surname',
      'birthplace',
    ]);
    expect(() => match(pickCode({}), mario, { asOf: 'today' })).toThrow(TypeError);
  });
});

describe('people without a surname or a given name', () => {
  it('have XXX in their codes, which can be read', () => {
    expect(pickCode({ surname: '', noSurname: true }).slice(0, 6)).toBe('XXXMRA');
    expect(pickCode({ givenName: '', noName: true }).slice(0, 6)).toBe('RSSXXX');
    const decoded = decode(pickCode({ surname: '', noSurname: true }), { asOf });
    expect(decoded).toMatchObject({ ok: true, surname: 'XXX', warnings: [] });
  });

  it('must be stated as such', () => {
    const faults = (changes: Partial<Person>): string[] => {
      const result = generate({ ...mario, ...changes }, { asOf });
      return result.ok ? [] : result.faults.map(({ field, reason }) => `${field}: ${reason}`);
    };
    expect(faults({ surname: '' })).toEqual(['surname: missing']);
    expect(faults({ noSurname: true })).toEqual(['surname: contradiction']);
    expect(faults({ noName: true })).toEqual(['givenName: contradiction']);
    expect(faults({ surname: '', givenName: '', noSurname: true, noName: true })).toEqual([
      'givenName: missing',
    ]);
  });
});

describe('names with commas and full stops', () => {
  it('leave out what follows the comma, with a warning', () => {
    const result = generate({ ...mario, givenName: 'Maria, Teresa' }, { asOf });
    expect(result).toMatchObject({ ok: true, warnings: ['names-after-comma'] });
    expect(pickCode({ givenName: 'Maria, Teresa' })).toBe(pickCode({ givenName: 'Maria' }));
    expect(pickCode({ givenName: 'Maria Teresa' })).not.toBe(pickCode({ givenName: 'Maria' }));
  });

  it.each([
    [{ surname: 'De Rossi, Bianchi' }, 'DRSMRA'],
    [{ surname: 'D\uff07Amico' }, 'DMCMRA'],
    [{ givenName: 'G. Mario' }, 'RSSGMR'],
  ])('are read: %j as %s', (changes, letters) => {
    expect(pickCode(changes).slice(0, 6)).toBe(letters);
  });
});

describe('checkTaxCode', () => {
  it.each([
    ['RSSMRA80A01H501U', 'person'],
    ['12345671512', 'provisional'],
    ['12345670017', 'vat'],
    ['80000010015', 'organisation'],
  ])('reports that %s is of kind %s, or that its check digit is wrong', (code, kind) => {
    const last = code.length === 16 ? 'U' : '0123456789';
    const results = [...last].map((end) => checkTaxCode(code.slice(0, -1) + end, { asOf }));
    expect(results.filter(({ ok }) => ok)).toEqual([{ ok: true, kind, warnings: [] }]);
    for (const result of results) if (!result.ok) expect(result.reason).toBe('check-character');
  });

  it('refuses a text that is no code at all', () => {
    expect(checkTaxCode('1234567890', { asOf })).toMatchObject({ ok: false, reason: 'length' });
  });
});
