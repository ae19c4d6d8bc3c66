import { bilingualError } from '../../errors/cli-error.ts';
import { LANG } from '../../framework/language.ts';
import { asText, defineCommand, flag, ofNoun, option, optionalArgument } from '../../framework/parameters.ts';
import { CHECK_FIELDS, checkCodes } from './codes/check-codes.ts';
import {
  ACCEPT,
  APPEND,
  CODES,
  COLUMN,
  DECODED_FIELDS,
  fieldsFor,
  isStreamed,
  RULE_OPTIONS,
  readCodes,
  STREAM_OPTIONS,
  toRules,
} from './codes/code-options.ts';

/*
 * These commands work offline, without the service and its settings. Only `check` of a few codes is in this file, so that it
 * starts in little more than an empty process; the others load what they need.
 */

const MANY =
  'For many codes, use stdin (-) or --file with one code per line, or a table (CSV or .xlsx). The column of codes is found by its name; --column names another one. Invalid lines are reported by number, and the exit code is then 7.';

const check = defineCommand({
  verb: 'check',
  summary: 'Check fiscal codes, and mark the errors',
  description: `Prints the code, valid or invalid, and the reason. The exit code is 7 if a code is invalid. ${MANY}`,
  needs: 'nothing',
  fields: (input) => fieldsFor(input, isStreamed(input) ? ['line', ...CHECK_FIELDS] : CHECK_FIELDS),
  arguments: { codes: CODES },
  options: { ...RULE_OPTIONS, accept: ACCEPT, column: COLUMN, append: APPEND, ...STREAM_OPTIONS },
  examples: [
    { line: 'rtc cf check RSSMRA80B01H501T', does: 'One code' },
    { line: 'rtc cf check 00743110157 --accept any', does: 'Any Italian tax code' },
    {
      line: 'rtc cf check - < codes.txt',
      does: 'One per line; other users of the machine cannot see them',
    },
    {
      line: 'rtc cf check --file people.csv --column cf --rejects bad.tsv > checked.tsv',
      does: 'A column of a CSV file; invalid lines go to a file',
    },
    {
      line: 'rtc cf check --file people.xlsx --append --out checked.xlsx --lang it',
      does: 'Copy a table and add the place of each code, or what is wrong with it (in Italian)',
    },
    { line: "rtc cf check - < codes.txt | awk -F'\\t' '$2 == \"invalid\"'", does: 'Only the invalid ones' },
  ],
  async run(context, input) {
    const rules = { ...toRules(context, input), accept: input.accept ?? 'person' };
    if (!isStreamed(input)) return checkCodes(context.terminal, await readCodes(context, input.codes), rules);
    const many = { ...input, language: rules.language };
    if (input.append) {
      const { appendChecks } = await import('./append.ts');
      return appendChecks(context, many, rules);
    }
    const { checkMany } = await import('./codes/many-codes.ts');
    return checkMany(context, many, rules);
  },
});

const decode = defineCommand({
  verb: 'decode',
  summary: 'Decode fiscal codes',
  description: `Prints code, surname, name, gender, birthday, birthplace and province. ${MANY}`,
  needs: 'nothing',
  fields: (input) => fieldsFor(input, input.details ? [...DECODED_FIELDS, 'details'] : DECODED_FIELDS),
  arguments: { codes: CODES },
  options: {
    ...RULE_OPTIONS,
    details: flag('--details', 'with --json: everything that is known, not only the ten fields of the API'),
    column: COLUMN,
    append: APPEND,
    ...STREAM_OPTIONS,
  },
  examples: [
    { line: 'rtc cf decode RSSMRA80B01H501T', does: 'One code' },
    { line: 'rtc cf decode RSSMRA80B01H501T --json birthday,birthplace', does: 'Two fields, as JSON' },
    { line: 'rtc cf decode - --json < codes.txt', does: 'Many codes, one JSON object per line' },
  ],
  async run(context, input) {
    const rules = toRules(context, input);
    if (isStreamed(input)) {
      const many = { ...input, language: rules.language };
      if (input.append) {
        const { appendDecoded } = await import('./append.ts');
        return appendDecoded(context, many, { ...rules, accept: 'person' });
      }
      const { decodeMany } = await import('./codes/many-codes.ts');
      return decodeMany(context, many, rules);
    }
    const { decodeCodes } = await import('./codes/decode-codes.ts');
    return decodeCodes(context.terminal, await readCodes(context, input.codes), {
      rules,
      withDetails: input.details,
    });
  },
});

const omocodie = defineCommand({
  verb: 'omocodie',
  summary: 'List the other 127 forms of a fiscal code (omocodia)',
  description: `Prints one per line, the base code first. ${MANY} With many codes, each line has all forms of one code, separated by tabs.`,
  needs: 'nothing',
  fields: (input) => fieldsFor(input, []),
  arguments: { codes: CODES },
  options: { ...RULE_OPTIONS, column: COLUMN, ...STREAM_OPTIONS },
  examples: [
    { line: 'rtc cf omocodie RSSMRA80B01H501T', does: 'All forms of one code' },
    { line: 'rtc cf omocodie RSSMRA80B01H501T | head -7', does: 'Some of them' },
  ],
  async run(context, input) {
    const rules = toRules(context, input);
    if (isStreamed(input)) {
      const { omocodieMany } = await import('./codes/many-codes.ts');
      return omocodieMany(context, { ...input, language: rules.language }, rules);
    }
    const [code = '', ...others] = await readCodes(context, input.codes);
    if (others.length > 0)
      throw bilingualError(
        ['one code at a time', 'give one, or - to read many from stdin'],
        ['un codice alla volta', 'indicarne uno, oppure - per leggerne molti da stdin'],
      );
    const { omocodieOfCode } = await import('./codes/decode-codes.ts');
    return omocodieOfCode(context.terminal, code, rules);
  },
});

/** A person's data, one option each. */
const PERSON_OPTIONS = {
  name: option('--name <name>', 'given name or names', { parse: asText, source: 'typed-or-stdin' }),
  surname: option('--surname <surname>', 'surname; for married women the birth name', {
    parse: asText,
    source: 'typed-or-stdin',
  }),
  noName: flag('--no-name', 'the person has no given name'),
  noSurname: flag('--no-surname', 'the person has no surname'),
  gender: option('--gender <gender>', 'F or M', asText),
  date: option('--date <date>', 'birth date, YYYY-MM-DD or DD/MM/YYYY', asText),
  city: option(
    '--city <city>',
    'birthplace: a comune, a foreign state (in Italian), or a Belfiore code',
    asText,
  ),
  province: option(
    '--province <XX>',
    'province of the birthplace, EE for abroad; only needed if the city is ambiguous',
    asText,
  ),
};

const generate = defineCommand({
  verb: 'generate',
  summary: "Generate a fiscal code from a person's data",
  description:
    'On a terminal it asks for missing data, and finds the place as you type. With - it reads a person from stdin as JSON with the fields of the API (name, surname, gender, day, month, year, city, province; or birthday for the date), or many people with --csv or --ndjson. Only the tax office issues codes: if two people would get the same code, it replaces digits by letters.',
  needs: 'nothing',
  fields: ['cf'],
  arguments: { input: optionalArgument('- to read people from stdin instead of the options') },
  options: {
    ...PERSON_OPTIONS,
    strict: RULE_OPTIONS.strict,
    asOf: RULE_OPTIONS.asOf,
    lang: LANG,
    csv: flag('--csv', 'the people are a table with a header row: CSV, or .xlsx'),
    ndjson: flag('--ndjson', 'the people are JSON objects, one per line'),
    append: APPEND,
    ...STREAM_OPTIONS,
  },
  examples: [
    { line: 'rtc cf generate', does: 'Ask for the person, on a terminal' },
    {
      line: 'rtc cf generate --name Mario --surname Rossi --gender M --date 1980-02-01 --city Roma',
      does: 'Without questions',
    },
    {
      line: 'rtc cf generate - < person.json',
      does: 'One person; other users of the machine cannot see the data',
    },
    {
      line: 'rtc cf generate --file people.xlsx --append --out coded.xlsx --lang it',
      does: 'Copy a table and add the code of each row, or the reason (in Italian) why there is none',
    },
    {
      line: 'rtc cf generate --file people.csv --rejects bad.tsv > codes.txt',
      does: 'Many people; a header row names the columns, in English or Italian',
    },
  ],
  async run(context, input) {
    const rules = toRules(context, { ...input, century: undefined });
    const { isManyPeople } = await import('./people/person-input.ts');
    const { generateOne, generateMany } = await import('./people/generate.ts');
    const people = { ...input, language: rules.language };
    return isManyPeople(people) ? generateMany(context, people, rules) : generateOne(context, people, rules);
  },
});

const match = defineCommand({
  verb: 'match',
  summary: 'Check whether a fiscal code belongs to a person',
  description:
    'Compares what is given of the person, such as only the names, and prints each part of the code with its expected and actual value; the rest is skipped. The exit code is 7 if a part does not match. With - it reads code and person from stdin as JSON (cf, and the fields of generate), or many with --csv or --ndjson, whose columns need not be complete. Then each line has the code, yes or no, the parts that differ, and the skipped parts.',
  needs: 'nothing',
  fields: ['matches', 'parts', 'skipped', 'compared'],
  arguments: { code: optionalArgument('the fiscal code, or - to read code and person from stdin') },
  options: {
    ...PERSON_OPTIONS,
    century: RULE_OPTIONS.century,
    asOf: RULE_OPTIONS.asOf,
    lang: LANG,
    csv: flag('--csv', 'codes and people are a table with a header row: CSV, or .xlsx'),
    ndjson: flag('--ndjson', 'codes and people are JSON objects, one per line'),
    append: APPEND,
    ...STREAM_OPTIONS,
  },
  examples: [
    {
      line: 'rtc cf match RSSMRA80B01H501T --name Mario --surname Rossi --gender M --date 1980-02-01 --city Roma',
      does: 'One code and one person',
    },
    {
      line: 'rtc cf match RSSMRA80B01H501T --name Mario --surname Rossi',
      does: 'Only the names are known; the rest is skipped',
    },
    {
      line: 'rtc cf match - < person.json',
      does: 'From stdin; other users of the machine cannot see the data',
    },
    { line: 'rtc cf match --file people.csv > matches.tsv', does: 'Many; one column has the codes' },
  ],
  async run(context, input) {
    const rules = toRules(context, { ...input, strict: false });
    const { isManyPeople } = await import('./people/person-input.ts');
    const { matchMany, matchOne } = await import('./people/match-people.ts');
    // The code is a separate argument; the rest is read as generate reads it.
    const source = { ...input, language: rules.language, input: input.code === '-' ? '-' : undefined };
    return isManyPeople(source) ? matchMany(context, source, rules) : matchOne(context, source, rules);
  },
});

export const commands = ofNoun('cf', [generate, decode, check, match, omocodie]);
