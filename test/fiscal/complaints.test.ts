import { describe, expect, it } from 'vitest';
import { cities, findPlace, generate, type Person, regions, suggestPlaces } from '../../src/fiscal/index.ts';
import { asOf, rows } from './people.ts';

/* Common complaints about fiscal code libraries, one a line. */

const locate = (name: string, province?: string, date?: string): string => {
  const found = findPlace(name, { province, date });
  if (found.ok) return found.place.codiceCatastale;
  return [found.reason, ...found.candidates.map(({ codiceCatastale }) => codiceCatastale)].join(' ');
};

const mario: Person = {
  surname: 'Rossi',
  givenName: 'Mario',
  sex: 'M',
  birthDate: '1980-01-01',
  birthplace: 'Roma',
};

describe('a state that is spelt in two ways', () => {
  it.each(['Kazakistan', 'Kazakhstan', 'KAZAKHISTAN', 'Kazachistan'])(
    'finds the state of today for %s, at any time when people were born there',
    (name) => {
      for (const date of ['1985-05-05', '1992-05-05', '2005-05-05', '2020-05-05']) {
        expect(locate(name, 'EE', date)).toBe('Z255');
      }
    },
  );

  it.each([
    ['Vietnam del Sud', '1970-01-01', 'Z244'],
    ['Vietnam del Sud', '1990-01-01', 'Z251'],
    ['Zanzibar', '1990-01-01', 'Z357'],
    ['Guayana', '1990-01-01', 'unknown'],
    ['Macao', '2010-01-01', 'Z231'],
  ])('finds %s at %s as %s', (name, date, code) => {
    expect(locate(name, 'EE', date)).toBe(code);
  });
});

describe('a place whose name another place had', () => {
  it.each([
    ['Fiume', 'ambiguous D621 D620'],
    ['Bassano', 'ambiguous A703 L914'],
    ['Capriva', 'ambiguous B712 B713'],
    ['Castello', 'ambiguous C183 C182'],
    ['San Leucio', 'ambiguous H953 H954'],
  ])('lists both places for %s in 1960', (name, expected) => {
    expect(locate(name, undefined, '1960-01-01').split(' ').slice(0, 3).join(' ')).toBe(expected);
  });

  it('needs the province to choose', () => {
    expect(locate('Fiume', 'PN', '1970-01-01')).toBe('D621');
    expect(locate('Fiume', 'FU', '1940-01-01')).toBe('D620');
  });
});

describe('an ended place', () => {
  it('leads to its successor, with a warning', () => {
    expect(locate('Mestre', 'VE', '1970-01-01')).toBe('L736');
    const result = generate({ ...mario, birthplace: 'Mestre', birthDate: '1970-01-01' }, { asOf });
    expect(result).toMatchObject({ ok: true, warnings: ['place-ended'], birthplace: { name: 'VENEZIA' } });
    expect(findPlace('Mestre', { date: '1970-01-01' })).toMatchObject({
      match: 'successor',
      alternatives: [{ codiceCatastale: 'F159' }],
    });
  });

  it('is refused when strict', () => {
    const result = generate(
      { ...mario, birthplace: 'Mestre', birthDate: '1970-01-01' },
      { asOf, strict: true },
    );
    expect(result).toMatchObject({ ok: false, faults: [{ field: 'birthplace', reason: 'not-in-force' }] });
  });

  it('is itself on dates when it was in force, and by its code', () => {
    expect(locate('Mestre', 'VE', '1920-01-01')).toBe('F159');
    expect(locate('F159', 'VE', '1970-01-01')).toBe('F159');
  });

  it('leads to the successor of the time, which may have ended since', () => {
    // Agrone became part of Pieve di Bono in 1928, which became part of Pieve di Bono-Prezzo in 2016.
    expect(locate('Agrone', 'TN', '1970-01-01')).toBe('G641');
    expect(locate('Agrone', 'TN', '2020-01-01')).toBe('M365');
    // Aiba became part of Canale d'Isonzo, which was ceded in 1947.
    expect(locate('Aiba', undefined, '1930-01-01')).toBe('B575');
  });

  it('leads to its successor even if only the day of its end is known', () => {
    expect(locate('Acqua', 'SO', '1950-01-01')).toBe('L392');
  });
});

describe('names as people write them', () => {
  it.each([
    ['S. Giovanni Rotondo', 'H926'],
    ['S.Giovanni Rotondo', 'H926'],
    ['S Giovanni Rotondo', 'H926'],
    ['S. Angelo Lodigiano', 'I274'],
    ['S.ta Maria Capua Vetere', 'I234'],
    ['Sta Margherita Ligure', 'I225'],
    ['S.to Stefano Belbo', 'I367'],
    ['Sto Stefano Belbo', 'I367'],
    ["S. Agata de' Goti", 'I197'],
    ['Monte S. Angelo', 'F631'],
    ['SS. Cosma e Damiano', 'I339'],
    ['St. Leonhard in Passeier', 'H952'],
    ['Sankt Leonhard in Passeier', 'H952'],
    ['St. Vincent (AO)', 'H676'],
    ['St. Christophe (AO)', 'H669'],
    ['Eppan a.d. Weinstr.', 'A332'],
    ['Eppan a. d. W.', 'A332'],
    ['Appiano sulla str. del vino', 'A332'],
    ['Appiano s.s.d.v.', 'A332'],
    ['Reggio Calabria', 'H224'],
    ['Reggio Emilia', 'H223'],
    ['San Giorgio Cremano', 'H892'],
    ['Cernusco s/N.', 'C523'],
    ['Cernusco s/Naviglio', 'C523'],
    ['Ex Jugoslavia', 'Z118'],
    ['Repubblica di Cuba', 'Z504'],
    ['Repubblica Ceca', 'Z156'],
    ['Cuba (Repubblica)', 'Z504'],
    ['Rep. Dominicana', 'Z505'],
    ['Isole Marshall', 'Z711'],
    ['Marshall (Isole)', 'Z711'],
    ['Regno di Danimarca', 'Z107'],
    ['Principato di Andorra', 'Z101'],
    ['Repubblica Slovacca', 'Z155'],
    ['Bolzano (Bozen)', 'A952'],
    ['Bozen - Bolzano', 'A952'],
    ['Castro (LE)', 'M261'],
    ['S. Giovanni Rotondo (FG)', 'H926'],
    // The province behind the name, as tables write it.
    ['Morlupo RM', 'F734'],
    ['morlupo rm', 'F734'],
    ['Morlupo - RM', 'F734'],
    ['Roma - RM', 'H501'],
    ['Roma-RM', 'H501'],
    ['Roma/RM', 'H501'],
    ['Roma, RM', 'H501'],
    ['Roma [RM]', 'H501'],
    ['Roma(RM)', 'H501'],
    ['Castro LE', 'M261'],
    // Not Camerino: the two letters stand alone.
    ['Cameri NO', 'B473'],
    ['Camerino', 'B474'],
    ['Cameri no', 'B473'],
    ['Francia EE', 'Z110'],
    ['Francia - EE', 'Z110'],
    ['Reggio Emilia RE', 'H223'],
    ['Reggio Emilia (RE)', 'H223'],
    ['S. Giovanni Rotondo FG', 'H926'],
    ['Bolzano/Bozen BZ', 'A952'],
    ['Bolzano/Bozen (BZ)', 'A952'],
    ['Bolzano (Bozen) (BZ)', 'A952'],
    // The country behind the name.
    ['Milano, Italia', 'F205'],
    ['Milano, Italy', 'F205'],
    ['Milano (Italien)', 'F205'],
    ['Roma, IT', 'H501'],
    ['Torino (TO), Italy', 'L219'],
    ['Napoli - NA - ITALIA', 'F839'],
    ['S. Giovanni Rotondo, Italia', 'H926'],
    ["Campione d'Italia", 'B513'],
    ['Campione Italia', 'B513'],
    // Cut off by the width of a column.
    ['CALDARO SULLA STRADA DEL', 'B397'],
    ["MAGRE' SULLA STRADA DEL V", 'E829'],
    ['San Giovanni in Persic', 'G467'],
    // I and J in old spellings.
    ['Baiardo', 'A581'],
    ['Baiardo IM', 'A581'],
    ['Iesi', 'E388'],
    ['Ierzu', 'E387'],
    ['Rajano', 'H166'],
    ['Iolanda di Savoia', 'E320'],
    ['Ajello Calabro', 'A102'],
    ['S. Giorgio di Nogaro', 'H895'],
  ])('finds %s', (name, code) => {
    expect(locate(name)).toBe(code);
  });

  it('finds each state by its names in tables of ANPR, the tax office and ISTAT', () => {
    const names = rows('state-names.csv');
    expect(names.length).toBeGreaterThan(250);
    const lost = names.filter(({ code, name = '' }) => {
      const found = findPlace(name, { province: 'EE' });
      if (!found.ok) return true;
      const named = found.match === 'successor' ? found.alternatives[0] : found.place;
      return named?.codiceCatastale !== code;
    });
    expect(lost.map(({ code, name }) => `${code} ${name}`)).toEqual([]);
  });

  it('does not take one state for another whose name is a part of its own', () => {
    expect(locate('Repubblica Democratica del Congo', 'EE')).toBe('Z312');
    expect(locate('Democratic Republic of Congo', 'EE')).not.toBe('Z311');
    expect(locate('Francia / Spagna', 'EE')).toBe('unknown');
    expect(locate('Francia o Spagna', 'EE')).toBe('unknown');
  });

  it('finds each name with J also with I', () => {
    const names = rows('places.csv')
      .map(({ name = '' }) => name)
      .filter((name) => name.includes('J'));
    expect(names.length).toBeGreaterThan(30);
    const lost = names.filter((name) => {
      const [as, written] = [findPlace(name), findPlace(name.replaceAll('J', 'I'))];
      return as.ok && !(written.ok && written.place.codiceCatastale === as.place.codiceCatastale);
    });
    expect(lost).toEqual([]);
  });

  it('finds each comune of today with its province behind the name', () => {
    const lost = regions()
      .flatMap(({ provinces }) => provinces.map(({ abbreviation }) => abbreviation))
      .flatMap((province) => cities(province).filter(({ isCurrent }) => isCurrent))
      .filter(({ name, province, codiceCatastale }) => {
        const found = [`${name} ${province}`, `${name} - ${province}`].map((text) => findPlace(text));
        return found.some((each) => !each.ok || each.place.codiceCatastale !== codiceCatastale);
      });
    expect(lost.map(({ name, province }) => `${name} ${province}`)).toEqual([]);
  });

  it('finds no other place for the name of a comune that is cut off', () => {
    const current = regions()
      .flatMap(({ provinces }) => provinces.flatMap(({ abbreviation }) => cities(abbreviation)))
      .filter(({ isCurrent }) => isCurrent);
    const cut = [20, 25].flatMap((width) =>
      current
        .filter(({ name }) => name.length > width)
        .map((place) => ({ ...place, cut: place.name.slice(0, width) })),
    );
    expect(cut.length).toBeGreaterThan(500);
    const wrong = cut.filter(({ cut: name, codiceCatastale }) => {
      const found = findPlace(name);
      return found.ok && found.place.codiceCatastale !== codiceCatastale;
    });
    expect(wrong.map(({ cut: name }) => `${name}: ${locate(name)}`)).toEqual([]);
    expect(locate('San Giovanni in Pe')).toBe('unknown');
  });

  it('does not take two letters of a name for a province, nor another province than the one that is given', () => {
    expect(locate('Roma RM', 'RM')).toBe('H501');
    expect(locate('Roma RM', 'MI')).toBe('unknown');
    expect(locate('Roma ZZ')).toBe('unknown');
    expect(findPlace('Roma MI')).toMatchObject({
      ok: false,
      hint: 'other-province',
      suggestions: [{ codiceCatastale: 'H501' }],
    });
  });

  it('searches for a name with its province behind it while somebody types', () => {
    const find = (typed: string, province?: string): readonly string[] =>
      suggestPlaces(typed, { province, limit: 3 }).map((place) => place.codiceCatastale);
    expect(find('Morlupo RM')).toEqual(['F734']);
    expect(find('Castro - LE')).toEqual(['M261']);
    expect(find('Baiardo (IM)')).toEqual(['A581']);
    expect(find('Morlupo RM', 'MI')).toEqual([]);
    // Two letters that begin a word of a name are letters of the name.
    expect(find('Reggio em')).toEqual(['H223']);
  });

  it('does not guess between two places that differ only by small words', () => {
    expect(locate('Salle', 'PE')).toBe('H715');
    expect(locate('La Salle')).toBe('E458');
  });
});

describe('the suggestions for an unknown place', () => {
  const first = (typed: string): string => suggestPlaces(typed)[0]?.name ?? '';
  const suggested = (name: string, province?: string) => {
    const found = findPlace(name, { province });
    return found.ok ? [] : [found.hint, ...found.suggestions.map((place) => place.name)];
  };

  it('are ordered by exactness, then what is in force, then residents', () => {
    expect(first('deso')).toBe('DESIO');
    expect(first('cast')).toBe('CASTELLAMMARE DI STABIA');
    expect(first('san giu')).toBe('SAN GIULIANO MILANESE');
    expect(suggestPlaces('mont').map(({ name }) => name)).not.toContain('VIBO VALENTIA');
  });

  it('name the province of the place', () => {
    expect(suggested('Roma', 'MI')).toEqual(['other-province', 'ROMA']);
  });

  it('name the state of a foreign city', () => {
    expect(suggested('Parigi', 'EE')).toEqual(['foreign-city', 'FRANCIA']);
    expect(suggested('New York')).toEqual(['foreign-city', "STATI UNITI D'AMERICA"]);
    expect(suggested('Lens, Francia')).toEqual(['foreign-city', 'FRANCIA']);
    expect(suggested('Zurigo (Svizzera)', 'EE')).toEqual(['foreign-city', 'SVIZZERA']);
    expect(suggested('Londra (GB)')).toEqual(['foreign-city', 'REGNO UNITO']);
    expect(suggested('Milano, Italia', 'EE')).toEqual(['other-province', 'MILANO']);
  });

  it('never throw for a province that is no text', () => {
    for (const province of [7, [], {}, true, null] as never[])
      expect(findPlace('Atlantide', { province })).toMatchObject({ ok: false, reason: 'unknown' });
  });

  it('are only states for a birth abroad', () => {
    for (const name of ['Bersey', 'Romma', 'Frnacia', 'Portogalo', 'Atlantide']) {
      const found = findPlace(name, { province: 'EE' });
      const kinds = found.ok ? [] : found.suggestions.map(({ kind }) => kind);
      expect([name, ...new Set(kinds)]).toEqual(kinds.length === 0 ? [name] : [name, 'stato']);
    }
  });

  it.each([
    ['Jersey', 'Z124'],
    ['Jersey (EE)', 'Z124'],
    ['Baliato di Jersey', 'Z124'],
    ['Isola di Sint Maarten', 'Z501'],
    ['Saint Martin (Isola)', 'Z508'],
    ['Guernsey', 'Z124'],
    ['Curaçao', 'Z501'],
    ['Sint Maarten', 'Z501'],
    ['Saint-Martin', 'Z508'],
    ['Saint-Barthélemy', 'Z508'],
  ])('say that %s has no code of its own, and which one the tax office has used', (name, code) => {
    for (const province of ['EE', '']) {
      expect(findPlace(name, { province })).toMatchObject({
        ...{ ok: false, reason: 'unknown', hint: 'territory' },
        suggestions: [{ codiceCatastale: code }],
      });
    }
    const born = generate({ ...mario, birthplace: name, province: 'EE' }, { asOf });
    expect(born).toMatchObject({
      faults: [{ field: 'birthplace', message: expect.stringMatching(`no code of its own.*${code}`) }],
    });
  });

  it('allow a typing error in three letters when the province is given', () => {
    expect(suggested('Rma', 'RM').slice(0, 2)).toEqual(['similar', 'ROMA']);
  });
});

describe('a run over many people', () => {
  it('can leave out suggestions', () => {
    const result = generate({ ...mario, birthplace: 'Rmoa' }, { asOf, suggest: false });
    expect(result).toMatchObject({ ok: false, faults: [{ reason: 'unknown', suggestions: [] }] });
  });

  it('returns the places of an ambiguous name also without suggestions', () => {
    const result = generate({ ...mario, birthplace: 'Castro', province: '' }, { asOf, suggest: false });
    const names = [{ province: 'BG' }, { province: 'LE' }];
    expect(result).toMatchObject({ faults: [{ reason: 'ambiguous', candidates: names }] });
  });

  it('recognises another province and a foreign city also without suggestions, at little cost', () => {
    const inMilan = generate({ ...mario, birthplace: 'Roma', province: 'MI' }, { asOf, suggest: false });
    expect(inMilan).toMatchObject({
      faults: [
        { reason: 'unknown', hint: 'other-province', suggestions: [{ name: 'ROMA', province: 'RM' }] },
      ],
    });
    const abroad = generate({ ...mario, birthplace: 'Parigi', province: 'EE' }, { asOf, suggest: false });
    expect(abroad).toMatchObject({ faults: [{ hint: 'foreign-city', suggestions: [{ name: 'FRANCIA' }] }] });
  });
});

describe('invalid arguments', () => {
  it('are accepted or refused as documented', () => {
    const filterNothing = findPlace('Roma', null);
    expect(filterNothing).toMatchObject({ ok: true });
    const symbol: unknown = Symbol('Roma');
    expect(Reflect.apply(suggestPlaces, undefined, [symbol])).toEqual([]);
    expect(Reflect.apply(suggestPlaces, undefined, ['roma', null])[0]).toMatchObject({ name: 'ROMA' });
    expect(Reflect.apply(findPlace, undefined, [symbol])).toMatchObject({ ok: false, reason: 'missing' });
  });
});
