import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  caps,
  cities,
  dataSources,
  findPlace,
  istatProvince,
  placeHistory,
  placesOfCap,
  provinces,
  regions,
  searchPlaces,
  suggestPlaces,
} from '../../src/fiscal/index.ts';
import { rows } from './people.ts';

const places = rows('places.csv');

describe('regions and provinces', () => {
  it('are those of the source', () => {
    const source = JSON.parse(readFileSync(new URL('../../data/regions.json', import.meta.url), 'utf8')) as {
      name: string;
      provinces: { name: string; abbreviation: string }[];
    }[];
    expect(regions()).toEqual(
      source.map(({ name, provinces: all }) => ({
        name,
        provinces: all.map((province) => ({ name: province.name, abbreviation: province.abbreviation })),
      })),
    );
    expect(regions()).toHaveLength(20);
  });

  it('give each province its capital', () => {
    const all = provinces();
    expect(all).toHaveLength(107);
    const capital = (province: string): string | undefined =>
      all.find((place) => place.province === province)?.name;
    const decided = {
      VB: 'VERBANIA',
      MB: 'MONZA',
      BT: 'BARLETTA',
      SU: 'CARBONIA',
      FC: 'FORL\u00cc',
      PU: 'PESARO',
    };
    for (const [province, name] of Object.entries({ ...decided, MS: 'MASSA', AO: 'AOSTA', RM: 'ROMA' })) {
      expect([province, capital(province)]).toEqual([province, name]);
    }
    expect(
      all.every(
        ({ isCurrent, codiceCatastale, codiceCatastaleToday }) =>
          isCurrent && codiceCatastale === codiceCatastaleToday,
      ),
    ).toBe(true);
    expect(all.map(({ province }) => province)).toEqual(
      regions().flatMap((region) => region.provinces.map(({ abbreviation }) => abbreviation)),
    );
  });
});

describe('cities', () => {
  it('lists every name that a province ever had', () => {
    for (const province of new Set(places.map((row) => row.province ?? ''))) {
      const all = cities(province).filter((place) => place.province === province);
      const listed = new Set(all.map(({ codiceCatastale, name }) => `${codiceCatastale} ${name}`));
      const dated = places
        .filter((row) => row.province === province)
        .map(({ code, name }) => `${code} ${name}`);
      const undated = rows('places-undated.csv')
        .filter((row) => row.province === province)
        .map(({ code, name }) => `${code} ${name}`);
      expect(listed).toEqual(new Set([...dated, ...undated]));
      expect(all).toHaveLength(listed.size);
    }
  });

  it('returns the code of the place that holds it today', () => {
    const successors = new Map<string | undefined, string | undefined>([
      ...places.map(({ code, successor_code: successor }) => [code, successor] as const),
      ...rows('places-undated.csv').map(({ code, successor_code: successor }) => [code, successor] as const),
      // Undated states that became or joined another state in a known year.
      ...rows('twins.csv')
        .filter(
          ({ resolution = '' }) => /(till|since) \d{4}/.test(resolution) && !resolution.includes('still'),
        )
        .map(({ code, twin_code: successor }) => [code, successor] as const),
    ]);
    for (const province of ['CO', 'FO', 'PS', 'EE', 'TN']) {
      for (const { codiceCatastale, codiceCatastaleToday } of cities(province)) {
        expect(codiceCatastaleToday).toBe(successors.get(codiceCatastale) || codiceCatastale);
      }
    }
  });

  it('is in the order of codes, and empty for an unknown province', () => {
    const codes = cities('pd').map(({ codiceCatastale }) => codiceCatastale);
    expect(codes).toEqual(codes.toSorted());
    expect(cities('PD')).toContainEqual({
      codiceCatastale: 'A001',
      codiceCatastaleToday: 'A001',
      name: 'ABANO',
      province: 'PD',
      validFrom: '1866-11-19',
      validTo: '1924-11-13',
      isCurrent: false,
    });
    expect(cities('QQ')).toEqual([]);
    expect(cities('')).toEqual([]);
  });
});

describe('the provinces of Sardinia by ISTAT', () => {
  const sardinia = rows('sardinia-istat-2026.csv');
  const today = new Map(
    rows('places.csv')
      .filter(({ valid_to }) => valid_to === '')
      .map((row) => [row.code, row]),
  );

  it('are accepted beside those of ANPR for each comune', () => {
    expect(sardinia).toHaveLength(377);
    const refused = sardinia.filter(({ code = '', name = '', abbreviation = '' }) => {
      const provinces = [abbreviation, today.get(code)?.province ?? ''];
      return provinces.some((province) => {
        const found = findPlace(today.get(code)?.name ?? name, { province });
        return (
          !found.ok ||
          found.place.codiceCatastale !== code ||
          found.place.province !== today.get(code)?.province
        );
      });
    });
    expect(refused.map(({ name }) => name)).toEqual([]);
    expect(findPlace('Teulada', { province: 'VS' })).toMatchObject({ ok: false });
  });

  it('are known where they differ, with their first day', () => {
    const expected = sardinia.map(({ code = '', unit: name, abbreviation }) =>
      today.get(code)?.province === abbreviation ? null : { abbreviation, name, validFrom: '2026-01-01' },
    );
    expect(sardinia.map(({ code = '' }) => istatProvince(code))).toEqual(expected);
    expect([istatProvince('L154')?.abbreviation, istatProvince('I707')?.abbreviation]).toEqual(['CI', 'NU']);
    expect([istatProvince('D968')?.abbreviation, istatProvince('H501'), istatProvince('x')]).toEqual([
      'CA',
      null,
      null,
    ]);
  });

  it.each([
    ['OT', 26, 'SS'],
    ['OG', 23, 'NU SU'],
    ['CI', 24, 'SU'],
    ['VS', 28, 'SU'],
  ])('list the comuni of %s that are in force, as ANPR has them', (province, count, shown) => {
    const current = cities(province).filter(({ isCurrent }) => isCurrent);
    expect(current).toHaveLength(count);
    expect([...new Set(current.map((place) => place.province))].sort().join(' ')).toBe(shown);
    // Those of the province of 2005 to 2016 are still there.
    expect(cities(province).some((place) => place.province === province)).toBe(true);
  });

  it('change nothing in the lists of provinces that ANPR has today', () => {
    const others = ['CA', 'NU', 'OR', 'SS', 'SU'].flatMap((province) =>
      cities(province).filter((place) => place.province !== province),
    );
    expect(others).toEqual([]);
  });

  it('select places while somebody types', () => {
    const found = (typed: string, province: string) =>
      suggestPlaces(typed, { province }).map(({ codiceCatastale }) => codiceCatastale);
    expect([found('teul', 'CI'), found('L154', 'CI'), found('teul', 'OT')]).toEqual([['L154'], ['L154'], []]);
    expect(caps('CI', 'Teulada')).toMatchObject({ ok: true, caps: ['09019'] });
  });
});

describe('caps', () => {
  it('are those of the source for each comune of today', () => {
    const source = new Map<string, string[]>();
    const ofFrazioni = rows('caps_frazioni.csv').filter(({ doubt }) => doubt === '');
    for (const { code = '', cap = '' } of [...rows('caps.csv'), ...ofFrazioni])
      source.set(code, [...(source.get(code) ?? []), cap]);
    const current = places.filter(({ kind, valid_to: to }) => kind === 'comune' && to === '');
    expect(current).toHaveLength(7894);
    for (const { code = '', name = '', province = '' } of current) {
      const result = caps(province, name);
      expect([code, result.ok && result.caps]).toEqual([code, source.get(code)?.toSorted()]);
    }
  });

  it('follow successors', () => {
    expect(caps('CO', 'Abbadia sopra Adda')).toMatchObject({
      ok: true,
      place: { codiceCatastale: 'A005', province: 'LC' },
    });
  });

  it('follow a comune that became part of a city', () => {
    expect(caps('VE', 'Mestre')).toMatchObject({ ok: true, place: { name: 'VENEZIA' } });
  });

  it('keep the leading zeros of Rome', () => {
    const rome = caps('RM', 'Roma');
    expect(rome.ok && rome.caps).toHaveLength(73);
    expect(rome.ok && rome.caps).toContain('00118');
  });

  it('do not exist for a state, an unknown place, or a place with an unknown successor', () => {
    expect(caps('EE', 'Francia')).toMatchObject({ ok: false, reason: 'no-caps' });
    expect(caps('RM', 'Atlantide')).toMatchObject({ ok: false, reason: 'unknown' });
    expect(caps('QQ', 'Roma')).toMatchObject({ ok: false, reason: 'province' });
    // Albanova was divided between two comuni.
    expect(caps('CE', 'Albanova')).toMatchObject({ ok: false, reason: 'no-caps' });
  });
});

describe('postal codes of frazioni', () => {
  const doubtful = rows('caps_frazioni.csv').filter(({ doubt }) => doubt !== '');

  it('leave no code in use without a comune, except for those that are doubtful', () => {
    const inUse = rows('caps-in-use.csv').flatMap(({ prefix, ends = '' }) =>
      ends.split(' ').map((end) => `${prefix}${end}`),
    );
    expect(inUse.length).toBeGreaterThan(4700);
    const orphans = inUse.filter((cap) => !placesOfCap(cap).some(({ isCurrent }) => isCurrent));
    // Each would be a code of a comune that merged, or of one that is not settled.
    expect(orphans).toEqual(doubtful.map(({ cap }) => cap));
  });

  it('belong to their comune, and name the frazioni', () => {
    expect(caps('LU', 'Capannori')).toMatchObject({
      caps: ['55010', '55012', '55013', '55014', '55018', '55060', '55061', '55062'],
      frazioni: expect.arrayContaining([{ cap: '55013', names: ['LAMMARI'] }]),
    });
    expect(caps('RM', 'Roma')).toMatchObject({ frazioni: [] });
    expect(placesOfCap('58018')).toMatchObject([
      { codiceCatastale: 'F437', isCurrent: true, frazioni: ['PORTO ERCOLE'] },
    ]);
    expect(placesOfCap('52020').map(({ codiceCatastale }) => codiceCatastale)).toEqual(['M322', 'M392']);
    expect(placesOfCap('58019')).toMatchObject([{ frazioni: [] }]);
  });

  it('are found by a search, which shows the frazioni; no frazione is a birthplace', () => {
    expect(searchPlaces('58018')).toMatchObject([
      { place: { name: 'MONTE ARGENTARIO' }, frazioni: ['PORTO ERCOLE'] },
    ]);
    expect(searchPlaces('roma')[0]?.frazioni).toEqual([]);
    expect(findPlace('Porto Ercole')).toMatchObject({ ok: false });
  });
});

describe('postal codes with their dates', () => {
  it('say when they were compiled and which one will replace the others', () => {
    expect(caps('MI', 'Assago')).toMatchObject({ caps: ['20057'], asOf: '2026-11', replacedBy: null });
    expect(caps('SU', 'Decimoputzu')).toMatchObject({ caps: ['09001', '09010'], replacedBy: '09001' });
  });

  it('lead back to the comuni that have them, or had them until a few years ago', () => {
    expect(placesOfCap('00118')).toMatchObject([{ name: 'ROMA', isCurrent: true }]);
    expect(placesOfCap('20057')).toMatchObject([{ name: 'ASSAGO', isCurrent: true }]);
    expect(placesOfCap('20090')).toContainEqual(
      expect.objectContaining({ name: 'ASSAGO', isCurrent: false, asOf: '2026-11' }),
    );
    expect(placesOfCap('99999')).toEqual([]);
    expect(placesOfCap('118')).toEqual([]);
  });
});

describe('placeHistory', () => {
  it('is empty for an unknown code', () => {
    expect(placeHistory('M999')).toEqual([]);
    expect(placeHistory('J123')).toEqual([]);
    expect(placeHistory('a001').map(({ name }) => name)).toEqual(['ABANO', 'ABANO TERME']);
  });
});

describe('dataSources', () => {
  it('names version, licences and notices', () => {
    const { version, fingerprint, notice, capsNotice, sources } = dataSources();
    expect(version).toBe('2026-11');
    expect(fingerprint).toMatch(/^[0-9a-f]{16}$/);
    expect(readFileSync(new URL('../../NOTICE', import.meta.url), 'utf8')).toContain(notice);
    expect(capsNotice).toContain('2019');
    expect(sources.length).toBeGreaterThan(4);
  });
});
