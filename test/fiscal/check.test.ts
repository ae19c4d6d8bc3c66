import { describe, expect, it } from 'vitest';
import { ODD_VALUES } from '../../src/fiscal/check-character.ts';
import {
  CHECK_STATUS,
  type CheckOptions,
  type CheckStatus,
  check,
  checkTaxCode,
  createChecker,
  decode,
  generate,
  omocodie,
  reasonOfStatus,
} from '../../src/fiscal/index.ts';
import { asOf } from './people.ts';

/** Returns the code of a person born on that day, with the right check character. */
const pickCode = (birthDate: string, birthplace = 'H501'): string => {
  const person = { surname: 'Rossi', givenName: 'Mario', sex: 'M', birthDate, birthplace } as const;
  const result = generate(person, { asOf: '2100-01-01' });
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.codiceFiscale;
};
const birthDate = (code: string, options: CheckOptions): string => {
  const result = decode(code, options);
  return result.ok ? result.birthDate : result.reason;
};

describe('check', () => {
  it('accepts a code in either case, without warnings', () => {
    expect(check('RSSMRA80A01H501U', { asOf })).toEqual({ ok: true, warnings: [] });
    expect(check('rssmra80a01h501u', { asOf })).toEqual({ ok: true, warnings: [] });
  });

  it.each([
    ['', 'length', 0, 0],
    ['RSSMRA80A01H501', 'length', 15, 15],
    ['RSSMRA80A01H501UX', 'length', 16, 17],
    [' RSSMRA80A01H501U', 'characters', 0, 1],
    ['RSSMRA80A01H501U\n', 'characters', 16, 17],
    ['RSS MRA 80A01 H501U', 'characters', 3, 4],
    ['RSSMR080A01H501U', 'characters', 5, 6],
    ['RSSMRA8OA01H501U', 'omocodia', 7, 8],
    ['RSSMRA80A0KH501U', 'omocodia', 10, 11],
    ['RSSMRA80A01H501V', 'check-character', 15, 16],
    ['\u0152SSMRA80A01H501U', 'characters', 0, 1],
    ['\u0152SSMRA80A01H501', 'characters', 0, 1],
  ])('reports for %j the reason %s at %i', (code, reason, start, end) => {
    expect(check(code, { asOf })).toMatchObject({ ok: false, reason, start, end });
  });

  it('reports every error, the deciding one first', () => {
    const result = check('RSSMRA80A40Z999A', { asOf });
    expect(result.ok ? [] : result.faults.map(({ reason, start }) => [reason, start])).toEqual([
      ['check-character', 15],
      ['date', 9],
      ['place', 11],
    ]);
  });

  it('warns of letters that no name gives, because the law allows none such', () => {
    expect(check('ARSMRA80E05F205K', { asOf })).toEqual({ ok: true, warnings: ['names-not-derivable'] });
  });

  it('warns of a place that was not in force, and refuses it when strict', () => {
    const code = pickCode('1930-01-01', 'L746');
    expect(check(code, { asOf })).toEqual({ ok: true, warnings: ['place-not-in-force'] });
    expect(check(code, { asOf, strict: true })).toMatchObject({
      reason: 'place-not-in-force',
      start: 11,
      end: 15,
    });
    expect(check(pickCode('1980-01-01', 'L746'), { asOf, strict: true }).ok).toBe(true);
  });

  it('gives both warnings, and the place as the reason when strict', () => {
    const code = 'ARSMRA30A01L746B';
    const warnings = ['place-not-in-force', 'names-not-derivable'];
    expect(check(code, { asOf })).toEqual({ ok: true, warnings });
    expect(check(code, { asOf, strict: true })).toMatchObject({ reason: 'place-not-in-force' });
  });

  it('never reports an undated place as not in force', () => {
    expect(check(pickCode('1851-01-01', 'A030'), { asOf, strict: true }).ok).toBe(true);
    expect(check(pickCode('2020-01-01', 'Z231'), { asOf, strict: true }).ok).toBe(true);
  });

  it('distinguishes the last day of a place and the day after', () => {
    // A002 ended on 1928-03-06.
    const strictly = (date: string): boolean =>
      check(pickCode(date, 'A002'), { asOf: '1950-01-01', strict: true }).ok;
    expect([strictly('1928-03-06'), strictly('1928-03-07')]).toEqual([true, false]);
    expect([strictly('1863-02-22'), strictly('1863-02-23')]).toEqual([false, true]);
    const century = { asOf, strict: true, century: 1800 };
    expect(check(pickCode('1863-02-22', 'A002'), century).ok).toBe(false);
    expect(check(pickCode('1863-02-23', 'A002'), century).ok).toBe(true);
  });

  it('throws for invalid options, which is misuse', () => {
    expect(() => check('RSSMRA80A01H501U', {} as CheckOptions)).toThrow(TypeError);
    expect(() => check('RSSMRA80A01H501U', undefined as unknown as CheckOptions)).toThrow(TypeError);
    expect(() => check('RSSMRA80A01H501U', { asOf: '2026-02-29' })).toThrow(TypeError);
    expect(() => check('RSSMRA80A01H501U', { asOf, century: 19 })).toThrow(TypeError);
    expect(() => createChecker({ asOf: 'today' })).toThrow(TypeError);
  });

  it('has nothing of the code in its messages', () => {
    for (const code of ['RSSMRA80A40Z999A', 'RSSMRA8OA01H501U', '12345678901', 'RSS MRA']) {
      const result = check(code, { asOf });
      const messages = result.ok ? '' : result.faults.map(({ message }) => message).join();
      for (const piece of ['RSS', 'MRA', 'Z999', '12345']) expect(messages).not.toContain(piece);
    }
  });
});

describe('eleven digits', () => {
  it.each([
    ['00000010009', 'provisional-code'],
    ['12345671517', 'provisional-code'],
    ['12345672457', 'provisional-code'],
    ['12345673018', 'provisional-code'],
    ['12345679502', 'provisional-code'],
    ['12345670017', 'vat-number'],
    ['12345671004', 'vat-number'],
    ['12345671202', 'vat-number'],
    ['80000010018', 'organisation-code'],
    ['97000010581', 'organisation-code'],
  ])('recognises %s as a %s', (number, reason) => {
    const luhn = (ten: string): number => {
      const sum = [...ten].reduce((total, digit, at) => {
        const value = Number(digit) * (at % 2 === 0 ? 1 : 2);
        return total + (value > 9 ? value - 9 : value);
      }, 0);
      return (10 - (sum % 10)) % 10;
    };
    const right = number.slice(0, 10) + luhn(number.slice(0, 10));
    expect(check(right, { asOf })).toMatchObject({ ok: false, reason, start: 0, end: 11 });
    const wrong = number.slice(0, 10) + ((luhn(number.slice(0, 10)) + 1) % 10);
    const result = check(wrong, { asOf });
    expect(result).toMatchObject({ ok: false, reason: 'check-character', start: 10, end: 11 });
    expect(result.ok ? '' : result.faults[0].expected).toBe(right.charAt(10));
  });

  it('reports other numbers by their length', () => {
    for (const number of [
      '0000000100',
      '1234567101',
      '12345671500',
      '12345672460',
      '99999999961',
      '00000000018',
      '1234567890A',
    ]) {
      expect(check(number, { asOf })).toMatchObject({ ok: false, reason: 'length' });
    }
  });
});

describe('a text that nearly is a code', () => {
  it.each([
    // The office of the digits 8 to 10 has never existed.
    ['01256588755', 'length', 'office', 7, 10],
    ['80000011006', 'length', 'organisation-office', 7, 10],
    ['00000000018', 'length', 'running-number', 0, 7],
    ['1234567890A', 'length', 'eleven-characters', 11, 11],
    ['0074311015', 'length', 'digit-count', 10, 10],
    ['007431101577', 'length', 'digit-count', 12, 12],
    ['123', 'length', 'digit-count', 3, 3],
    ['RSSMRA80A01H501', 'length', 'length', 15, 15],
  ])('is explained by what is wrong with it: %s', (code, reason, detail, start, end) => {
    const checked = check(code, { asOf });
    expect(checked).toMatchObject({ ok: false, reason, start, end, faults: [{ detail }] });
    expect(checkTaxCode(code, { asOf })).toEqual(checked);
    if (detail !== 'length') expect(checked).not.toMatchObject({ message: expect.stringMatching(/has 16/) });
  });

  it.each([
    ['IT00743110157', 'length', 'vat-prefix', 2, '00743110157'],
    ['IT 00743110157', 'characters', 'vat-prefix', 2, '00743110157'],
    ['it00743110157', 'length', 'vat-prefix', 2, '00743110157'],
    ['ITRSSMRA80B01H501T', 'length', 'country-prefix', 2, 'RSSMRA80B01H501T'],
    ['TINIT-RSSMRA80B01H501T', 'characters', 'identity-prefix', 6, 'RSSMRA80B01H501T'],
    ['tinit-rssmra80b01h501t', 'characters', 'identity-prefix', 6, 'rssmra80b01h501t'],
    ['VATIT-00743110157', 'characters', 'identity-prefix', 6, '00743110157'],
  ])('has a prefix, and the fault has the code without it: %s', (code, reason, detail, end, meant) => {
    const checked = check(code, { asOf });
    expect(checked).toMatchObject({ ok: false, reason, start: 0, end, faults: [{ detail, meant }] });
    expect(checked.ok ? [] : checked.faults).toHaveLength(1);
    // Nothing is corrected by itself, and no message has a part of the code.
    expect(checked.ok ? '' : checked.message).not.toContain(meant);
  });

  it('has a message that names a VAT number with its country', () => {
    const checked = check('IT00743110157', { asOf });
    if (checked.ok) throw new Error('it was valid');
    expect(checked.message).toMatch(/VAT number with its country/);
  });

  it.each(['IT0074311015', 'TINIT-', 'TINIT-RSSMRA80B01', 'XXXIT-RSSMRA80B01H501T'])(
    'has no prefix when no code follows it: %s',
    (code) => {
      const checked = check(code, { asOf });
      expect(checked.ok ? [] : checked.faults.filter(({ meant }) => meant !== undefined)).toEqual([]);
    },
  );
});

describe('the century', () => {
  it('is the latest whose whole date is not in the future', () => {
    const [today, tomorrow] = [pickCode('1926-11-21'), pickCode('1926-11-22')];
    expect(birthDate(today, { asOf })).toBe('2026-11-21');
    expect(birthDate(tomorrow, { asOf })).toBe('1926-11-22');
    expect(birthDate(tomorrow, { asOf: '2026-11-22' })).toBe('2026-11-22');
    expect(birthDate(pickCode('1999-12-31'), { asOf: '2000-01-01' })).toBe('1999-12-31');
    expect(birthDate(pickCode('2000-01-01'), { asOf: '2000-01-01' })).toBe('2000-01-01');
    expect(birthDate(pickCode('2000-01-02'), { asOf: '2000-01-01' })).toBe('1900-01-02');
  });

  it('has 29 February only in leap years', () => {
    const leapDay = pickCode('2000-02-29');
    expect(birthDate(leapDay, { asOf })).toBe('2000-02-29');
    expect(decode(leapDay, { asOf })).toMatchObject({ otherBirthDate: null });
    expect(birthDate(leapDay, { asOf: '2100-06-01' })).toBe('2000-02-29');
    expect(birthDate(leapDay, { asOf: '1999-12-31' })).toBe('date');
    expect(birthDate(leapDay, { asOf, century: 1900 })).toBe('date');
  });

  it('is the one in which the place was in force, if there is only one', () => {
    // D877 Gallico ended in 1927.
    const result = decode('PLMRRT08D04D877R', { asOf });
    expect(result).toMatchObject({
      ok: true,
      birthDate: '1908-04-04',
      otherBirthDate: '2008-04-04',
      warnings: [],
    });
  });

  it('is the older one when the place had ended before the younger, even if it was in force in neither', () => {
    const result = decode('MSSVEA10E45Z118T', { asOf });
    expect(result).toMatchObject({ birthDate: '1910-05-05', otherBirthDate: '2010-05-05' });
    expect(result.ok && result.warnings).toEqual(['place-not-in-force']);
  });

  it.each([
    ['RSSMRA24A01Z118J', '1924-01-01'],
    [pickCode('1923-01-01', 'Z135'), '1923-01-01'],
    [pickCode('1920-01-01', 'G778'), '1920-01-01'],
  ])('reads %s as a birth of %s, in a place that had ended before 2000', (code, expected) => {
    expect(birthDate(code, { asOf })).toBe(expected);
    expect(birthDate(code, { asOf, century: 2000 })).toBe(expected.replace('19', '20'));
  });

  it('can be fixed by an option', () => {
    const code = pickCode('1920-05-05');
    expect(decode(code, { asOf })).toMatchObject({ birthDate: '2020-05-05', otherBirthDate: '1920-05-05' });
    expect(decode(code, { asOf, century: 1900 })).toMatchObject({
      birthDate: '1920-05-05',
      otherBirthDate: '2020-05-05',
    });
    expect(birthDate(code, { asOf, century: 1800 })).toBe('1820-05-05');
    expect(birthDate(pickCode('1930-05-05'), { asOf, century: 2000 })).toBe('date');
  });

  it('has no second reading before 1900', () => {
    expect(decode(pickCode('1927-05-05'), { asOf })).toMatchObject({
      birthDate: '1927-05-05',
      otherBirthDate: null,
    });
    expect(decode(pickCode('2000-05-05'), { asOf })).toMatchObject({ otherBirthDate: '1900-05-05' });
  });
});

describe('decode', () => {
  it('returns the place of the time, of today and its successor', () => {
    expect(decode(pickCode('1900-01-01', 'A001'), { asOf, century: 1900 })).toMatchObject({
      birthplace: {
        name: 'ABANO',
        province: 'PD',
        wasInForce: true,
        today: { name: 'ABANO TERME' },
        successor: null,
      },
    });
    expect(decode(pickCode('1900-01-01', 'A002'), { asOf, century: 1900 })).toMatchObject({
      birthplace: {
        name: 'ABBADIA SOPRA ADDA',
        today: null,
        successor: { codiceCatastale: 'A005', province: 'LC' },
      },
    });
  });

  it('returns the next later name when none was in force', () => {
    expect(decode(pickCode('1930-01-01', 'L746'), { asOf })).toMatchObject({
      birthplace: { name: 'VERBANIA', province: 'NO', wasInForce: false },
    });
  });

  it('decodes a code in lower case, and one with a warning', () => {
    for (const code of [pickCode('1980-01-01', 'H501'), 'ARSMRA80E05F205K']) {
      const forms = omocodie(code, { asOf });
      expect(forms).toMatchObject({ ok: true, baseCode: code });
      expect(omocodie(code.toLowerCase(), { asOf })).toEqual(forms);
    }
  });

  it('returns for an invalid code what check does', () => {
    for (const code of ['', 'RSSMRA80A01H501V', 'RSSMRA80A01Z999X', '12345670017']) {
      expect(decode(code, { asOf })).toEqual(check(code, { asOf }));
      expect(omocodie(code, { asOf })).toEqual(check(code, { asOf }));
    }
  });
});

describe('check statuses', () => {
  it('have a reason each, except the valid ones', () => {
    const reasons = Object.values(CHECK_STATUS).map((status: CheckStatus) => reasonOfStatus(status));
    expect(reasons.slice(0, 2)).toEqual([undefined, undefined]);
    expect(new Set(reasons.slice(2)).size).toBe(10);
  });

  it('are returned for bytes in the middle of a buffer', () => {
    const { checkBytes } = createChecker({ asOf });
    const bytes = new TextEncoder().encode('a,RSSMRA80A01H501U\n12345670017\r\nx');
    expect(checkBytes(bytes, 2, 18)).toBe(CHECK_STATUS.valid);
    expect(checkBytes(bytes, 1, 17)).toBe(CHECK_STATUS.characters);
    expect(checkBytes(bytes, 19, 30)).toBe(check('12345670017', { asOf }).ok ? 0 : CHECK_STATUS.vatNumber);
    expect(checkBytes(bytes, 19, 19)).toBe(CHECK_STATUS.length);
    expect(checkBytes(bytes, 30, 33)).toBe(CHECK_STATUS.characters);
    expect(checkBytes(bytes, 25, 99)).toBe(CHECK_STATUS.characters);
  });
});

describe('the check character', () => {
  /** Letters in the order of their values at odd positions, from the table of the decree. */
  const BY_ODD_VALUE = 'BAKPLCQDREVOSFTGUHMINJWZYX';

  it('gives each letter and digit at an odd position the value of the decree', () => {
    for (const [value, letter] of [...BY_ODD_VALUE].entries()) {
      expect([letter, ODD_VALUES[letter.charCodeAt(0)]]).toEqual([letter, value]);
      const digit = letter.charCodeAt(0) - 'A'.charCodeAt(0);
      if (digit < 10) expect([digit, ODD_VALUES['0'.charCodeAt(0) + digit]]).toEqual([digit, value]);
    }
  });
});
