import { type Static, Type } from 'typebox';

/* The wire shapes of /it. Names are the specification's, to the letter. */

export const PlaceRecordSchema = Type.Object(
  {
    code: Type.String({ description: 'Belfiore code of the place', examples: ['H501'] }),
    belfiore_code: Type.String({
      description: 'Belfiore code of the comune that holds the place today; `code` while the place exists',
      examples: ['H501'],
    }),
    province: Type.String({ description: 'Province abbreviation, EE for a state', examples: ['RM'] }),
    name: Type.String({ description: 'Upper case', examples: ['ROMA'] }),
  },
  { $id: 'PlaceRecord' },
);

export const PlaceListSchema = Type.Array(PlaceRecordSchema);

export const RegionSchema = Type.Object(
  {
    name: Type.String({ examples: ['Lazio'] }),
    provinces: Type.Array(
      Type.Object(
        {
          name: Type.String({ examples: ['Roma'] }),
          abbreviation: Type.String({ description: 'Two letters', examples: ['RM'] }),
        },
        { $id: 'Province' },
      ),
    ),
  },
  { $id: 'Region' },
);

export const RegionListSchema = Type.Array(RegionSchema);

export const CapListSchema = Type.Array(Type.Integer({ examples: [118] }), {
  description: 'Postal codes as integers: 00118 is 118',
});

export type PlaceRecord = Static<typeof PlaceRecordSchema>;
export type Region = Static<typeof RegionSchema>;

const provinceAbbreviation = Type.String({
  description: 'Two letters, of a province of today or of the past; EE for states',
  examples: ['RM'],
});

export const ProvinceParams = Type.Object({ province_abbreviation: provinceAbbreviation });

export const CityParams = Type.Object({
  province_abbreviation: provinceAbbreviation,
  city_name: Type.String({
    description: 'Case, accents and apostrophes do not count; former names and Belfiore codes do',
    examples: ['Roma'],
  }),
});
