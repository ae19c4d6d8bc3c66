import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/*
 * Common complaints about fiscal code libraries, each with the test that checks our behaviour. A row without such a test
 * fails, so that none is lost when tests are renamed.
 */

type Held = readonly [complaint: string, file: string, title: string];

const TABLE: readonly Held[] = [
  [
    'Kazakistan makes the code of a republic that is no more',
    'fiscal/complaints',
    'finds the state of today for %s, at any time when people were born there',
  ],
  ['two spellings of one place have two codes', 'fiscal/complaints', 'finds %s at %s as %s'],
  [
    'people without surname or given name are refused (ANPR 3048, 1216, 5364)',
    'fiscal/match',
    'have XXX in their codes, which can be read',
  ],
  ['an empty name is taken for a person without one', 'fiscal/match', 'must be stated as such'],
  [
    'a refused row does not say how a person without a name is written',
    'cli/commands/cf-files',
    'explains how to write a person without a name when a name is missing',
  ],
  [
    'a refused row does not say which places an ambiguous name means',
    'cli/commands/cf-files',
    'names the places that an ambiguous name may mean, with their ends in Italian',
  ],
  ['names after a comma count', 'fiscal/match', 'leave out what follows the comma, with a warning'],
  ['letters outside the table are refused or dropped', 'fiscal/generate', 'writes the surname %s as %s'],
  [
    'a birth of 2024 in Jugoslavia',
    'fiscal/check',
    'reads %s as a birth of %s, in a place that had ended before 2000',
  ],
  ['Fiume is Fiume Veneto without a word', 'fiscal/complaints', 'lists both places for %s in 1960'],
  [
    'nobody tells which place was chosen',
    'server/fiscal-api/fiscal',
    'returns the chosen place, its dates and the reason',
  ],
  [
    'a batch loses its bad rows',
    'cli/commands/cf-match',
    'keeps every row and its columns, in order, with the code or the reason without one',
  ],
  [
    'decode and check lose the key of a row',
    'cli/commands/cf-files',
    'adds the decoded fields of the code to each row',
  ],
  ['suggestions in a batch take minutes', 'fiscal/complaints', 'can leave out suggestions'],
  [
    'a forgotten --column fills the terminal',
    'cli/commands/cf-match',
    'stops after a hundred lines and names the missing option',
  ],
  ['Roma in MI is an unknown name', 'fiscal/complaints', 'name the province of the place'],
  ['Parigi suggests Italian villages', 'fiscal/complaints', 'name the state of a foreign city'],
  [
    'Rma in RM suggests nothing',
    'fiscal/complaints',
    'allow a typing error in three letters when the province is given',
  ],
  [
    'cast suggests Enna',
    'fiscal/complaints',
    'are ordered by exactness, then what is in force, then residents',
  ],
  [
    '--strict always points at Rome',
    'cli/commands/cf-generate',
    'marks the given place as the error, and not Rome',
  ],
  [
    'a list of a province has no dates',
    'cli/commands/cf-files',
    'lists the places of a day, by the beginning of a name',
  ],
  ['odd arguments throw', 'fiscal/complaints', 'are accepted or refused as documented'],
  [
    'Safari before 16.4 cannot load it',
    'fiscal/browser-bundle',
    'has no look-behind in a regular expression, which Safari before 16.4 does not know',
  ],
  ['S. Giovanni Rotondo is unknown', 'fiscal/complaints', 'finds %s'],
  ['Mestre in 1970 gets a code of 1926', 'fiscal/complaints', 'leads to its successor, with a warning'],
  [
    'no library tells whether a code is that of a person',
    'fiscal/match',
    'reports what was found and what was expected',
  ],
  ['codes of before 2011 do not match', 'fiscal/match', 'accepts the surname %s as %s'],
  [
    'a birth in Croazia does not match Jugoslavia',
    'fiscal/match',
    'accepts for one born on %s in %s the birthplace %s',
  ],
  [
    'codes of eleven digits are called invalid',
    'fiscal/match',
    'reports that %s is of kind %s, or that its check digit is wrong',
  ],
  [
    'messages are English only',
    'fiscal/messages',
    'have the same codes in both languages, and different texts',
  ],
  [
    'Excel files have to be converted first',
    'cli/commands/cf-files',
    'returns the workbook with codes, with reasons in Italian, and without losing anything',
  ],
  ['Italian headers are not understood', 'cli/commands/cf-files', 'are recognised from %s'],
  ['Italian dates are not understood', 'cli/commands/cf-files', 'are read as %s'],
  ['Windows-1252 is garbled', 'cli/commands/cf-generate', 'reads Windows-1252, where accents are no UTF-8'],
  [
    'postal codes have no date',
    'fiscal/territory',
    'say when they were compiled and which one will replace the others',
  ],
  [
    'old postal codes lead nowhere',
    'fiscal/territory',
    'lead back to the comuni that have them, or had them until a few years ago',
  ],
  [
    'the library is too large for a page',
    'fiscal/browser-bundle',
    'that imports %s is under %i bytes compressed',
  ],
];

describe('a complaint of users', () => {
  it.each(TABLE)('%s has a test', (_complaint, file, title) => {
    const text = readFileSync(new URL(`../${file}.test.ts`, import.meta.url), 'utf8');
    expect(text.includes(`'${title}'`) || text.includes(`"${title}"`)).toBe(true);
  });
});
