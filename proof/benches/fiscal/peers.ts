import type { BenchPerson } from './people.ts';
import { peerUrl } from './workspace.ts';

/** The functions of another library. Some return promises. */
export type Peer = {
  readonly name: string;
  readonly generate: (person: BenchPerson) => string | Promise<string>;
  readonly decode: (code: string) => unknown;
  readonly check?: (code: string) => unknown;
  readonly omocodie: (code: string) => readonly string[];
};

export const CODICE_FISCALE_JS = 'codice-fiscale-js/dist/codice.fiscale.commonjs2.js';
const MARKETTO = '@marketto/codice-fiscale-utils/dist/index.js';
const MARKETTO_PLACES = '@marketto/belfiore-connector-embedded/dist/index.js';

export const loadPeers = async (): Promise<Peer[]> => [await codiceFiscaleJs(), await marketto()];

const codiceFiscaleJs = async (): Promise<Peer> => {
  const { CodiceFiscale } = await import(peerUrl(CODICE_FISCALE_JS));
  return {
    name: 'codice-fiscale-js',
    generate: ({ surname, givenName, sex, birthDate, birthplace, province }) =>
      new CodiceFiscale({
        name: givenName,
        surname,
        gender: sex,
        ...birthDate,
        birthplace,
        birthplaceProvincia: province,
      }).toString(),
    decode: (code) => CodiceFiscale.computeInverse(code),
    check: (code) => CodiceFiscale.check(code),
    omocodie: (code) => CodiceFiscale.getOmocodie(code),
  };
};

const marketto = async (): Promise<Peer> => {
  const { CodiceFiscaleUtils } = await import(peerUrl(MARKETTO));
  const { belfioreConnector } = await import(peerUrl(MARKETTO_PLACES));
  const { parser } = new CodiceFiscaleUtils(belfioreConnector);
  return {
    name: '@marketto/codice-fiscale-utils',
    generate: ({ surname, givenName, sex, birthDate: { year, month, day }, birthplace }) =>
      parser.encodeCf({
        lastName: surname,
        firstName: givenName,
        gender: sex,
        year,
        month: month - 1,
        day,
        place: birthplace,
      }),
    decode: (code) => parser.cfDecode(code),
    omocodie: (code) => Array.from({ length: 127 }, (_, form) => parser.cfOmocode(code, form + 1)),
  };
};
