import { type Static, Type } from 'typebox';
import { closedQuery, named, orNull } from './schema.ts';

/* The wire shapes of /it. Names are exactly those of the specification. */

export const PlaceRecordSchema = named('PlaceRecord', 'A place', {
  code: Type.String({ description: 'Belfiore code of the place', examples: ['H501'] }),
  belfiore_code: Type.String({
    description:
      'Belfiore code of the comune to which the place belongs today; equal to `code` while the place exists',
    examples: ['H501'],
  }),
  province: Type.String({ description: 'Province abbreviation, EE for a state', examples: ['RM'] }),
  name: Type.String({ description: 'Upper case', examples: ['ROMA'] }),
});

const IstatProvinceSchema = named('IstatProvince', 'The province of a comune of Sardinia as ISTAT has it', {
  abbreviation: Type.String({ description: 'Two letters', examples: ['OT'] }),
  name: Type.String({ description: 'Name in Italian', examples: ['Gallura Nord-Est Sardegna'] }),
  from: Type.String({ description: 'First day', examples: ['2026-01-01'] }),
});

/** A place record with its dates. */
export const PlacePeriodSchema = named('PlacePeriod', 'A place with its dates', {
  ...PlaceRecordSchema.properties,
  from: orNull(
    Type.String({ examples: ['1884-09-11'] }),
    'First day of the name in the province; null if no register has it',
  ),
  to: orNull(Type.String(), 'Last day; null while in force, or if no register has it'),
  current: Type.Boolean({ description: 'Whether the name is in force today' }),
  istatProvince: Type.Optional(
    orNull(
      IstatProvinceSchema,
      'Only in lists with details=true: the province of ISTAT, where it is not that of ANPR, which `province` has',
    ),
  ),
});

export const PlaceListSchema = Type.Array(PlacePeriodSchema);

export const FoundPlaceListSchema = Type.Array(
  named('FoundPlace', 'A place with its history', {
    ...PlacePeriodSchema.properties,
    history: Type.Array(
      Type.Object({
        ...PlacePeriodSchema.properties,
        source: Type.Enum(['ministero-interno', 'codice-fiscale-js'], {
          description: 'Source of the record',
        }),
      }),
      { description: 'Its names and provinces over time, oldest first' },
    ),
    successors: Type.Array(
      Type.Object({
        code: Type.String({ description: 'Belfiore code', examples: ['L736'] }),
        province: Type.String({ description: 'Province abbreviation', examples: ['VE'] }),
        name: Type.String({ description: 'Upper case', examples: ['VENEZIA'] }),
        source: Type.Enum(['istat', 'istat-same-code', 'istat-seat', 'istat-divided', 'by-hand'], {
          description: 'Source of the succession',
        }),
      }),
      { description: 'Its successors in turn, or all places among which it was divided' },
    ),
    frazioni: Type.Array(Type.String({ examples: ['PORTO ERCOLE'] }), {
      description:
        'For a postal code: the frazioni that have it, if the rest of the comune has another one. No frazione is a birthplace',
    }),
  }),
);

export const RegionSchema = named('Region', 'A region with its provinces', {
  name: Type.String({ description: 'Name in Italian', examples: ['Lazio'] }),
  provinces: Type.Array(
    named('Province', 'A province', {
      name: Type.String({ description: 'Name in Italian', examples: ['Roma'] }),
      abbreviation: Type.String({ description: 'Two letters', examples: ['RM'] }),
    }),
    { description: 'Its provinces' },
  ),
});

export const RegionListSchema = Type.Array(RegionSchema);

export const CapListSchema = Type.Array(Type.Integer({ examples: [118] }), {
  description: 'Postal codes as integers: 00118 is 118',
});

const DatedCapsSchema = named('DatedCaps', 'With details=true', {
  place: PlaceRecordSchema,
  caps: Type.Array(Type.String({ examples: ['00118'] }), { description: 'Five digits each, in order' }),
  asOf: Type.String({ description: 'Year and month of the codes', examples: ['2026-11'] }),
  replacedBy: orNull(
    Type.String(),
    'The code that will replace the others of this comune; null for nearly all comuni',
  ),
  frazioni: Type.Array(
    Type.Object({
      cap: Type.String({ description: 'Postal code', examples: ['58018'] }),
      names: Type.Array(Type.String({ examples: ['PORTO ERCOLE'] }), { description: 'Its frazioni' }),
    }),
    { description: 'The frazioni of codes that only frazioni have, as far as they are known' },
  ),
});

export const CapsResponseSchema = Type.Union([CapListSchema, DatedCapsSchema]);

export type DatedCaps = Static<typeof DatedCapsSchema>;
export type PlaceRecord = Static<typeof PlaceRecordSchema>;
export type PlacePeriod = Static<typeof PlacePeriodSchema>;
export type FoundPlace = Static<typeof FoundPlaceListSchema>[number];
export type Region = Static<typeof RegionSchema>;

const provinceAbbreviation = Type.String({
  description: 'Two letters, of a current or former province, or one of ISTAT; EE for states',
  examples: ['RM'],
});

export const ProvinceParams = Type.Object({ province_abbreviation: provinceAbbreviation });

export const CityParams = Type.Object({
  province_abbreviation: provinceAbbreviation,
  city_name: Type.String({
    description: 'Case, accents and apostrophes are ignored; former names and Belfiore codes are accepted',
    examples: ['Roma'],
  }),
});

const date = Type.Optional(
  Type.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}$',
    description: 'Only places in force on this day, YYYY-MM-DD',
    examples: ['1970-01-01'],
  }),
);

const numberText = (description: string) =>
  Type.Optional(Type.String({ pattern: '^\\d{1,5}$', description }));

const placeDetails = Type.Optional(
  Type.Enum(['true', 'false'], { description: 'Return the province of ISTAT too, where it differs' }),
);

export const CitiesQuery = closedQuery({
  details: placeDetails,
  current: Type.Optional(
    Type.Enum(['true', 'false'], {
      description: 'Only names that are in force today (true), or former ones (false)',
    }),
  ),
  date,
  q: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'Only places with a name, in any language, that begins with this; case and accents are ignored',
    }),
  ),
  limit: numberText('Maximum number of records; the header Link has the address of the next ones'),
  offset: numberText('Number of records to skip'),
});

export const CapsQuery = closedQuery({
  details: Type.Optional(
    Type.Enum(['true', 'false'], {
      description: 'Return an object with the place, its codes as text, their month and their replacement',
    }),
  ),
});

export const PlacesQuery = closedQuery({
  q: Type.String({
    maxLength: 100,
    description: 'Part of a name, a Belfiore code, or a present or recent postal code',
    examples: ['san giu'],
  }),
  province: Type.Optional(provinceAbbreviation),
  date,
  details: placeDetails,
  limit: numberText('Maximum number of places, at most 100 (default 10)'),
});
