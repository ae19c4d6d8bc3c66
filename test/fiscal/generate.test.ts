import { describe, expect, it } from 'vitest';
import { type GenerateOptions, generate, type Person } from '../../src/fiscal/index.ts';
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
  return result.ok ? result.codiceFiscale : JSON.stringify(result.faults);
};
const findFaults = (changes: object, options: Partial<GenerateOptions> = {}): string[] => {
  const result = generate({ ...mario, ...changes } as Person, { asOf, ...options });
  return result.ok ? [] : result.faults.map(({ field, reason }) => `${field}: ${reason}`);
};

describe('generate', () => {
  it('returns the code, the birthplace and no warning', () => {
    expect(generate(mario, { asOf })).toMatchObject({
      ok: true,
      codiceFiscale: 'RSSMRA80A01H501U',
      birthplace: { codiceCatastale: 'H501', name: 'ROMA', province: 'RM', wasInForce: true },
      warnings: [],
    });
  });

  it('adds 40 to the day of a woman', () => {
    expect(pickCode({ sex: 'F' }).slice(9, 11)).toBe('41');
    expect(pickCode({ sex: 'F', birthDate: '1980-01-31' }).slice(9, 11)).toBe('71');
    expect(pickCode({ birthDate: '1980-01-31' }).slice(9, 11)).toBe('31');
  });

  // DM 23 December 1976, art. 2.
  it.each([
    ['Rossi', 'RSS'],
    ['Fo', 'FOX'],
    ['O', 'OXX'],
    ['N', 'NXX'],
    ['Ng', 'NGX'],
    ['Aiello', 'LLA'],
    ['Io', 'IOX'],
    ['Aia', 'AIA'],
    ['De Ai', 'DEA'],
    ["D'Amico", 'DMC'],
    ['D\u2019Amico', 'DMC'],
    ['Dell\u02bcOrto', 'DLL'],
    ['Rossi-Bianchi', 'RSS'],
    ['De\u00a0Rossi', 'DRS'],
    ['St. John', 'STJ'],
    ['M\u00fcller', 'MLL'],
    ['B\u00d6', 'BOE'],
    ['Bo\u0308', 'BOE'],
    ['K\u00d6A', 'KOE'],
    ['\u00dc', 'UEX'],
    ['\u00c4', 'AEX'],
    ['\u00c6', 'AEX'],
    ['\u0152', 'OEX'],
    ['Wei\u00df', 'WSS'],
    ['WEI\u1e9e', 'WSS'],
    ['\u0160i\u0161', 'SSI'],
    ['\u017d', 'ZXX'],
    ['\u010c\u00e9', 'CEX'],
    ['\u00c7a', 'CAX'],
    ['\u0141a', 'LAX'],
    ['\u00d8', 'OEX'],
    ['\u00c5', 'AAX'],
    ['\u00de', 'THX'],
    ['\u0110o', 'DOX'],
    ['\u00d1', 'NXX'],
    ['Nguy\u1ec5n', 'NGY'],
    ['\uff32\uff4fssi', 'RSS'],
    ['\ufb01\ufb00', 'FFF'],
    ['\u01c4o', 'DZO'],
    ['Ga\u0140a', 'GLA'],
    ['\u02bfAbd', 'BDA'],
    ['\u0181a', 'BAX'],
    ['Yxk', 'YXK'],
  ])('writes the surname %s as %s', (surname, letters) => {
    expect(pickCode({ surname }).slice(0, 3)).toBe(letters);
    expect(pickCode({ surname: surname.toLowerCase() }).slice(0, 3)).toBe(letters);
  });

  // DM 23 December 1976, art. 3.
  it.each([
    ['Mario', 'MRA'],
    ['Roberto', 'RRT'],
    ['Gianfranco', 'GFR'],
    ['Maria Luisa', 'MLS'],
    ['Anna', 'NNA'],
    ['Ian', 'NIA'],
    ['Al', 'LAX'],
    ['Ugo', 'GUO'],
    ['Noe\u0300', 'NOE'],
    ['No\u00e8', 'NOE'],
    ['Xavier', 'XVR'],
    ['U', 'UXX'],
  ])('writes the given name %s as %s', (givenName, letters) => {
    expect(pickCode({ givenName }).slice(3, 6)).toBe(letters);
  });

  it('reports all errors at once, in the order of the fields', () => {
    const person = {
      surname: '',
      givenName: "-'",
      sex: 'X',
      birthDate: '1980-02-30',
      birthplace: 'Atlantide',
      province: '',
    };
    expect(findFaults(person)).toEqual([
      'surname: missing',
      'givenName: no-letters',
      'sex: unknown',
      'birthDate: unknown',
      'birthplace: unknown',
    ]);
    const nobody = generate({} as Person, { asOf });
    expect(nobody.ok ? [] : nobody.faults.map(({ reason }) => reason)).toEqual(Array(5).fill('missing'));
  });

  it.each([
    [{ surname: 'R2D2' }, 'surname: characters'],
    [{ surname: '\u0418\u0432\u0430\u043d\u043e\u0432' }, 'surname: characters'],
    [{ givenName: 'Mario;' }, 'givenName: characters'],
    [{ givenName: 'Mario\u2122' }, 'givenName: characters'],
    [{ givenName: '\u2163o' }, 'givenName: characters'],
    [{ givenName: '\u24c2ario' }, 'givenName: characters'],
    [{ givenName: '\ud835\udc0cario' }, 'givenName: characters'],
    [{ givenName: 'Mar\u0131o\u200b' }, 'givenName: characters'],
    [{ givenName: '\ud800' }, 'givenName: characters'],
    [{ givenName: 'Mario\u0000' }, 'givenName: characters'],
    [{ givenName: 7 }, 'givenName: missing'],
    [{ sex: undefined }, 'sex: missing'],
    [{ sex: 'm' }, 'sex: unknown'],
    [{ birthDate: '' }, 'birthDate: missing'],
    [{ birthDate: '01/01/1980' }, 'birthDate: unknown'],
    [{ birthDate: '1900-02-29' }, 'birthDate: unknown'],
    [{ birthDate: { year: 1980, month: 13, day: 1 } }, 'birthDate: unknown'],
    [{ birthDate: { year: 1980, month: 1.5, day: 1 } }, 'birthDate: unknown'],
    [{ birthDate: { year: '1980', month: 1, day: 1 } }, 'birthDate: unknown'],
    [{ birthDate: { year: 80, month: 1, day: 1 } }, 'birthDate: too-early'],
    [{ birthDate: '1849-12-31' }, 'birthDate: too-early'],
    [{ birthDate: '2026-11-22' }, 'birthDate: future'],
    [{ birthplace: ' ' }, 'birthplace: missing'],
    [{ birthplace: 'Roma', province: 'MI' }, 'birthplace: unknown'],
    [{ birthplace: 'Samone', province: '' }, 'birthplace: ambiguous'],
    [{ province: 'XX' }, 'province: unknown'],
  ])('refuses %j', (changes, fault) => {
    expect(findFaults(changes)).toEqual([fault]);
  });

  it('accepts the boundaries of birth dates', () => {
    expect(pickCode({ birthDate: '1850-01-01' }).slice(6, 11)).toBe('50A01');
    expect(pickCode({ birthDate: asOf }).slice(6, 11)).toBe('26S21');
    expect(pickCode({ birthDate: { year: 2000, month: 2, day: 29 } }).slice(6, 11)).toBe('00B29');
  });

  it('lists the places of an ambiguous name and suggests some for an unknown one', () => {
    const ambiguous = generate({ ...mario, birthplace: 'Samone', province: '' }, { asOf });
    expect(ambiguous.ok ? [] : ambiguous.faults[0]?.candidates?.map(({ province }) => province)).toEqual([
      'TO',
      'TN',
    ]);
    const unknown = generate({ ...mario, birthplace: 'Rmoa', province: '' }, { asOf });
    expect(unknown.ok ? [] : unknown.faults[0]?.suggestions?.map(({ name }) => name)).toContain('ROMA');
  });

  it('warns of a place that was not in force, and refuses it when strict', () => {
    const verbania = { ...mario, birthplace: 'Verbania', province: 'VB', birthDate: '1930-01-01' };
    expect(generate(verbania, { asOf })).toMatchObject({ ok: true, warnings: ['place-not-in-force'] });
    expect(findFaults(verbania, { strict: true })).toEqual(['birthplace: not-in-force']);
    expect(findFaults({ ...verbania, birthDate: '1980-01-01' }, { strict: true })).toEqual([]);
  });

  it('has nothing of the person in its messages', () => {
    const result = generate({ ...mario, surname: 'Zzyzx9', birthplace: 'Qwertyuiop' }, { asOf });
    const messages = result.ok ? '' : result.faults.map(({ message }) => message).join();
    for (const piece of ['Zzyzx', 'Qwerty', '1980']) expect(messages).not.toContain(piece);
  });

  it('throws without the date of today, which is misuse', () => {
    expect(() => generate(mario, {} as GenerateOptions)).toThrow(TypeError);
    expect(() => generate(mario, undefined as unknown as GenerateOptions)).toThrow(TypeError);
  });
});
