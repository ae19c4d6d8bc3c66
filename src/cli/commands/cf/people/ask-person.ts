import { type Language, type Place, suggestPlaces } from '../../../../fiscal/index.ts';
import type { RecordField } from '../../../../people/columns.ts';
import { dateOfText } from '../../../../people/date-text.ts';
import { generateFrom, type PersonRecord, placeLabel, type Rules } from '../../../../people/person-record.ts';
import type { Prompter } from '../../../framework/prompts.ts';

/** Asks for the missing fields of a person, one after the other, and checks each during typing. */
export async function askForMissing(
  prompter: Prompter,
  given: PersonRecord,
  rules: Rules,
): Promise<PersonRecord> {
  const validateField = (field: RecordField) => (typed: string) => {
    const probe = generateFrom({ ...VALID_PERSON, [field]: typed }, rules);
    return probe.ok ? undefined : probe.errors[field]?.message;
  };
  const questions = QUESTIONS[rules.language];
  const ask = (field: RecordField, question: string): Promise<unknown> =>
    given[field] === undefined
      ? prompter.text(question, validateField(field), questions.ifEmpty)
      : Promise.resolve(given[field]);
  const name = await ask('name', questions.name);
  const surname = await ask('surname', questions.surname);
  const gender = given.gender ?? (await prompter.choose(questions.gender, ['F', 'M'], rules.language));
  const date = await ask('date', questions.date);
  const person = { ...given, name, surname, gender, date };
  const city = given.city ?? (await askForPlace(prompter, person, rules));
  return { ...person, city };
}

/** Asks which of several places of one name was meant. Returns its Belfiore code. */
export async function askWhichPlace(
  prompter: Prompter,
  places: readonly Place[],
  { language }: Rules,
): Promise<string> {
  const labels = places.map((place) => placeLabel(place, language));
  const chosen = await prompter.choose(QUESTIONS[language].whichPlace, labels, language);
  return places[labels.indexOf(chosen)]?.codiceCatastale ?? '';
}

type Questions = Readonly<
  Record<'name' | 'surname' | 'gender' | 'date' | 'place' | 'whichPlace' | 'ifEmpty', string>
>;

const QUESTIONS: Readonly<Record<Language, Questions>> = {
  en: {
    name: 'Given name or names:',
    surname: 'Surname (at birth, for a married woman):',
    gender: 'Gender:',
    date: 'Birth date (YYYY-MM-DD or DD/MM/YYYY):',
    place: 'Birthplace, a comune or a state (type to search):',
    whichPlace: 'Which of these places?',
    ifEmpty: 'Please type a value.',
  },
  it: {
    name: 'Nome o nomi:',
    surname: 'Cognome (alla nascita, per una donna sposata):',
    gender: 'Sesso:',
    date: 'Data di nascita (GG/MM/AAAA o AAAA-MM-GG):',
    place: 'Luogo di nascita, un comune o uno stato estero (scrivere per cercare):',
    whichPlace: 'Quale di questi luoghi?',
    ifEmpty: 'Scrivere un valore.',
  },
};

/** A person without errors, in which one field is tried. */
const VALID_PERSON: PersonRecord = {
  name: 'Anna',
  surname: 'Rossi',
  gender: 'F',
  date: '1980-01-01',
  city: 'H501',
};

async function askForPlace(prompter: Prompter, person: PersonRecord, rules: Rules): Promise<string> {
  const province = typeof person.province === 'string' ? person.province : undefined;
  const date = toIsoDate(person, rules);
  const find = (typed: string) =>
    suggestPlaces(typed, { province, date }).map((place) => ({
      value: place.codiceCatastale,
      name: placeLabel(place, rules.language),
    }));
  return prompter.search(QUESTIONS[rules.language].place, find, rules.language);
}

/** Returns the date in the library's form. One that is refused later, such as 31/02/1980, does not choose among places. */
function toIsoDate({ date }: PersonRecord, rules: Rules): string {
  const parts = dateOfText(String(date));
  if (parts === undefined || !generateFrom({ ...VALID_PERSON, date }, rules).ok) return rules.asOf;
  const [month, day] = [parts.month, parts.day].map((part) => String(part).padStart(2, '0'));
  return `${parts.year}-${month}-${day}`;
}
