import type { IncomingHttpHeaders } from 'node:http';
import type { Language } from '../../fiscal/index.ts';

type FiscalTexts = {
  readonly invalidPerson: (faults: string) => string;
  readonly bodyIsNoObject: string;
  readonly codeIsNoText: string;
  readonly unknownProvince: string;
  readonly ambiguousCity: string;
  readonly unknownCity: string;
  readonly noPostalCodes: string;
  readonly noSuchDate: string;
  readonly dateFormat: string;
};

/**
 * The message for an invalid code. The specification fixes it, so that it is the same for every language: callers compare it.
 * The faults and the errors of fields, which the specification does not have, are in the caller's language.
 */
export const INVALID_CODE = 'Not a valid Codice Fiscale';

/** Messages of the routes themselves. The messages about codes and persons are the library's. */
export const FISCAL_TEXTS: Readonly<Record<Language, FiscalTexts>> = {
  en: {
    invalidPerson: (faults) => `The person is not valid: ${faults}`,
    bodyIsNoObject: 'The body must be a JSON object.',
    codeIsNoText: 'the cf must be text',
    unknownProvince: 'No province has this abbreviation',
    ambiguousCity: 'Several places of this province have this name',
    unknownCity: 'No place of this province is known by this name',
    noPostalCodes: 'No postal codes are known of this place',
    noSuchDate: 'The date is not on the calendar',
    dateFormat: 'must be a day of the calendar, YYYY-MM-DD',
  },
  it: {
    invalidPerson: (faults) => `Dati anagrafici non validi: ${faults}`,
    bodyIsNoObject: 'Il corpo della richiesta deve essere un oggetto JSON.',
    codeIsNoText: 'il codice fiscale deve essere un testo',
    unknownProvince: 'Nessuna provincia ha questa sigla',
    ambiguousCity: 'Più luoghi di questa provincia hanno questo nome',
    unknownCity: 'Nessun luogo di questa provincia ha questo nome',
    noPostalCodes: 'Di questo luogo non si conoscono codici di avviamento postale',
    noSuchDate: 'La data non esiste nel calendario',
    dateFormat: 'deve essere un giorno del calendario, AAAA-MM-GG',
  },
};

/** Returns Italian if the caller's Accept-Language prefers it to English, else English. */
export function chooseLanguage(headers: IncomingHttpHeaders): Language {
  const ranges = String(headers['accept-language'] ?? '').split(',');
  const weighLanguage = (language: Language): number => {
    const weights = ranges.map((range) => weighRange(range, language));
    return Math.max(0, ...weights);
  };
  return weighLanguage('it') > weighLanguage('en') ? 'it' : 'en';
}

/** Returns the headers of a response that has messages. */
export function languageHeaders(language: Language): Readonly<Record<string, string>> {
  return { 'content-language': language, vary: 'accept-language' };
}

/** Returns the weight of a range (RFC 9110, section 12.5.4): `it-IT;q=0.8` has the weight 0.8 for Italian. */
function weighRange(range: string, language: Language): number {
  const [tag = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  if (tag !== language && !tag.startsWith(`${language}-`)) return 0;
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  const weight = quality === undefined ? 1 : Number(quality.slice(2));
  return Number.isNaN(weight) ? 0 : weight;
}
