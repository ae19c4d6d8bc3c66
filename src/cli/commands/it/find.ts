import { cities, type Place, type PlaceWithHistory, searchPlaces } from '../../../fiscal/index.ts';
import { bilingualError } from '../../errors/bilingual-error.ts';
import { type CliError, EXIT } from '../../errors/cli-error.ts';
import { defineCommand } from '../../framework/command.ts';
import { LANG } from '../../framework/language.ts';
import { calendarDay, listArgument, notEmpty, option, wholeNumber } from '../../framework/parameters.ts';
import { type Column, list } from '../../terminal/result.ts';

const FOUND_COLUMNS: readonly Column<PlaceWithHistory>[] = [
  { heading: 'CODE', value: ({ place }) => place.codiceCatastale, paint: 'name' },
  { heading: 'NAME', value: ({ place }) => place.name },
  { heading: 'PROVINCE', value: ({ place }) => place.province },
  { heading: 'FROM', value: ({ place }) => place.validFrom ?? '' },
  { heading: 'TO', value: ({ place }) => place.validTo ?? '' },
  { heading: 'TODAY', value: ({ successors }) => successors.at(-1)?.name ?? '' },
  { heading: 'OTHER-NAMES', value: ({ place, history }) => otherNames(place, history).join(', ') },
];

export const findPlaces = defineCommand({
  noun: 'it',
  verb: 'find',
  summary: 'Find places by the beginning of a name, with their history',
  description:
    'Finds names that begin with the words, then names that contain such a word, then similar names. Existing places and those with more residents come first. TODAY is the successor of a place that no longer exists.',
  needs: 'nothing',
  fields: ['place', 'history', 'successors'],
  arguments: { words: listArgument('part of the name, or a Belfiore code') },
  options: {
    province: option('--province <XX>', 'only places that were ever in this province; EE for states', {
      parse: notEmpty,
    }),
    date: option('--date <date>', 'places in force on this day first, YYYY-MM-DD', { parse: calendarDay }),
    limit: option('--limit <count>', 'maximum number; default 10', { parse: wholeNumber(1, 100) }),
    lang: LANG,
  },
  examples: [
    { line: 'rtc it find san giu', does: 'San Giuliano Milanese comes first' },
    { line: 'rtc it find mestre --json', does: 'Its names over time, and its successor' },
    { line: 'rtc it find F159', does: 'A Belfiore code' },
  ],
  async run(_context, { words, province, date, limit, lang }) {
    if (province !== undefined && cities(province).length === 0) throw unknownProvince(province);
    const records = searchPlaces(words.join(' '), { province, date, limit });
    return list<PlaceWithHistory>({
      response: records,
      records,
      columns: FOUND_COLUMNS,
      identify: ({ place }) => place.codiceCatastale,
      empty: lang === 'it' ? 'Nessun luogo ha un nome simile.' : 'No place has such a name.',
    });
  },
});

function otherNames(place: Place, history: readonly Place[]): readonly string[] {
  return [...new Set(history.map(({ name }) => name))].filter((name) => name !== place.name);
}

export function unknownProvince(province: string): CliError {
  return bilingualError(
    [`no province has the abbreviation ${JSON.stringify(province)}`, 'list them: rtc it provinces'],
    [`nessuna provincia ha la sigla ${JSON.stringify(province)}`, "l'elenco: rtc it provinces"],
    { exitCode: EXIT.notFound },
  );
}
