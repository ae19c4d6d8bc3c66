import type { IncomingHttpHeaders } from 'node:http';
import type { Language } from '../../fiscal/index.ts';

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
