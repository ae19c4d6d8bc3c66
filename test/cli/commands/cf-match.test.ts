import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../support/run.ts';

const clock = () => Date.parse('2026-06-15T10:00:00Z');
const CODE = 'RSSMRA80B01H501T';
const PERSON = '--name Mario --surname Rossi --gender M --date 1980-02-01 --city Roma';
const cf = (line: string) => run(['cf', ...line.split(' ')], { clock });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cf-match-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('rtc cf match', () => {
  it('prints each part, and ends with 0 when all match', async () => {
    const { code, stdout } = await cf(`match ${CODE} ${PERSON}`);
    expect(code).toBe(0);
    expect(stdout.split('\n').slice(0, 2)).toEqual(['surname\tyes\tRSS\tRSS', 'name\tyes\tMRA\tMRA']);
  });

  it('ends with 7 when a part differs', async () => {
    const { code, stdout } = await cf(`match ${CODE} ${PERSON.replace('Rossi', 'Bianchi')} --json`);
    expect(code).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject({ matches: false });
  });

  it('ends with 7 for an invalid code, and with 2 for data of which no code can be made', async () => {
    expect(await cf(`match RSSMRA80B01H501X ${PERSON}`)).toMatchObject({ code: 7 });
    expect(await cf(`match ${CODE} ${PERSON.replace('Roma', 'Atlantide')}`)).toMatchObject({ code: 2 });
    expect(await cf(`match ${PERSON}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('missing CODE'),
    });
  });

  it('compares what is given, and says what was skipped', async () => {
    const { code, stdout } = await cf(`match ${CODE} --name Mario --surname Rossi`);
    expect(code).toBe(0);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((each) => each.trimEnd()),
    ).toEqual([
      'surname\tyes\tRSS\tRSS',
      'name\tyes\tMRA\tMRA',
      ...['gender', 'day', 'month', 'year', 'place'].map((part) => `${part}\tskipped`),
    ]);
    const json = await cf(`match ${CODE} --name Mario --surname Rossi --date 1980-02-02 --json`);
    expect(json.code).toBe(7);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ...{ matches: false, compared: 'names-and-date', skipped: ['gender', 'place'] },
    });
    expect(await cf(`match ${CODE}`)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/at least one of --name, .*only what is given .*rtc cf match --help/s),
    });
    expect(await cf(`match ${CODE} --name Mario --province RM`)).toMatchObject({ code: 2 });
  });

  it('says on a terminal how much it proves, and asks nothing that is not given', async () => {
    const line = ['cf', 'match', CODE, '--name', 'Mario', '--surname', 'Rossi'];
    const shown = await run(line, { clock, terminals: ['stdin', 'stdout', 'stderr'] });
    expect(shown.code).toBe(0);
    expect(shown.stderr).toContain('the names were compared');
  });

  it('reads tables without all columns, and does not take the province of an address for that of a place', async () => {
    const file = join(folder, 'names.csv');
    writeFileSync(
      file,
      `CF;Cognome;Nome;Prov.\n${CODE};Rossi;Mario;MI\n${CODE};Bianchi;Mario;MI\n${CODE};Rossi;;MI\n`,
    );
    const many = await run(['cf', 'match', '--file', file], { clock });
    expect(many.code).toBe(7);
    expect(many.stdout.trim().split('\n')).toEqual([
      `${CODE}\tyes\t\tgender,day,month,year,place`,
      `${CODE}\tno\tsurname\tgender,day,month,year,place`,
    ]);
    expect(many.stderr).toContain('line 4: name:');
    const appended = await run(['cf', 'match', '--file', file, '--append', '--lang', 'it'], { clock });
    expect(appended.stdout.split('\n').slice(0, 2)).toEqual([
      'CF;Cognome;Nome;Prov.;corrisponde;differenze;motivo;non_confrontati',
      `${CODE};Rossi;Mario;MI;sì;;;sesso, giorno di nascita, mese di nascita, anno di nascita, luogo di nascita`,
    ]);
    const names = join(folder, 'no-code.csv');
    writeFileSync(names, 'Cognome;Nome\nRossi;Mario\n');
    expect(await run(['cf', 'match', '--file', names], { clock })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no column for cf'),
    });
  });

  it('reads many from CSV with Italian headers, in order', async () => {
    const file = join(folder, 'people.csv');
    writeFileSync(
      file,
      [
        'Codice Fiscale;Cognome;Nome;Sesso;Data di nascita;Comune;Prov.;Senza cognome',
        `${CODE};Rossi;Mario;M;01/02/1980;Roma;RM;`,
        `${CODE};Bianchi;Mario;M;01/02/1980;Roma;RM;`,
        `RSSMRA80B01H501X;Rossi;Mario;M;01/02/1980;Roma;RM;`,
        `XXXMRA80B01H501C;;Mario;M;01/02/1980;Roma;RM;s\u00ec`,
      ].join('\n'),
    );
    const { code, stdout, stderr } = await run(['cf', 'match', '--file', file], { clock });
    expect(code).toBe(7);
    expect(stdout.split('\n').slice(0, 3)).toEqual([
      `${CODE}\tyes\t`,
      `${CODE}\tno\tsurname`,
      'XXXMRA80B01H501C\tyes\t',
    ]);
    expect(stderr).toContain('line 4: cf:');
    expect(stderr).toContain('4 lines: 2 good, 2 bad');
  });
});

describe('rtc cf generate', () => {
  it('makes the code of a person without a surname or a given name', async () => {
    const person = '--gender M --date 1980-02-01 --city Roma';
    expect((await cf(`generate --no-surname --name Mario ${person}`)).stdout).toMatch(/^XXXMRA/);
    expect((await cf(`generate --surname Rossi --no-name ${person}`)).stdout).toMatch(/^RSSXXX/);
    expect(await cf(`generate --no-surname --no-name ${person}`)).toMatchObject({ code: 2 });
  });

  it('warns of a place that had ended', async () => {
    const { stderr } = await cf(
      'generate --name Mario --surname Rossi --gender M --date 1970-02-01 --city Mestre',
    );
    expect(stderr).toContain('had ended before the birth date');
  });
});

describe('rtc cf check of CSV without --column', () => {
  it('stops after a hundred lines and names the missing option', async () => {
    const file = join(folder, 'forgotten.txt');
    writeFileSync(file, `id;cf\n${`1;${CODE}\n`.repeat(5000)}`);
    const { code, stderr } = await run(['cf', 'check', '--file', file], { clock });
    expect(code).toBe(2);
    expect(stderr).toContain('100 lines in a row are CSV, not codes\nNext:  name the column of the codes');
    expect(stderr.split('\n').length).toBeLessThan(110);
    expect(await run(['cf', 'check', '--file', file, '--column', 'cf'], { clock })).toMatchObject({
      code: 0,
    });
  });
});

describe('rtc cf generate --append', () => {
  it('keeps every row and its columns, in order, with the code or the reason without one', async () => {
    const file = join(folder, 'append.csv');
    writeFileSync(
      file,
      [
        'id;Cognome;Nome;Sesso;Data di nascita;Comune;Prov.',
        '1;Rossi;Mario;M;01/02/1980;Roma;RM',
        '2;Bianchi;Anna;F;01/02/1980;Atlantide;RM',
        '3;"Verdi; detto Gino";Luigi;M;01/02/1970;Mestre;VE',
        '4;Neri;Ada',
      ].join('\r\n'),
    );
    const { code, stdout, stderr } = await run(['cf', 'generate', '--file', file, '--append'], { clock });
    const lines = stdout.trim().split('\n');
    expect(code).toBe(7);
    expect(lines.map((line) => line.split(';')[0])).toEqual(['id', '1', '2', '3', '4']);
    expect(lines[0]).toBe(
      'id;Cognome;Nome;Sesso;Data di nascita;Comune;Prov.;codice_fiscale;place;warning;reason',
    );
    expect(lines[1]).toBe(`1;Rossi;Mario;M;01/02/1980;Roma;RM;${CODE};ROMA;;`);
    expect(lines[2]).toBe('2;Bianchi;Anna;F;01/02/1980;Atlantide;RM;;;;no place is known by this name');
    expect(lines[4]).toMatch(/^4;Neri;Ada;;;;;;;;/);
    expect(stderr).toContain('4 lines: 1 good, 3 bad');
    expect(await cf('generate --append --name Mario')).toMatchObject({ code: 2 });
  });
});

describe('rtc cf check --accept any', () => {
  it('accepts every Italian tax code and names its kind', async () => {
    expect(await cf('check 00743110157 --accept any')).toMatchObject({
      code: 0,
      stdout: '00743110157\tvalid\tvat\n',
    });
    expect(await cf('check 00743110157')).toMatchObject({
      code: 7,
      stdout: '00743110157\tinvalid\tvat-number\n',
    });
    expect(JSON.parse((await cf('check 00743110157 --accept any --json')).stdout)).toMatchObject({
      kind: 'vat',
    });
  });
});
