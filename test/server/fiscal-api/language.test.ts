import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../support/manual-clock.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ clock: new ManualClock(Date.parse('2026-06-15T12:00:00Z')) });
});
afterAll(() => service.close());

const ITALIAN = { 'accept-language': 'it-IT,it;q=0.9,en;q=0.5' };
const get = (path: string, headers: Readonly<Record<string, string>> = ITALIAN) =>
  service.call('GET', path, { signing: false, headers });
const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = ITALIAN) =>
  service.call('POST', path, { signing: false, headers, body });

const MARIO = { name: 'Mario', surname: 'Rossi', gender: 'M', day: 1, month: 2, year: 1980, city: 'Roma' };
const WRONG = 'RSSMRA80B01H501X';

describe('the language of messages', () => {
  it('is Italian for a caller who accepts Italian, in every field of a person', async () => {
    const bad = { ...MARIO, name: '', gender: 'X', month: 13, city: 'Parigi', province: 'EE' };
    const response = await post('/cf', bad);
    expect([response.status, response.headers['content-language']]).toEqual([400, 'it']);
    expect(response.headers.vary).toContain('accept-language');
    expect(response.json).toMatchObject({
      name: 'BadRequest',
      code: 400,
      message: expect.stringMatching(/^Dati anagrafici non validi: manca il nome; /),
      errors: {
        name: 'manca il nome',
        gender: 'il sesso deve essere F o M',
        month: 'il mese di nascita deve essere compreso tra 1 e 12',
        city: 'è una città estera; indicare lo stato estero di nascita: FRANCIA',
      },
    });
  });

  it('is Italian for the faults of codes that are invalid', async () => {
    expect((await get(`/cf/${WRONG}?details=true`)).json).toMatchObject({
      faults: [{ message: 'il carattere di controllo non corrisponde ai quindici che lo precedono' }],
    });
    expect((await get(`/cf/check/${WRONG}?details=true`)).json).toMatchObject({
      reason: 'check-character',
      faults: [{ message: 'il carattere di controllo non corrisponde ai quindici che lo precedono' }],
    });
    expect((await post('/cf/match', { ...MARIO, cf: WRONG })).json).toMatchObject({
      errors: { cf: 'il carattere di controllo non corrisponde ai quindici che lo precedono' },
    });
    expect((await post('/cf/match', [])).json).toMatchObject({
      message: 'Il corpo della richiesta deve essere un oggetto JSON.',
    });
  });

  it.each([
    ['/it/cities/ZZ', 'Nessuna provincia ha questa sigla'],
    ['/it/cities/RM?date=1980-02-30', 'La data non esiste nel calendario'],
    ['/it/caps/RM/Xyzxyz', 'Nessun luogo di questa provincia ha questo nome'],
    ['/it/caps/TN/San%20Martino', 'Più luoghi di questa provincia hanno questo nome'],
    ['/it/caps/EE/Francia', 'Di questo luogo non si conoscono codici di avviamento postale'],
  ])('is Italian for the error of %s', async (path, message) => {
    expect((await get(path)).json).toMatchObject({ message });
  });

  it.each([
    [{}],
    [{ 'accept-language': '*' }],
    [{ 'accept-language': 'en,it;q=0.8' }],
    [{ 'accept-language': 'de' }],
    [{ 'accept-language': 'it;q=0' }],
    [{ 'accept-language': 'it;q=high' }],
  ])('is English for %o', async (headers) => {
    expect((await get(`/cf/${WRONG}?details=true`, headers)).json).toMatchObject({
      faults: [{ message: 'the check character does not fit the fifteen before it' }],
    });
  });
});

describe('GET /it/caps with details', () => {
  it('returns the month of the codes, and their place', async () => {
    expect((await get('/it/caps/TR/Terni?details=true')).json).toEqual({
      place: { code: 'L117', belfiore_code: 'L117', province: 'TR', name: 'TERNI' },
      caps: ['05100'],
      asOf: '2026-11',
      replacedBy: null,
      frazioni: [],
    });
  });

  it('names a code that will replace the others', async () => {
    const { json } = await get('/it/caps/SU/Decimoputzu?details=true');
    expect(json).toMatchObject({ caps: ['09001', '09010'], replacedBy: '09001' });
  });
});

describe('GET /it/places', () => {
  it('finds the comuni of a postal code, also of a former one', async () => {
    const { json } = await get('/it/places?q=05100');
    expect(json).toMatchObject([{ code: 'L117', name: 'TERNI' }]);
    expect((await get('/it/places?q=60130')).json).toMatchObject([{ code: 'A271', name: 'ANCONA' }]);
  });
});

describe('postal codes of frazioni', () => {
  it('are there, with the frazioni', async () => {
    expect((await get('/it/places?q=58018')).json).toMatchObject([
      { code: 'F437', frazioni: ['PORTO ERCOLE'] },
    ]);
    expect((await get('/it/places?q=roma&limit=1')).json).toMatchObject([{ frazioni: [] }]);
    expect((await get('/it/caps/GR/Monte%20Argentario')).json).toEqual([58018, 58019]);
    expect((await get('/it/caps/GR/Monte%20Argentario?details=true')).json).toMatchObject({
      frazioni: [{ cap: '58018', names: ['PORTO ERCOLE'] }],
    });
  });
});

describe('errors that any route can have', () => {
  it.each([
    ['/it/places', 400, 'q: è obbligatorio', { q: 'è obbligatorio' }],
    [
      '/it/cities/RM?current=maybe&limit=x',
      400,
      'current: deve essere uno tra true, false',
      { current: 'deve essere uno tra true, false', limit: 'non ha la forma prevista' },
    ],
  ])('name the fields in Italian: %s', async (path, status, message, errors) => {
    const response = await get(path);
    expect([response.status, response.headers['content-language']]).toEqual([status, 'it']);
    expect(response.json).toMatchObject({ code: status, message, errors });
    const english = await get(path, { 'accept-language': 'en' });
    expect([english.status, english.headers['content-language']]).toEqual([status, 'en']);
    expect(english.json).not.toMatchObject({ message });
  });

  it('are Italian for an unknown path', async () => {
    const of = async (language: string) => {
      const response = await fetch(`${service.url}/it/nowhere`, { headers: { 'accept-language': language } });
      return [response.status, response.headers.get('content-language'), (await response.json()) as unknown];
    };
    expect(await of('it')).toEqual([
      404,
      'it',
      { name: 'NotFound', code: 404, message: 'Non esiste nulla a questo indirizzo.' },
    ]);
    expect(await of('en')).toMatchObject([404, 'en', { message: expect.stringContaining('path') }]);
  });
});
