import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunOptions, run } from '../support/run.ts';

const CODE = 'RSSMRA80B01H501T';
const clock = () => Date.parse('2026-06-15T12:00:00Z');
const PERSON = { name: 'Mario', surname: 'Rossi', gender: 'M', date: '1980-02-01', city: 'Roma' };

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rtc-cf-generate-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const generate = (words: readonly string[], options: RunOptions = {}) =>
  run(['cf', 'generate', ...words], { clock, workingDirectory: directory, ...options });
const withOptions = (change: Readonly<Record<string, string>> = {}, words: readonly string[] = []) =>
  generate([
    ...Object.entries({ ...PERSON, ...change }).flatMap(([name, value]) => [`--${name}`, value]),
    ...words,
  ]);

const SURNAME_MISSING =
  'the surname is missing; if the person has none, add a column "no surname" with yes, or use the header "surname (if any)"';

describe('rtc cf generate', () => {
  it('prints the code and nothing else', async () => {
    expect(await withOptions()).toEqual({ code: 0, stdout: `${CODE}\n`, stderr: '' });
    expect((await withOptions({}, ['--json'])).stdout).toBe(`{"cf":"${CODE}"}\n`);
  });

  it.each([
    { date: '01/02/1980' },
    { date: '1/2/1980' },
    { gender: 'm' },
    { city: 'H501' },
    { province: 'rm' },
  ])('takes %o', async (change) => {
    expect((await withOptions(change)).stdout).toBe(`${CODE}\n`);
  });

  it('reads a name from stdin, where nobody else sees it', async () => {
    const { stdout } = await generate(
      ['--name', '-', '--surname', 'Rossi', '--gender', 'M', '--date', '1980-02-01', '--city', 'Roma'],
      { stdin: 'Mario\n' },
    );
    expect(stdout).toBe(`${CODE}\n`);
  });

  it.each([
    [{ name: '---' }, '--name: the given name has no letter'],
    [{ surname: 'R2' }, '--surname: the surname has a character that no name is written with'],
    [{ gender: 'X' }, '--gender: the gender must be F or M'],
    [{ date: '1980-02-30' }, '--date: the birth date is on no calendar'],
    [{ date: '1980-13-01' }, '--date: the month must be 1 to 12'],
    [{ date: '80-02-01' }, '--date: the birth date must be YYYY-MM-DD or DD/MM/YYYY'],
    [{ date: '' }, '--date: the birth date is missing'],
    [{ date: '2026-06-16' }, '--date: the birth date is in the future'],
    [{ city: 'Xyzzy' }, '--city: no place is known by this name'],
    [{ province: 'ZZ' }, '--province: no province ever had this abbreviation'],
  ])('refuses %o by its option', async (change, message) => {
    const { code, stdout, stderr } = await withOptions(change);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });

  it('reports all errors at once, as JSON too', async () => {
    const { stderr } = await withOptions({ gender: '?', date: 'x', city: 'Castro' }, ['--json']);
    expect(JSON.parse(stderr).details).toEqual([
      '--gender: the gender must be F or M',
      '--city: several places have this name',
      '--date: the birth date must be YYYY-MM-DD or DD/MM/YYYY',
      '  CASTRO (BG) C337',
      '  CASTRO (LE) M261',
    ]);
  });

  it('warns of a place that came later, and refuses it with --strict', async () => {
    const later = await withOptions({ city: 'Fonte Nuova' });
    expect(later.code).toBe(0);
    expect(later.stderr).toContain('was not in force on the birth date');
    expect((await withOptions({ city: 'Fonte Nuova' }, ['--strict'])).code).toBe(2);
  });

  it('marks the given place as the error, and not Rome', async () => {
    const later = await withOptions({ city: 'Fonte Nuova' }, ['--strict']);
    expect(later.stderr).toContain('see when it was in force: rtc it find NAME');
    const elsewhere = await withOptions({ city: 'Xyzzy', province: 'MI' });
    expect(elsewhere.stderr).toContain('rtc it cities MI');
    expect((await withOptions({ city: 'Xyzzy' })).stderr).toContain('rtc it find NAME');
    const italian = await withOptions({ city: 'Roma', province: 'MI' }, ['--lang', 'it']);
    expect(italian.stderr).toContain('indicare la provincia in cui si trova il luogo');
  });

  it.each([
    [['--name', 'A', '--city', 'Roma'], 'missing --surname, --gender, --date'],
    [['Mario'], 'people come by options, or from stdin'],
    [['-', '--name', 'A'], 'not both'],
    [['-', '--file', 'x.csv'], 'not both'],
    [['-', '--csv', '--ndjson'], 'exclude each other'],
    [['-', '--rejects', 'bad.tsv'], '--rejects is for many people'],
    [['--file', 'nowhere.csv'], 'nowhere.csv cannot be read: there is no such file'],
  ])('refuses %o as wrong usage', async (words, message) => {
    const { code, stdout, stderr } = await generate(words);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('Mario');
  });
});

describe('rtc cf generate -', () => {
  const JSON_PERSON = { name: 'Mario', surname: 'Rossi', gender: 'M', city: 'Roma' };

  it.each([
    ['day, month and year', { ...JSON_PERSON, day: 1, month: '02', year: 1980 }],
    ['a birthday', { ...JSON_PERSON, birthday: '1980-02-01' }],
    [
      'Italian names',
      { nome: 'Mario', cognome: 'Rossi', sesso: 'M', dataNascita: '01/02/1980', comune: 'Roma' },
    ],
  ])('reads a person with %s', async (_what, person) => {
    const { code, stdout } = await generate(['-'], { stdin: JSON.stringify(person, undefined, 2) });
    expect([code, stdout]).toEqual([0, `${CODE}\n`]);
  });

  it.each(['', 'Mario', '[]', '{"name":', '{}\n{}'])('refuses %j without repeating it', async (stdin) => {
    const { code, stderr } = await generate(['-'], { stdin });
    expect(code).toBe(2);
    expect(stderr).not.toContain('Mario');
  });

  it('reads people from JSON lines, and goes on after bad ones', async () => {
    const good = JSON.stringify({ ...JSON_PERSON, birthday: '1980-02-01' });
    const stdin = `${good}\n{"name":7}\nMario\n\n${good}`;
    const { code, stdout, stderr } = await generate(['-', '--ndjson'], { stdin });
    expect([code, stdout]).toEqual([7, `${CODE}\n${CODE}\n`]);
    expect(stderr.split('\n').map((line) => line.split(': ').slice(0, 2).join(': '))).toEqual([
      'line 2: name,surname,gender,day,month,year,city',
      'line 3: json',
      'line 4: json',
      '5 lines: 2 good, 3 bad',
      '         2  json: the line is not a JSON object',
      '         1  the name must be text',
      `         1  ${SURNAME_MISSING}`,
      ...['gender', 'day', 'month', 'year'].map((field) => `         1  the ${field} is missing`),
      '         1  city: missing',
      '',
    ]);
    expect(stderr).not.toContain('Mario');
  });

  it('reads people from CSV, by a row of names in any order', async () => {
    const file = join(directory, 'people.csv');
    await writeFile(
      file,
      [
        'id;Comune di nascita;Prov;Cognome;Nome;Sesso;Data di nascita',
        '1;Roma;RM;Rossi;Mario;M;01/02/1980',
        '2;"Roma";;Rossi;Mario;M;1980-02-01',
        '3;Atlantide;;Rossi;;M;01/02/1980',
        '4;Roma;RM',
        '',
      ].join('\r\n'),
    );
    const { code, stdout, stderr } = await generate(['--file', 'people.csv']);
    expect([code, stdout]).toEqual([7, `${CODE}\n${CODE}\n`]);
    expect(stderr.split('\n').map((line) => line.split(': ').slice(0, 2).join(': '))).toEqual([
      'Read as CSV, semicolons, UTF-8: city = "Comune di nascita", province = "Prov", surname = "Cognome", name = "Nome", gender = "Sesso", date = "Data di nascita"; 1 other column is not read.',
      'line 4: name,city',
      'line 5: name,surname,gender,date',
      '4 lines: 2 good, 2 bad',
      '         2  the given name is missing; if the person has none, add a column "no name" with yes, or use the header "name (if any)"',
      '         1  city: is unknown',
      `         1  ${SURNAME_MISSING}`,
      ...['gender', 'birth date'].map((field) => `         1  the ${field} is missing`),
      '',
    ]);
  });

  it('reads Windows-1252, where accents are no UTF-8', async () => {
    const file = join(directory, 'windows.csv');
    const rows = 'Cognome;Nome;Sesso;Data di nascita;Citt\u00e0\nRossi;Nicol\u00f2;M;1980-02-01;Roma\n';
    await writeFile(file, rows, 'latin1');
    const windows = await generate(['--file', 'windows.csv']);
    expect(windows.stdout).toBe('RSSNCL80B01H501C\n');
    expect(windows.stderr).toContain('Read as CSV, semicolons, Windows-1252: ');
    await writeFile(file, rows);
    const utf8 = await generate(['--file', 'windows.csv']);
    expect(utf8.stdout).toBe('RSSNCL80B01H501C\n');
    expect(utf8.stderr).toContain('UTF-8');
  });

  it('names the missing columns without showing the content of the others', async () => {
    const { code, stderr } = await generate(['-', '--csv'], { stdin: 'Mario,Rossi\nAnna,Bianchi\n' });
    expect(code).toBe(2);
    expect(stderr).toContain('no column for name, surname, gender, city, birthday');
    expect(stderr).not.toMatch(/Mario|Anna/);
  });
});
