import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FiscalError } from '../../../src/contract/fiscal-codes.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { startTestService, type TestService } from '../../support/service.ts';

/** 00:30 in Italy, where the next day has begun; in UTC it has not. */
const NOW = Date.parse('2026-06-14T22:30:00Z');

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ clock: new ManualClock(NOW) });
});
afterAll(() => service.close());

const MARIO = {
  name: 'Mario',
  surname: 'Rossi',
  gender: 'M',
  day: 1,
  month: '02',
  year: '1980',
  city: 'Roma',
  province: 'RM',
};
const CODE = 'RSSMRA80B01H501T';

const JSON_UTF8 = 'application/json; charset=utf-8';
const INVALID = { name: 'BadRequest', message: 'Not a valid Codice Fiscale', code: 400 };

const get = (path: string) => service.call('GET', path, { signing: false });
const post = (body: unknown) => service.call('POST', '/cf', { signing: false, body });
/**
 * Sends a request without checking the response against the OpenAPI document, which contains no preflights and no unknown
 * paths.
 */
const raw = (method: string, path: string, init: RequestInit = {}) =>
  fetch(service.url + path, { ...init, method });

describe('POST /cf', () => {
  it('generates a code, and returns nothing else', async () => {
    const response = await post(MARIO);
    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toBe(JSON_UTF8);
    expect(response.json).toEqual({ cf: CODE });
  });

  it.each([
    ['numbers as numbers', { month: 2, year: 1980 }],
    ['numbers as digits', { day: '1', month: '2' }],
    ['numbers as padded digits', { day: '01', month: '0002' }],
    ['a city of any case', { city: 'rOmA' }],
    ['a Belfiore code', { city: 'H501' }],
    ['no province', { province: undefined }],
    ['an empty province', { province: '' }],
    ['a province of any case', { province: 'rm' }],
    ['a gender of any case', { gender: 'm' }],
    ['fields that it does not know', { height: 180, mother: { name: 'Anna' } }],
  ])('accepts %s', async (_what, change) => {
    expect((await post({ ...MARIO, ...change })).json).toEqual({ cf: CODE });
  });

  it('accepts the country in place of the city for a birth abroad', async () => {
    const abroad = { ...MARIO, gender: 'F', day: 31, city: 'Francia', province: 'EE', month: 12 };
    expect((await post(abroad)).json).toEqual({ cf: 'RSSMRA80T71Z110V' });
  });

  it.each([
    ['name', 'Paternò', { city: 'Paternò', province: 'CT' }, 'G371'],
    ['former name', 'Girgenti', { city: 'Girgenti', province: 'AG', year: 1920 }, 'A089'],
    ['German name', 'Bozen', { city: 'Bozen', province: 'BZ' }, 'A952'],
    ['bilingual name', 'Bolzano/Bozen', { city: 'Bolzano/Bozen', province: '' }, 'A952'],
    ['apostrophe', 'L’Aquila', { city: 'L’AQUILA', province: 'AQ' }, 'A345'],
  ])('understands the %s %s', async (_kind, _name, change, place) => {
    const response = await post({ ...MARIO, ...change });
    expect((response.json as { cf: string }).cf.slice(11, 15)).toBe(place);
  });

  it('names every field that is missing', async () => {
    const response = await post({});
    expect(response.status).toBe(400);
    expect(response.json).toMatchObject({ name: 'BadRequest', code: 400 });
    const { errors } = response.json as { errors: Record<string, string> };
    expect(Object.keys(errors)).toEqual(['name', 'surname', 'gender', 'day', 'month', 'year', 'city']);
  });

  it('accepts a name of 256 characters', async () => {
    const response = await post({ ...MARIO, surname: `Rossi${'a'.repeat(251)}` });
    expect((response.json as { cf: string }).cf).toMatch(/^RSSMRA/);
  });

  it.each([
    ['a name of another type', { name: 7 }, ['name']],
    ['a name without letters', { name: '—' }, ['name']],
    ['a surname with digits', { surname: 'R0ssi' }, ['surname']],
    ['an unknown gender', { gender: 'X' }, ['gender']],
    ['a gender of another type', { gender: 1 }, ['gender']],
    ['day 0', { day: 0 }, ['day']],
    ['day 32', { day: 32 }, ['day']],
    ['a day that the month does not have', { day: 30 }, ['day']],
    ['a fraction of a day', { day: 1.5 }, ['day']],
    ['a day in words', { day: 'first' }, ['day']],
    ['an empty day', { day: '' }, ['day']],
    ['no day', { day: null }, ['day']],
    ['month 0', { month: 0 }, ['month']],
    ['month 13', { month: '13' }, ['month']],
    ['a month with a sign', { month: '+2' }, ['month']],
    ['a year of two digits', { year: '80' }, ['year']],
    ['a year of five digits', { year: 10_000 }, ['year']],
    ['a year before 1850', { year: 1849 }, ['year']],
    ['a year to come', { year: 2027 }, ['year']],
    ['a month to come', { year: 2026, month: 7 }, ['month']],
    ['tomorrow', { year: 2026, month: 6, day: 16 }, ['day']],
    ['an unknown city', { city: 'Atlantide' }, ['city']],
    ['an unknown province', { province: 'ZZ' }, ['province']],
    ['a province of another type', { province: ['RM'] }, ['province']],
    ['a surname of 257 characters', { surname: 'R'.repeat(257) }, ['surname']],
    ['a city of half a million', { city: 'è'.repeat(500_000) }, ['city']],
    ['several faults', { name: '', gender: '?', day: 99, city: 'Xyz' }, ['name', 'gender', 'day', 'city']],
  ])('rejects %s by its field', async (_what, change, fields) => {
    const response = await post({ ...MARIO, ...change });
    expect(response.status).toBe(400);
    expect(response.headers['content-type']).toBe(JSON_UTF8);
    expect(Object.keys((response.json as { errors: object }).errors)).toEqual(fields);
  });

  it('names the fields like the request', async () => {
    const response = await post({ ...MARIO, gender: 'X' });
    expect(response.json).toMatchObject({ errors: { gender: 'the gender must be F or M' } });
    const missing = await post({ ...MARIO, gender: '' });
    expect(missing.json).toMatchObject({ errors: { gender: 'the gender is missing' } });
  });

  it('accepts a birth of today by the clock of Italy', async () => {
    expect((await post({ ...MARIO, year: 2026, month: 6, day: 15 })).status).toBe(200);
  });

  it('lists the places that an ambiguous name may mean', async () => {
    const response = await post({ ...MARIO, city: 'Castro', province: undefined });
    expect(response.status).toBe(400);
    const { candidates } = response.json as { candidates: { province: string }[] };
    expect(candidates.map(({ province }) => province)).toEqual(['BG', 'LE']);
  });

  it('suggests places for a typing error', async () => {
    const response = await post({ ...MARIO, city: 'Millano', province: 'MI' });
    const { suggestions } = response.json as { suggestions: object[] };
    expect(suggestions[0]).toEqual({ code: 'F205', belfiore_code: 'F205', province: 'MI', name: 'MILANO' });
  });

  it.each([
    ['text', 'hello', 400],
    ['an array', '[]', 400],
    ['null', 'null', 400],
    ['cut JSON', '{"name":"Mario"', 400],
    ['bytes that are not UTF-8', new Uint8Array([0x7b, 0xff]), 400],
    ['more than the limit', `{"name":"${'x'.repeat(1024 * 1024)}"}`, 413],
  ])('rejects %s with an error in its own format', async (_what, body, status) => {
    const response = await service.call('POST', '/cf', {
      signing: false,
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(status);
    expect(Object.keys(response.json)).toEqual(['name', 'message', 'code']);
  });

  it('rejects a body of another type with an error in its own format', async () => {
    const response = await service.call('POST', '/cf', {
      signing: false,
      body: 'name=Mario',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(response.json).toMatchObject({ name: 'UnsupportedMediaType', code: 415 });
  });
});

describe('GET /cf/{fiscal_code}', () => {
  const DECODED = {
    name: 'MRA',
    surname: 'RSS',
    gender: 'M',
    day: 1,
    month: 2,
    year: 1980,
    birthday: '1980-02-01',
    birthplace: 'ROMA',
    birthplaceProvincia: 'RM',
    cf: CODE,
  };

  it('returns the ten fields, in order, and no other', async () => {
    const response = await get(`/cf/${CODE}`);
    expect(response.status).toBe(200);
    expect(response.text).toBe(JSON.stringify(DECODED));
    expect(response.headers['content-type']).toBe(JSON_UTF8);
  });

  it('decodes a code in lower case, and one with omocodia', async () => {
    expect((await get(`/cf/${CODE.toLowerCase()}`)).json).toEqual(DECODED);
    expect((await get('/cf/RSSMRA80B01H50ML')).json).toEqual({ ...DECODED, cf: 'RSSMRA80B01H50ML' });
  });

  it('returns more with details', async () => {
    const { details, ...rest } = (await get('/cf/RSSMRA80B01H50ML?details=true')).json as {
      details: object;
    };
    expect(rest).toEqual({ ...DECODED, cf: 'RSSMRA80B01H50ML' });
    expect(details).toEqual({
      baseCode: CODE,
      omocodiaLevel: 1,
      otherBirthday: null,
      birthplaceCode: 'H501',
      birthplaceWasInForce: true,
      birthplaceToday: { code: 'H501', belfiore_code: 'H501', province: 'RM', name: 'ROMA' },
      warnings: [],
    });
  });

  it.each([
    'RSSMRA80B01H501X',
    'RSSMRA80B01H501',
    'x',
    '12345678901',
    'RSSMRA80B01H501%00',
    'RSSMRA80B01H501%F0%9F%98%80',
    '..%2F..%2Fetc',
  ])('rejects %s as specified', async (code) => {
    const response = await get(`/cf/${code}`);
    expect(response.status).toBe(400);
    expect(response.headers['content-type']).toBe(JSON_UTF8);
    expect(response.json).toEqual(INVALID);
  });

  it('explains an invalid code with details', async () => {
    const response = await get('/cf/RSSMRA80B01H501X?details=true');
    expect(response.json).toMatchObject({
      ...INVALID,
      faults: [{ reason: 'check-character', start: 15, end: 16 }],
    });
  });
});

describe('GET /cf/omocodie/{fiscal_code}', () => {
  it.each([CODE, 'RSSMRA80B01H50ML'])('returns the other 127 forms of %s', async (code) => {
    const response = await get(`/cf/omocodie/${code}`);
    const forms = response.json as string[];
    expect(new Set(forms).size).toBe(127);
    expect(forms).not.toContain(code);
    expect(forms[0]).toBe(code === CODE ? 'RSSMRA80B01H50ML' : CODE);
  });

  it('rejects an invalid code', async () => {
    const response = await get('/cf/omocodie/nonsense');
    expect([response.status, response.json]).toEqual([400, INVALID]);
  });
});

describe('POST /cf with details', () => {
  const withDetails = (body: unknown) => service.call('POST', '/cf?details=true', { signing: false, body });

  it('returns the chosen place, its dates and the reason', async () => {
    const response = await withDetails({ ...MARIO, city: 'Mestre', province: 'VE', year: 1970 });
    expect(response.json).toEqual({
      cf: 'RSSMRA70B01L736R',
      details: {
        birthplace: {
          code: 'L736',
          belfiore_code: 'L736',
          province: 'VE',
          name: 'VENEZIA',
          from: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
          to: expect.toSatisfy((to: unknown) => to === null || typeof to === 'string'),
          current: expect.any(Boolean),
        },
        why: 'successor',
        warnings: ['place-ended'],
        ignored: [],
      },
    });
  });

  it('accepts people without a surname or a given name when that is stated', async () => {
    expect((await post({ ...MARIO, surname: '', noSurname: true })).json).toMatchObject({
      cf: expect.stringMatching(/^XXXMRA/),
    });
    expect((await post({ ...MARIO, name: '', noName: true })).json).toMatchObject({
      cf: expect.stringMatching(/^RSSXXX/),
    });
    expect((await post({ ...MARIO, surname: '' })).json).toMatchObject({
      errors: { surname: 'the surname is missing' },
    });
    expect((await post({ ...MARIO, noSurname: 'yes' })).json).toMatchObject({
      errors: { noSurname: 'noSurname must be true or false' },
    });
  });

  it('lists both places of a name that is current for one and former for the other', async () => {
    const response = await post({ ...MARIO, city: 'Fiume', province: '', year: 1960 });
    expect(response.status).toBe(400);
    expect(response.json).toMatchObject({ candidates: [{ code: 'D621' }, { code: 'D620' }] });
  });

  it('names the province of a place, and the state of a foreign city', async () => {
    expect((await post({ ...MARIO, province: 'MI' })).json).toMatchObject({
      errors: { city: 'no place of this name was ever in that province; there is one in RM' },
    });
    expect((await post({ ...MARIO, city: 'Parigi', province: 'EE' })).json).toMatchObject({
      errors: { city: 'this is a city abroad; give its state: FRANCIA' },
      suggestions: [{ code: 'Z110' }],
    });
  });
});

describe('POST /cf/match', () => {
  const match = (body: unknown) => service.call('POST', '/cf/match', { signing: false, body });

  it('confirms that the code is that of the person', async () => {
    const response = await match({ cf: CODE, ...MARIO });
    expect([response.status, response.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(response.json).toEqual({
      matches: true,
      parts: [
        { part: 'surname', matches: true, expected: 'RSS', found: 'RSS' },
        { part: 'name', matches: true, expected: 'MRA', found: 'MRA' },
        { part: 'gender', matches: true, expected: 'M', found: 'M' },
        { part: 'day', matches: true, expected: 1, found: 1 },
        { part: 'month', matches: true, expected: 2, found: 2 },
        { part: 'year', matches: true, expected: 1980, found: 1980 },
        { part: 'place', matches: true, expected: 'H501', found: 'H501' },
      ],
      skipped: [],
      compared: 'all',
    });
  });

  it('compares what is given, and says what was skipped', async () => {
    const [name, surname] = [MARIO.name, MARIO.surname];
    const names = await match({ cf: CODE, name, surname, city: null });
    expect([names.status, names.json]).toEqual([
      200,
      {
        matches: true,
        parts: [
          { part: 'surname', matches: true, expected: 'RSS', found: 'RSS' },
          { part: 'name', matches: true, expected: 'MRA', found: 'MRA' },
        ],
        skipped: ['gender', 'day', 'month', 'year', 'place'],
        compared: 'names',
      },
    ]);
    const dated = await match({ cf: CODE, name, surname, day: 2, month: 2, year: 1980 });
    expect(dated.json).toMatchObject({
      ...{ matches: false, compared: 'names-and-date', skipped: ['gender', 'place'] },
    });
    expect((await match({ cf: CODE, city: 'Roma' })).json).toMatchObject({ compared: 'some' });
  });

  it('refuses a part of a date, a province without a city, and a field that is empty', async () => {
    const errors = async (body: object) => ((await match({ cf: CODE, ...body })).json as FiscalError).errors;
    expect(await errors({ day: 1 })).toEqual({
      month: 'the month is missing',
      year: 'the year is missing',
    });
    expect(await errors({ name: 'Mario', province: 'RM' })).toEqual({ city: 'the birthplace is missing' });
    expect(await errors({ name: 'Mario', surname: '' })).toEqual({ surname: 'the surname is missing' });
  });

  it('names the part that differs, also with 200', async () => {
    const response = await match({ cf: CODE, ...MARIO, surname: 'Bianchi' });
    expect(response.status).toBe(200);
    expect(response.json).toMatchObject({
      matches: false,
      parts: expect.arrayContaining([{ part: 'surname', matches: false, expected: 'BNC', found: 'RSS' }]),
    });
  });

  it('reports an invalid code and invalid data at once', async () => {
    const response = await match({ ...MARIO, cf: 'RSSMRA80B01H501X', gender: '' });
    expect([response.status, response.json]).toEqual([
      400,
      {
        ...INVALID,
        errors: {
          cf: 'the check character does not fit the fifteen before it',
          gender: 'the gender is missing',
        },
      },
    ]);
    expect((await match({ cf: CODE })).json).toMatchObject({ errors: { city: 'the birthplace is missing' } });
    expect((await match({ ...MARIO, cf: 7 })).json).toMatchObject({ errors: { cf: 'the cf must be text' } });
    expect((await match([])).status).toBe(400);
  });
});

describe('GET /cf/check/{fiscal_code}', () => {
  it.each([
    [CODE, { valid: true, kind: 'person' }],
    [CODE.toLowerCase(), { valid: true, kind: 'person' }],
    ['RSSMRA80B01H501X', { valid: false, kind: null, reason: 'check-character' }],
    ['RSSMRA80B01H50', { valid: false, kind: null, reason: 'length' }],
    ['RSSMRA80B30H501X', { valid: false, kind: null, reason: 'date' }],
    ['%20', { valid: false, kind: null, reason: 'characters' }],
    ['%F0%9F%98%80', { valid: false, kind: null, reason: 'characters' }],
    ['00743110157', { valid: false, kind: 'vat', reason: 'vat-number' }],
  ])('returns 200 for %s', async (code, expected) => {
    const response = await get(`/cf/check/${code}`);
    expect([response.status, response.json]).toEqual([200, expected]);
  });

  it('rejects a place that came later only with strict=true', async () => {
    // Fonte Nuova (M295) has been a comune since 2001.
    const { cf } = (await post({ ...MARIO, city: 'M295', province: '' })).json as { cf: string };
    expect((await get(`/cf/check/${cf}`)).json).toEqual({ valid: true, kind: 'person' });
    expect((await get(`/cf/check/${cf}?strict=false`)).json).toEqual({ valid: true, kind: 'person' });
    expect((await get(`/cf/check/${cf}?strict=true`)).json).toEqual({
      valid: false,
      kind: null,
      reason: 'place-not-in-force',
    });
  });

  it('accepts every Italian tax code with accept=any, and returns its kind', async () => {
    expect((await get('/cf/check/00743110157?accept=any')).json).toEqual({ valid: true, kind: 'vat' });
    expect((await get(`/cf/check/${CODE}?accept=any`)).json).toEqual({ valid: true, kind: 'person' });
    expect((await get('/cf/check/00743110158?accept=any')).json).toEqual({
      valid: false,
      kind: null,
      reason: 'check-character',
    });
    expect((await get('/cf/check/00743110157?accept=all')).status).toBe(400);
  });

  it('has the code after a prefix with details', async () => {
    const { json } = await get(`/cf/check/TINIT-${CODE}?details=true`);
    expect(json).toEqual({
      ...{ valid: false, kind: null, reason: 'characters' },
      faults: [
        {
          ...{ reason: 'characters', start: 0, end: 6, meant: CODE },
          message: expect.stringContaining('SPID and CIE'),
        },
      ],
    });
    expect((await get('/cf/IT00743110157?details=true')).json).toMatchObject({
      faults: [{ start: 0, end: 2, meant: '00743110157' }],
    });
  });

  it('reports every error with details', async () => {
    const response = await get('/cf/check/RSSMRA80Z01Z999X?details=true');
    const { faults } = response.json as { faults: { reason: string }[] };
    expect(faults.map(({ reason }) => reason)).toEqual(['check-character', 'date', 'place']);
  });

  it.each(['strict=1', 'strict=', 'details=yes', 'strict=true&strict=true'])('rejects ?%s', async (query) => {
    const response = await get(`/cf/check/${CODE}?${query}`);
    expect(response.status).toBe(400);
    expect(Object.keys((response.json as { errors: object }).errors)).toEqual([query.split('=')[0]]);
  });
});

describe('query parameters', () => {
  it.each([
    `/cf/${CODE}`,
    `/cf/omocodie/${CODE}`,
    `/cf/check/${CODE}`,
    '/it/regions',
    '/it/provinces',
    '/it/cities/RM',
    '/it/places',
    '/it/caps/RM/Roma',
  ])('that %s does not know are refused by name', async (path) => {
    const { status, json } = await get(`${path}?centry=1900${path === '/it/places' ? '&q=roma' : ''}`);
    expect([status, json]).toMatchObject([
      400,
      { name: 'BadRequest', code: 400, errors: { centry: 'is not known here' } },
    ]);
  });

  it('of requests with a body too', async () => {
    for (const path of ['/cf', '/cf/match']) {
      const body = { ...MARIO, cf: CODE };
      const response = await service.call('POST', `${path}?detail=true`, { signing: false, body });
      expect([response.status, response.json]).toMatchObject([
        400,
        { errors: { detail: 'is not known here' } },
      ]);
    }
  });

  it('fix the century, as the library and the command do', async () => {
    expect((await get('/cf/RSSMRA20A01H501G')).json).toMatchObject({ birthday: '2020-01-01' });
    expect((await get('/cf/RSSMRA20A01H501G?century=1900')).json).toMatchObject({ birthday: '1920-01-01' });
    expect((await get('/cf/RSSMRA30A01H501I?century=2000')).json).toEqual(INVALID);
    expect((await get('/cf/omocodie/RSSMRA30A01H501I?century=2000')).json).toEqual(INVALID);
    expect((await get('/cf/check/RSSMRA30A01H501I?century=2000')).json).toMatchObject({ reason: 'date' });
    expect((await get(`/cf/${CODE}?century=1950`)).status).toBe(400);
  });

  it('fix the day as of which a code is read', async () => {
    const young = '/cf/RSSMRA26H15H501Q';
    expect((await get(young)).json).toMatchObject({ birthday: '2026-06-15' });
    expect((await get(`${young}?asOf=2026-06-14`)).json).toMatchObject({ birthday: '1926-06-15' });
    const body = { ...MARIO, year: 2026, month: 6, day: 15 };
    const at = (asOf: string) => service.call('POST', `/cf?asOf=${asOf}`, { signing: false, body });
    expect((await at('2026-06-15')).json).toEqual({ cf: 'RSSMRA26H15H501Q' });
    expect((await at('2026-06-14')).status).toBe(400);
    expect((await get(`${young}?asOf=2026-02-30`)).json).toMatchObject({
      code: 400,
      errors: { asOf: 'must be a day of the calendar, YYYY-MM-DD' },
    });
  });

  it('refuse a place that did not exist on the birth date', async () => {
    const body = { ...MARIO, city: 'M295', province: '' };
    const { json } = await service.call('POST', '/cf', { signing: false, body });
    const { cf } = json as { cf: string };
    expect((await get(`/cf/${cf}`)).status).toBe(200);
    expect((await get(`/cf/${cf}?strict=true`)).json).toEqual(INVALID);
    const strict = await service.call('POST', '/cf?strict=true', { signing: false, body });
    expect([strict.status, strict.json]).toMatchObject([400, { errors: { city: expect.any(String) } }]);
  });
});

describe('the provinces of Sardinia', () => {
  it('are listed by the abbreviations of ISTAT, and shown as ANPR has them', async () => {
    const { json } = await get('/it/cities/OT?current=true&q=arz');
    expect(json).toEqual([
      {
        ...{ code: 'A453', belfiore_code: 'A453', province: 'SS', name: 'ARZACHENA' },
        ...{ from: expect.any(String), to: null, current: true },
      },
    ]);
  });

  it('are both there with details, with their dates', async () => {
    const istatProvince = { abbreviation: 'OT', name: 'Gallura Nord-Est Sardegna', from: '2026-01-01' };
    const both = { province: 'SS', from: expect.any(String), istatProvince };
    expect((await get('/it/cities/OT?current=true&q=arz&details=true')).json).toMatchObject([both]);
    expect((await get('/it/places?q=arzachena&details=true')).json).toMatchObject([both]);
    expect((await get('/it/places?q=roma&limit=1&details=true')).json).toMatchObject([
      { istatProvince: null },
    ]);
  });

  it('are accepted for a birthplace', async () => {
    const born = { ...MARIO, city: 'Teulada', province: 'CI' };
    expect((await post(born)).json).toEqual({ cf: expect.stringMatching(/L154.$/) });
  });
});

describe('fields of a person that are not known', () => {
  it('are ignored as the specification has it, and named with details', async () => {
    const body = { ...MARIO, height: 180, citta: 'Milano' };
    const detailed = await service.call('POST', '/cf?details=true', { signing: false, body });
    expect(detailed.json).toMatchObject({ cf: CODE, details: { ignored: ['height', 'citta'] } });
    const none = await service.call('POST', '/cf?details=true', { signing: false, body: MARIO });
    expect(none.json).toMatchObject({ details: { ignored: [] } });
  });
});

describe('/it', () => {
  it('lists twenty regions with their provinces', async () => {
    const regions = (await get('/it/regions')).json as {
      name: string;
      provinces: { name: string; abbreviation: string }[];
    }[];
    expect(regions).toHaveLength(20);
    const lazio = regions.find(({ name }) => name === 'Lazio');
    expect(lazio?.provinces).toContainEqual({ name: 'Roma', abbreviation: 'RM' });
    expect(Object.keys(lazio ?? {})).toEqual(['name', 'provinces']);
  });

  it('lists one place record of each province, its capital', async () => {
    const records = (await get('/it/provinces')).json as { province: string }[];
    const regions = (await get('/it/regions')).json as { provinces: { abbreviation: string }[] }[];
    expect(records.map(({ province }) => province)).toEqual(
      regions.flatMap(({ provinces }) => provinces.map(({ abbreviation }) => abbreviation)),
    );
    expect(records).toContainEqual({
      code: 'F704',
      belfiore_code: 'F704',
      province: 'MB',
      name: 'MONZA',
      from: '2009-06-30',
      to: null,
      current: true,
    });
  });

  it('lists the places of a province, former ones with the code of today', async () => {
    const records = (await get('/it/cities/rm')).json as object[];
    expect(records).toContainEqual(
      expect.objectContaining({
        code: 'H501',
        belfiore_code: 'H501',
        province: 'RM',
        name: 'ROMA',
        to: null,
      }),
    );
    const bologna = (await get('/it/cities/BO')).json as {
      name: string;
      code: string;
      belfiore_code: string;
    }[];
    const crespellano = bologna.find(({ name }) => name === 'CRESPELLANO');
    expect([crespellano?.code, crespellano?.belfiore_code]).toEqual(['D158', 'M320']);
  });

  it('has the dates of each record, and lists those of a date or of today', async () => {
    const list = async (query: string) =>
      (await get(`/it/cities/RM${query}`)).json as { name: string; current: boolean; to: string | null }[];
    const [all, current] = [await list(''), await list('?current=true')];
    expect([all.length > 300, current.length]).toEqual([true, 121]);
    expect(current.every((record) => record.current && record.to === null)).toBe(true);
    expect((await list('?current=false')).length).toBe(all.length - 121);
    expect((await list('?date=1950-01-01&q=fiumi')).map(({ name }) => name)).not.toContain('FIUMICINO');
    expect((await list('?date=2000-01-01&q=fiumi')).map(({ name }) => name)).toEqual(['FIUMICINO']);
    expect((await get('/it/cities/RM?date=2000-02-30')).status).toBe(400);
    expect((await get('/it/cities/RM?current=yes')).status).toBe(400);
  });

  it.each([
    ['EE', 'riunione', 'LA REUNION (ISOLA)'],
    ['EE', 'bermude', 'BERMUDA'],
    ['EE', 'united k', 'REGNO UNITO'],
    ['EE', 'isola della riunione', 'LA REUNION (ISOLA)'],
    ['EE', 'Z110', 'FRANCIA'],
    ['BZ', 'boze', 'BOLZANO'],
    ['VE', 'chirignago', 'CHIRIGNAGO'],
  ])('lists in %s for %s, by any name, %s by its own', async (province, q, name) => {
    const { json } = await get(`/it/cities/${province}?q=${encodeURIComponent(q)}`);
    expect([...new Set((json as { name: string }[]).map((place) => place.name))]).toEqual([name]);
  });

  it('returns a list in pages, each with the address of the next', async () => {
    const first = await get('/it/cities/RM?current=true&limit=100');
    expect((first.json as object[]).length).toBe(100);
    const link = /^<(.+)>; rel="next"$/.exec(String(first.headers.link ?? ''))?.[1] ?? '';
    expect(link).toBe('/it/cities/RM?current=true&limit=100&offset=100');
    const last = await get(link);
    expect([(last.json as object[]).length, last.headers.link]).toEqual([21, undefined]);
  });

  it('searches places during typing, with their history', async () => {
    const found = async (query: string) => (await get(`/it/places?${query}`)).json as { name: string }[];
    expect((await found('q=san%20giu&limit=2')).map(({ name }) => name)).toEqual([
      'SAN GIULIANO MILANESE',
      'SAN GIULIANO TERME',
    ]);
    const [mestre] = await found('q=mestre&date=1970-01-01');
    expect(mestre).toMatchObject({
      code: 'F159',
      belfiore_code: 'L736',
      to: '1926-08-23',
      current: false,
      history: [{ name: 'MESTRE', province: 'VE', source: 'ministero-interno' }],
      successors: [{ code: 'L736', name: 'VENEZIA', province: 'VE', source: 'istat' }],
    });
    expect((await get('/it/places')).status).toBe(400);
    expect((await get('/it/places?q=roma&date=yesterday')).status).toBe(400);
  });

  it('responds with 304 to a caller that has the same version, and compresses for one that accepts gzip', async () => {
    const plain = await raw('GET', '/it/cities/RM', { headers: { 'accept-encoding': 'identity' } });
    const etag = plain.headers.get('etag') ?? '';
    expect([plain.headers.get('content-encoding'), plain.headers.get('vary')]).toEqual([
      null,
      expect.stringContaining('accept-encoding'),
    ]);
    const again = await raw('GET', '/it/cities/RM', { headers: { 'if-none-match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const packed = await raw('GET', '/it/cities/RM', { headers: { 'accept-encoding': 'br, gzip;q=0.5' } });
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(await packed.json()).toEqual(await plain.json());
    const refused = await raw('GET', '/it/cities/RM', { headers: { 'accept-encoding': 'gzip;q=0' } });
    expect(refused.headers.get('content-encoding')).toBe(null);
  });

  it.each(['FO', 'EE'])('lists the places of %s too', async (province) => {
    const records = (await get(`/it/cities/${province}`)).json as { province: string }[];
    expect(records.length).toBeGreaterThan(20);
    expect(records.every((record) => record.province === province)).toBe(true);
  });

  it.each(['XX', 'R', 'ROMA', '%00%01', '12'])('has no province %s', async (province) => {
    const response = await get(`/it/cities/${province}`);
    expect([response.status, response.json]).toEqual([
      404,
      { name: 'NotFound', message: 'No province has this abbreviation', code: 404 },
    ]);
  });

  it('returns postal codes as integers, those of Rome too', async () => {
    const caps = (await get('/it/caps/RM/Roma')).json as number[];
    expect(caps[0]).toBe(118);
    expect(caps.every(Number.isInteger)).toBe(true);
    expect((await get('/it/caps/rm/ROMA')).json).toEqual(caps);
  });

  it('returns the postal codes of the comune that holds a former one', async () => {
    expect((await get('/it/caps/BO/Crespellano')).json).toEqual((await get('/it/caps/BO/Valsamoggia')).json);
  });

  it.each([
    ['an unknown province', '/it/caps/XX/Roma', 404, ['name', 'message', 'code']],
    ['an unknown city', '/it/caps/RM/Milanno', 404, ['name', 'message', 'code', 'suggestions']],
    ['a city like no other', '/it/caps/RM/Xyzxyz', 404, ['name', 'message', 'code']],
    ['a city of another province', '/it/caps/MI/Roma', 404, ['name', 'message', 'code', 'suggestions']],
    ['a state', '/it/caps/EE/Francia', 404, ['name', 'message', 'code']],
    ['an ambiguous name', '/it/caps/TN/San%20Martino', 400, ['name', 'message', 'code', 'candidates']],
  ])('rejects %s', async (_what, path, status, fields) => {
    const response = await get(path);
    expect([response.status, Object.keys(response.json)]).toEqual([status, fields]);
  });

  it('may be cached, unlike the codes of people', async () => {
    expect((await get('/it/regions')).headers['cache-control']).toBe('public, max-age=86400');
    const ofPeople = [
      await get(`/cf/check/${CODE}`),
      await get(`/cf/${CODE}`),
      await get('/cf/RSSMRA80B01H501X'),
      await get('/cf/omocodie/RSSMRA80B01H501X'),
      await post(MARIO),
      await post({ ...MARIO, city: 'Millano' }),
    ];
    for (const response of ofPeople) expect(response.headers['cache-control']).toBe('no-store');
  });
});

describe('errors and pages of other origins', () => {
  it.each([
    ['GET', '/cf', 405, 'MethodNotAllowed'],
    ['DELETE', '/it/regions', 405, 'MethodNotAllowed'],
    ['GET', '/cf/a/b/c', 404, 'NotFound'],
    ['GET', '/it', 404, 'NotFound'],
    ['GET', '/it/', 404, 'NotFound'],
    ['GET', '/cf/%zz', 400, 'BadRequest'],
    ['GET', `/cf/${'A'.repeat(1500)}`, 414, 'URITooLong'],
  ])('respond to %s %s with %i %s in the format of the fiscal API', async (method, path, code, name) => {
    const response = await raw(method, path);
    expect(response.status).toBe(code);
    expect(response.headers.get('content-type')).toBe(JSON_UTF8);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toEqual({ name, message: expect.stringMatching(/./), code });
  });

  it.each(['/cfx', '/items', '/v1/cf'])('leave %s to problems', async (path) => {
    const response = await raw('GET', path);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('allow any page to call, and to read the limits', async () => {
    const response = await raw('GET', `/cf/${CODE}`, { headers: { origin: 'https://page.example' } });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-expose-headers')).toContain('RateLimit-Remaining');
  });

  it('allow the JSON of a page before it is sent', async () => {
    const response = await raw('OPTIONS', '/cf', {
      headers: {
        origin: 'https://page.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-methods')).toBe('POST');
    expect(response.headers.get('access-control-allow-headers')).toMatch(/content-type/i);
  });

  it.each([
    ['/cf', 'OPTIONS, POST'],
    [`/cf/${CODE}`, 'GET, HEAD, OPTIONS'],
    [`/cf/check/${CODE}`, 'GET, HEAD, OPTIONS'],
    ['/it/regions', 'GET, HEAD, OPTIONS'],
  ])(
    'name the same methods of %s in the preflight and in the error for a wrong method',
    async (path, allowed) => {
      expect((await raw('OPTIONS', path)).headers.get('allow')).toBe(allowed);
      expect((await raw('DELETE', path)).headers.get('allow')).toBe(allowed);
    },
  );

  it.each(['/v1/rooms', '/v1/health', '/openapi.json', '/nothing'])('open %s to no page', async (path) => {
    const response = await raw('OPTIONS', path);
    expect(response.status).not.toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('the log', () => {
  it('never holds a code, a name or a place', async () => {
    await post(MARIO);
    await post({ ...MARIO, city: 'Secretville', name: 'Zebedee7' });
    await service.call('POST', '/cf', {
      signing: false,
      body: '{"name":"Zebedee',
      headers: { 'content-type': 'application/json' },
    });
    await get(`/cf/${CODE}`);
    await get(`/cf/omocodie/${CODE}?details=true`);
    await get(`/cf/check/${CODE}X`);
    await get('/it/caps/RM/Secretville');
    await raw('GET', `/cf/${CODE}/unknown`);
    await raw('GET', `/cf/${CODE}%zz`);
    const log = JSON.stringify(service.logLines, (_key, value) =>
      value instanceof Error ? [value.message, value.stack, { ...value }] : value,
    );
    expect(log).toContain('/cf/check/:fiscal_code');
    expect(log).not.toMatch(/RSSMRA|Mario|Rossi|Zebedee|Secretville/i);
  });
});

describe('the settings', () => {
  it('limit requests by address', async () => {
    const limited = await startTestService({ environment: { RATE_LIMIT_PUBLIC: '2' } });
    try {
      const responses = await Promise.all(
        Array.from({ length: 6 }, () => limited.call('GET', '/cf/check/x', { signing: false })),
      );
      const refused = responses.filter(({ status }) => status === 429);
      expect(refused.length).toBeGreaterThanOrEqual(3);
      expect(refused[0]?.json).toMatchObject({ name: 'TooManyRequests', code: 429 });
      expect(refused[0]?.headers['retry-after']).toBe('1');
    } finally {
      await limited.close();
    }
  });

  it('remove /cf and /it with FISCAL_API=off', async () => {
    const without = await startTestService({ environment: { FISCAL_API: 'off' } });
    try {
      expect(Object.keys(without.document.paths).filter((path) => /^\/(cf|it)/.test(path))).toEqual([]);
      const response = await fetch(`${without.url}/cf/check/${CODE}`);
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    } finally {
      await without.close();
    }
  });
});

describe('the OpenAPI document', () => {
  it('has the ten endpoints, public, with examples that match their schemas', () => {
    const operations = Object.entries(service.document.paths)
      .filter(([path]) => /^\/(cf|it)\b/.test(path))
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`));
    expect(operations.sort()).toEqual([
      'get /cf/check/{fiscal_code}',
      'get /cf/omocodie/{fiscal_code}',
      'get /cf/{fiscal_code}',
      'get /it/caps/{province_abbreviation}/{city_name}',
      'get /it/cities/{province_abbreviation}',
      'get /it/places',
      'get /it/provinces',
      'get /it/regions',
      'post /cf',
      'post /cf/match',
    ]);
  });

  it('has an example person whose code is the example code', async () => {
    const { paths } = service.document as unknown as {
      paths: { '/cf': { post: { requestBody: { content: { 'application/json': { example: object } } } } } };
    };
    const { example } = paths['/cf'].post.requestBody.content['application/json'];
    expect((await post(example)).json).toEqual({ cf: CODE });
  });
});
