import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { findPlace, placeHistory, suggestPlaces } from '../../src/fiscal/index.ts';

type Row = Readonly<Record<string, string>>;
const rows = (name: string): Row[] =>
  parse(readFileSync(new URL(`../../data/${name}`, import.meta.url), 'utf8'), { columns: true });

const places = rows('places.csv');
const undated = rows('places-undated.csv');
const aliases = rows('aliases.csv');
const everyday = rows('aliases-everyday.csv');

const codesFor = (name: string, filter: { province?: string; date?: string }): string[] => {
  const found = findPlace(name, filter);
  if (found.ok) return [found.place.codiceCatastale];
  return found.candidates.map(({ codiceCatastale }) => codiceCatastale);
};
const dayIn = ({ valid_from: from = '', valid_to: to = '' }: Row): string => from || to || '2000-01-01';

describe('findPlace over the whole registry', () => {
  it('finds each place by name, province and date, or lists it as ambiguous', () => {
    const [missed, ambiguous, others] = [new Set<string>(), new Set<string>(), new Set<string>()];
    for (const row of places) {
      const { code = '', name = '', province = '' } = row;
      for (const date of [dayIn(row), row.valid_to || '2026-01-01']) {
        const codes = codesFor(name, { province, date });
        if (!codes.includes(code)) missed.add(`${code} ${name} ${province} ${date}: ${codes}`);
        else if (codes.length > 1) ambiguous.add(`${name} ${province} ${codes.sort()}`);
        const found = findPlace(name, { province, date });
        if (found.ok && found.place.name !== name) others.add(`${code} ${name}: ${found.place.name}`);
      }
    }
    // Z136 is Georgia's code until 1994. Among states with the same name, the one that exists today wins.
    expect([...missed]).toEqual(['Z136 GEORGIA EE 1994-01-01: Z254']);
    expect([...ambiguous].sort()).toEqual([
      'CAPRANICA RM B687,B688',
      'CASTELLO TN C182,C183',
      'SAN GIACOMO TN H866,H869',
      'SAN MARTINO BZ H988,H989',
      'SAN MARTINO TN H988,H989',
      'SAVOGNA UD I478,I479',
      'VEZZANO TN L818,L821',
    ]);
    // Both names have the same years.
    expect([...others]).toEqual(['D588 MARNE: FILAGO']);
  });

  it('finds each place without a province, or lists it as ambiguous', () => {
    const missed = new Set<string>();
    for (const row of places) {
      const { code = '', name = '' } = row;
      const found = findPlace(name, { date: dayIn(row) });
      const codes = found.ok
        ? [found.place, ...found.alternatives].map(({ codiceCatastale }) => codiceCatastale)
        : found.candidates.map(({ codiceCatastale }) => codiceCatastale);
      if (!codes.includes(code)) missed.add(`${code} ${name}: ${codes}`);
    }
    expect([...missed]).toEqual([]);
  });

  it('finds each place by its name in plain letters', () => {
    for (const row of places) {
      const { code = '', name_ascii: name = '', province = '' } = row;
      const found = findPlace(name.toLowerCase(), { province, date: dayIn(row) });
      const codes = found.ok ? [found.place, ...found.alternatives] : found.candidates;
      expect(codes.map(({ codiceCatastale }) => codiceCatastale)).toContain(code);
    }
  });

  it('finds each undated place, after dated ones of its name', () => {
    for (const { code = '', name = '', province = '' } of undated) {
      const found = findPlace(name, { province, date: '1930-05-05' });
      const codes = found.ok ? [found.place, ...found.alternatives] : found.candidates;
      expect(codes.map(({ codiceCatastale }) => codiceCatastale)).toContain(code);
    }
  });

  it('finds each alias, also without its accents', () => {
    for (const { code = '', alias = '', alias_ascii: ascii = '' } of aliases) {
      if (alias.includes('Ã\u00a0') || ascii === 'ISOLE FR ER') continue; // Names that their sources spell wrongly.
      for (const name of [alias, ascii]) {
        const found = findPlace(name);
        const codes = found.ok ? [found.place, ...found.alternatives] : found.candidates;
        expect([name, ...codes.map(({ codiceCatastale }) => codiceCatastale)]).toContain(code);
      }
    }
  });

  it('finds each everyday name, at any time and only of that place', () => {
    expect(everyday).toHaveLength(956);
    for (const { code = '', alias = '' } of everyday) {
      for (const date of ['1950-01-01', '1990-01-01', '2026-01-01']) {
        const found = findPlace(alias.toLowerCase(), { date });
        // An alias of a place that has ended leads to its successor.
        const isSuccessor = found.ok && found.match === 'successor';
        const codes = isSuccessor
          ? found.alternatives.slice(0, 1).map(({ codiceCatastale }) => codiceCatastale)
          : codesFor(alias.toLowerCase(), { date });
        expect([alias, ...codes]).toEqual([alias, code]);
      }
      // An alias must differ from the names of its place.
      expect(places.filter((row) => row.name === alias)).toEqual([]);
    }
  });

  it('finds each code', () => {
    for (const { code = '' } of [...places, ...undated]) {
      const found = findPlace(code);
      expect(found.ok && found.place.codiceCatastale).toBe(code);
    }
  });

  it('keeps each record with its dates', () => {
    for (const { code = '', name, province, valid_from: from = '', valid_to: to = '' } of places) {
      expect(placeHistory(code)).toContainEqual({
        codiceCatastale: code,
        kind: province === 'EE' ? 'stato' : 'comune',
        name,
        province,
        validFrom: from || null,
        validTo: to || null,
        isCurrent: to === '',
      });
    }
  });
});

describe('findPlace', () => {
  const code = (name: string, filter = {}): string => codesFor(name, filter).join();

  it('prefers the name with the right accents', () => {
    expect(code('Paternò', { date: '1990-01-01' })).toBe('G371');
    expect(code("PATERNO'", { date: '1990-01-01' })).toBe('G371');
    expect(code('Paterno', { date: '1990-01-01' })).toBe('M269');
    expect(code('Paterno', { date: '1990-01-01', province: 'CT' })).toBe('G371');
  });

  it.each([
    ['Bolzano', 'A952'],
    ['Bozen', 'A952'],
    ['Bolzano/Bozen', 'A952'],
    ['bolzano - bozen', 'A952'],
    ['Voels am Schlern', 'D571'],
    ['Völs am Schlern', 'D571'],
    ['Vo\u0308ls am Schlern', 'D571'],
    ['Vols am Schlern', 'D571'],
    ['L’Aquila', 'A345'],
    ["l'aquila", 'A345'],
    ['Reggio nell`Emilia', 'H223'],
    ['  forli  ', 'D704'],
    ['h501', 'H501'],
    ['Castro (LE)', 'M261'],
    ['Urss', 'Z135'],
    ['Castelbello-Ciardes', 'C062'],
    ['Castelbello-Ciardes/Kastelbell-Tschars', 'C062'],
    ['Kastelbell-Tschars / Castelbello-Ciardes', 'C062'],
    ['Castelbello-Ciardes-Kastelbell-Tschars', 'C062'],
    ['Doberdò del Lago-Doberdob/Doberdob', 'D312'],
    ['MERANO\u2013MERAN', 'F132'],
    ['Guam', 'Z706'],
  ])('finds %s', (name, expected) => {
    expect(code(name)).toBe(expected);
  });

  it('accepts the province of the time and that of today', () => {
    expect(code('Monza', { date: '1980-01-01', province: 'MI' })).toBe('F704');
    expect(code('Monza', { date: '1980-01-01', province: 'mb' })).toBe('F704');
    expect(code('Forlì', { date: '1980-01-01', province: 'FO' })).toBe('D704');
    expect(code('Forlì', { date: '1980-01-01', province: 'FC' })).toBe('D704');
    expect(findPlace('Roma', { province: 'MI' })).toMatchObject({ ok: false, reason: 'unknown' });
  });

  it('returns the next later place when none was in force', () => {
    const found = findPlace('Verbania', { date: '1930-01-01' });
    expect(found).toMatchObject({ ok: true, place: { codiceCatastale: 'L746', wasInForce: false } });
  });

  it('lists the places of an ambiguous name', () => {
    const found = findPlace('Samone');
    expect(found).toMatchObject({ ok: false, reason: 'ambiguous' });
    expect(codesFor('Samone', {})).toEqual(['H753', 'H754']);
  });

  it('understands a bilingual name when one half is ambiguous', () => {
    // Margreid is E827, Magre until 1928, and E829; Magre without Margreid is also E828 in the province of Vicenza.
    expect(code('Magr\u00e8/Margreid', { date: '1925-01-01' })).toBe('E827');
    expect(code('Bolzano/Merano')).toBe('');
    expect(findPlace('Bolzano/Merano')).toMatchObject({ ok: false, reason: 'unknown' });
    expect(findPlace('/')).toMatchObject({ ok: false, reason: 'unknown' });
    expect(findPlace('-'.repeat(150))).toMatchObject({ ok: false, reason: 'unknown' });
  });

  it('returns, of places of a province that were not in force, the one nearest to the date', () => {
    // Tremezzina was L370 until 1947 and is M341 since 2014.
    expect(code('Tremezzina', { date: '1900-01-01' })).toBe('L370');
    expect(code('Tremezzina', { date: '1960-01-01' })).toBe('M341');
    // Vezzano in the province of Trento: L818 until 1927, L821 until 2015, when Vallelaghi took it over; in force
    // together they are ambiguous.
    const vezzano = findPlace('Vezzano', { date: '2020-01-01', province: 'TN' });
    expect(vezzano).toMatchObject({ ok: true, match: 'successor', place: { name: 'VALLELAGHI' } });
    expect(vezzano.ok && vezzano.alternatives[0]?.codiceCatastale).toBe('L821');
    expect(code('Vezzano', { date: '1925-01-01', province: 'TN' })).toBe('L818,L821');
    const sanGiacomo = findPlace('San Giacomo', { date: '1931-10-08', province: 'TN' });
    expect(sanGiacomo).toMatchObject({ ok: true, match: 'successor', place: { name: 'CALDES' } });
    expect(sanGiacomo.ok && sanGiacomo.alternatives[0]?.codiceCatastale).toBe('H869');
    // Brione in the provinces of Brescia and Trento: neither was in force in 1935.
    expect(code('Brione', { date: '1935-01-01' })).toBe('B184,B185');
  });

  it('distinguishes a missing name, an unknown province and an unknown name', () => {
    expect(findPlace(' ')).toMatchObject({ ok: false, reason: 'missing' });
    expect(findPlace('Roma', { province: 'QQ' })).toMatchObject({ ok: false, reason: 'province' });
    expect(findPlace('Roma', { province: 'ROM' })).toMatchObject({ ok: false, reason: 'province' });
    expect(findPlace('Roma2')).toMatchObject({ ok: false, reason: 'unknown' });
    expect(findPlace('Рим')).toMatchObject({ ok: false, reason: 'unknown', suggestions: [] });
  });

  it.each([
    ['Milnao', 'MILANO'],
    ['Firenzze', 'FIRENZE'],
    ['Bolgna', 'BOLOGNA'],
    ['Agrigentto', 'AGRIGENTO'],
  ])('suggests places for the typing error %s', (name, expected) => {
    const found = findPlace(name);
    expect(found.ok ? [] : found.suggestions.map((place) => place.name)).toContain(expected);
  });

  it('suggests the place of the name in another province', () => {
    const found = findPlace('Roma', { province: 'MI' });
    expect(found.ok ? [] : found.suggestions[0]).toMatchObject({ name: 'ROMA', province: 'RM' });
  });

  it('throws for an invalid date, which is misuse', () => {
    expect(() => findPlace('Roma', { date: '1990-02-30' })).toThrow(TypeError);
  });
});

describe('suggestPlaces', () => {
  const names = (typed: string, options = {}): string[] =>
    suggestPlaces(typed, options).map(({ name, province }) => `${name} ${province}`);

  it('returns the whole name first, then names that begin with it, those in force before others', () => {
    expect(names('roma', { limit: 3 })[0]).toBe('ROMA RM');
    expect(names('bolz', { limit: 2 })).toEqual(['BOLZANO BZ', 'BOLZANO VICENTINO VI']);
  });

  it.each([
    ['mil', 'MILANO MI'],
    ['tor', 'TORINO TO'],
    ['fir', 'FIRENZE FI'],
    ['fra', 'FRANCIA EE'],
  ])('returns capitals and states before smaller places that begin with %s', (typed, first) => {
    expect(names(typed)[0]).toBe(first);
  });

  it('returns a whole name before a capital that begins with it', () => {
    expect(names('ro').slice(0, 2)).toEqual(['RO FE', 'ROMA RM']);
    expect(names('san', { limit: 1 })).toEqual(['SAN MARINO EE']);
  });

  it.each([
    ['reggio em', "REGGIO NELL'EMILIA RE"],
    ['Reggio Calabria', 'REGGIO DI CALABRIA RC'],
    ['san giov rot', 'SAN GIOVANNI ROTONDO FG'],
    ['S.Angelo Lod', "SANT'ANGELO LODIGIANO LO"],
    ['s. s. giov', 'SESTO SAN GIOVANNI MI'],
    ['citta v', "STATO CITTA' DEL VATICANO EE"],
  ])('finds %s by the beginnings of several words', (typed, expected) => {
    expect(names(typed)).toContain(expected);
  });

  it('finds a place by its Belfiore code', () => {
    expect(names(' h501 ')).toEqual(['ROMA RM']);
    expect(names('A001', { date: '1900-01-01' })).toEqual(['ABANO PD']);
    expect(names('D704', { province: 'FO' })).toEqual(['FORL\u00cc FC']);
    expect(names('H501', { province: 'MI' })).toEqual([]);
    expect(names('H50')).toEqual([]);
  });

  it('requires the words in order, and each in a word of its own', () => {
    expect(names('emilia reggio')).toEqual([]);
    expect(names('rotondo rotondo')).toEqual([]);
    expect(names("- ' /")).toEqual([]);
    expect(names(`san ${'giovanni '.repeat(1000)}`)).toEqual([]);
  });

  it('finds beginnings of later words', () => {
    expect(names('aquila', { limit: 5 })).toContain("L'AQUILA AQ");
  });

  it('is limited to a province and to the given number', () => {
    const inAosta = suggestPlaces('san', { province: 'AO', limit: 50 });
    expect(inAosta.length).toBeGreaterThan(3);
    for (const { codiceCatastale } of inAosta) {
      expect(placeHistory(codiceCatastale).map(({ province }) => province)).toContain('AO');
    }
    expect(names('san')).toHaveLength(10);
    expect(names('', {})).toEqual([]);
  });

  it('shows the name of the given date', () => {
    expect(names('abano', { date: '1900-01-01', limit: 1 })).toEqual(['ABANO PD']);
    expect(names('abano', { date: '1990-01-01', limit: 1 })).toEqual(['ABANO TERME PD']);
  });
});
