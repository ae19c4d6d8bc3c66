import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readXlsx, writeXlsx } from 'hucre/xlsx';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { excelWorkbook } from '../support/excel-workbook.ts';
import { run } from '../support/run.ts';

const CODE = 'RSSMRA80B01H501T';
const WRONG = 'RSSMRA80B01H501X';
const clock = () => Date.parse('2026-06-15T12:00:00Z');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rtc-cf-files-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const cf = (line: string, stdin?: string | Buffer) =>
  run(['cf', ...line.split(' ')], {
    clock,
    workingDirectory: folder,
    ...(stdin === undefined ? {} : { stdin }),
  });

type Cell = string | number | boolean | Date | null;

const writeSheet = async (name: string, rows: readonly (readonly Cell[])[]): Promise<void> => {
  const sheets = [{ name: 'Dipendenti', rows: rows.map((row) => [...row]) }];
  writeFileSync(join(folder, name), await writeXlsx({ sheets }));
};
const readSheet = async (name: string): Promise<Cell[][]> =>
  (await readXlsx(readFileSync(join(folder, name)))).sheets[0]?.rows ?? [];

describe('rtc cf with a workbook of people', () => {
  const HEADER = [
    'Matricola',
    'Cognome',
    'Nome (se presente)',
    'Sesso',
    'Data di nascita',
    'Comune di nascita',
    'Prov.',
  ];
  const born = new Date(Date.UTC(1980, 1, 1));

  it('returns the workbook with codes, with reasons in Italian, and without losing anything', async () => {
    const people: Cell[][] = [
      [1, 'Rossi', 'Mario', 'M', born, 'Roma', 'RM'],
      [2, 'Singh', null, 'F', '01/02/1980', 'India', 'EE'],
      [3, 'Bianchi', 'Anna', 'F', '1 febbraio 1970', 'Mestre', 'VE'],
      [4, 'Verdi', 'Luca', 'M', 29_252, 'Rmoa', 'RM'],
      [5, 'Neri', 'Ada', 'F', '31/02/1980', 'Milano', null],
      [6, 'Russo', 'Ugo', 'Maschio', '1.2.1980', 'Jugoslavia', 'EE'],
      [7, 'Conti', 'Eva', 'X', '01-02-1980', 'Milano', 'MI'],
    ];
    await writeSheet('people.xlsx', [['Elenco dipendenti'], [], HEADER, ...people]);
    const { code, stdout, stderr } = await cf(
      'generate --file people.xlsx --append --out coded.xlsx --lang it',
    );
    expect([code, stdout]).toEqual([7, '']);
    expect(stderr).toBe(
      [
        'Letto come XLSX: cognome = "Cognome", nome = "Nome (se presente)", sesso = "Sesso", data di nascita = "Data di nascita", luogo di nascita = "Comune di nascita", provincia = "Prov."; 1 altra colonna non usata.',
        'riga 7: nessun comune o stato estero con questo nome',
        'riga 8: la data di nascita non esiste nel calendario',
        'riga 10: il sesso deve essere F o M',
        '7 righe: 4 corrette, 3 errate',
        '         1  luogo di nascita: sconosciuto',
        '         1  la data di nascita non esiste nel calendario',
        '         1  il sesso deve essere F o M',
        '',
      ].join('\n'),
    );
    const rows = await readSheet('coded.xlsx');
    const [title, header, ...written] = rows;
    expect(title?.[0]).toBe('Elenco dipendenti');
    expect(header).toEqual([...HEADER, 'codice_fiscale', 'luogo', 'avviso', 'motivo']);
    expect(written.map((row) => row.slice(0, 7))).toEqual(people);
    expect(written.map((row) => row[7] || null)).toEqual([
      CODE,
      'SNGXXX80B41Z222P',
      'BNCNNA70B41L736O',
      null,
      null,
      'RSSGUO80B01Z118I',
      null,
    ]);
    expect(written[2]?.[9]).toContain('era cessato prima della data di nascita');
    expect(written.map((row) => row[10] || null)).toEqual([
      null,
      null,
      null,
      'nessun comune o stato estero con questo nome',
      'la data di nascita non esiste nel calendario',
      null,
      'il sesso deve essere F o M',
    ]);
    expect(statSync(join(folder, 'coded.xlsx')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('names the places that an ambiguous name may mean, with their ends in Italian', async () => {
    const rows = 'Cognome;Nome;Sesso;Data di nascita;Comune\nHorvat;Ivo;M;09/07/1960;Fiume\n';
    const { stderr, stdout } = await cf('generate - --csv --append --lang it', rows);
    const expected =
      'più luoghi hanno questo nome: FIUME VENETO (UD) D621, fino al 1968; FIUME (FU) D620, fino al 1947';
    expect(stdout.split('\n')[1]).toBe(`Horvat;Ivo;M;09/07/1960;Fiume;;;;"${expected}"`);
    expect(stderr).toContain(`riga 2: ${expected}\n`);
    expect(stderr).toContain('         1  luogo di nascita: ambiguo\n');
    expect((await cf('generate - --csv', rows)).stderr).toContain(
      'FIUME VENETO (UD) D621, until 1968; FIUME (FU) D620, until 1947',
    );
  });

  it('explains how to write a person without a name when a name is missing', async () => {
    const rows =
      'Cognome;Nome;Sesso;Data di nascita;Comune\nSingh;;F;01/02/1980;India\nRossi;Mario;M;01/02/1980;Roma\n';
    const { stderr, stdout } = await cf('generate - --csv --append --lang it', rows);
    const expected =
      'manca il nome; per chi non lo ha: una colonna "senza nome" con sì, oppure l\'intestazione "nome (se presente)"';
    expect(stderr.split('\n').slice(1)).toEqual([
      `riga 2: ${expected}`,
      '2 righe: 1 corretta, 1 errata',
      `         1  ${expected}`,
      '',
    ]);
    expect(stdout.split('\n')[1]).toContain('Singh;;F;01/02/1980;India;;;;"manca il nome; per chi');
    const english = await cf('generate - --csv', rows);
    expect(english.stderr).toContain(
      'if the person has none, add a column "no name" with yes, or use the header "name (if any)"',
    );
    const asTold = await cf('generate - --csv', rows.replace('Nome', 'nome (se presente)'));
    expect(asTold.stdout).toBe(`SNGXXX80B41Z222P\n${CODE}\n`);
    const specific = rows.replace('Nome', 'nome (se presente);Nome di battesimo').replace(';;', ';Anna;;');
    expect((await cf('generate - --csv --lang it', specific)).stderr).toContain(`riga 2: ${expected}`);
    const column = rows.replace('Nome', 'Nome;Senza nome').replace(';;', ';;sì;').replace('Mario', 'Mario;');
    expect((await cf('generate - --csv', column)).stdout).toBe(`SNGXXX80B41Z222P\n${CODE}\n`);
  });

  it('reads a workbook from stdin, and a sheet by its name', async () => {
    const rows = [HEADER.slice(1), ['Rossi', 'Mario', 'M', '01/02/1980', 'Roma', 'RM']];
    const sheets = [
      { name: 'Note', rows: [['niente']] },
      { name: 'Dati', rows },
    ];
    const bytes = Buffer.from(await writeXlsx({ sheets }));
    expect((await cf('generate - --csv --sheet Dati', bytes)).stdout).toBe(`${CODE}\n`);
    const { code, stderr } = await cf('generate - --csv --sheet Altro', bytes);
    expect(code).toBe(2);
    expect(stderr).toContain('the workbook has no sheet "Altro"');
  });

  it('checks the codes of the column that has the name of codes', async () => {
    await writeSheet('codes.xlsx', [
      ['Nome', 'Cod. Fiscale'],
      ['Mario', CODE],
      ['Anna', WRONG],
    ]);
    expect((await cf('check --file codes.xlsx')).stdout).toBe(
      `${CODE}\tvalid\t\n${WRONG}\tinvalid\tcheck-character\n`,
    );
    await cf('check --file codes.xlsx --append --out checked.csv --lang it');
    expect(readFileSync(join(folder, 'checked.csv'), 'utf8')).toBe(
      [
        '\ufeffNome,Cod. Fiscale,codice_fiscale,luogo,avviso,motivo',
        `Mario,${CODE},${CODE},ROMA,,`,
        `Anna,${WRONG},,,,il carattere di controllo non corrisponde ai quindici che lo precedono`,
        '',
      ].join('\n'),
    );
  });

  it.each([
    ['a sheet', 'xl/worksheets/sheet1.xml', '<row/>', 90_000_000],
    ['the shared texts', 'xl/sharedStrings.xml', '<si><t></t></si>', 40_000_000],
  ])(
    'refuses a workbook with %s that would inflate without bound, and names the part',
    async (_, name, text, bytes) => {
      const part = text.repeat(Math.ceil(bytes / text.length));
      writeFileSync(join(folder, 'bomb.xlsx'), excelWorkbook({ [name]: part }));
      const { code, stderr } = await cf('generate --file bomb.xlsx');
      expect(code).toBe(2);
      expect(stderr).toContain(
        `the workbook is not read: its part "${name}" has ${Math.round(part.length / 1e6)} MB, and at most`,
      );
    },
  );

  it('refuses a workbook that is larger than any table, before it is in memory', async () => {
    const path = join(folder, 'large.xlsx');
    writeFileSync(path, 'PK\u0003\u0004');
    truncateSync(path, 2 ** 40);
    const { code, stderr } = await cf('generate --file large.xlsx');
    expect([code, stderr]).toEqual([2, expect.stringContaining('it has more than 268 MB')]);
  });

  it('refuses a workbook whose part does not state its size', async () => {
    const workbook = excelWorkbook({ 'xl/sharedStrings.xml': '<si><t></t></si>'.repeat(1000) });
    const entry = workbook.lastIndexOf('xl/sharedStrings.xml') - 46;
    workbook.writeUInt32LE(0, entry + 24);
    writeFileSync(join(folder, 'unsized.xlsx'), workbook);
    const { code, stderr } = await cf('generate --file unsized.xlsx');
    expect([code, stderr]).toEqual([2, expect.stringContaining('the workbook cannot be read')]);
  });

  it('explains why a broken file, or one that is no workbook, is refused', async () => {
    writeFileSync(join(folder, 'broken.xlsx'), Buffer.from('PK\u0003\u0004 this is no archive'));
    const { code, stderr } = await cf('generate --file broken.xlsx');
    expect(code).toBe(2);
    expect(stderr).toContain('the workbook cannot be read');
    expect((await cf('check -', readFileSync(join(folder, 'broken.xlsx')))).stderr).toContain(
      'the input is a workbook',
    );
  });
});

describe('--append', () => {
  it('adds the decoded fields of the code to each row', async () => {
    const stdin = `id;cf\n1;${CODE.toLowerCase()}\n2;${WRONG}\n3;RSSMRA20A01L746X\n`;
    const { code, stdout } = await cf('decode - --append', stdin);
    expect(code).toBe(7);
    expect(stdout.split('\n')).toEqual([
      'id;cf;codice_fiscale;gender;birthday;place;province;warning;reason',
      `1;${CODE.toLowerCase()};${CODE};M;1980-02-01;ROMA;RM;;`,
      `2;${WRONG};;;;;;;the check character does not fit the fifteen before it`,
      expect.stringMatching(/^3;RSSMRA20A01L746X;;/),
      '',
    ]);
  });

  it('reads one code per line as a table of one column', async () => {
    expect((await cf('check - --append', `${CODE}\n${WRONG}\n`)).stdout).toBe(
      `${CODE},${CODE},ROMA,,\n${WRONG},,,,the check character does not fit the fifteen before it\n`,
    );
  });

  it('adds to each row whether its code is that of its person', async () => {
    const stdin = [
      'cf,surname,name,gender,birthday,city',
      `${CODE},Rossi,Mario,M,01/02/1980,Roma`,
      `${CODE},Rossi,Maria,F,01/02/1980,Roma`,
      `${WRONG},Rossi,Mario,M,01/02/1980,Roma`,
      '',
    ].join('\n');
    const { code, stdout, stderr } = await cf('match - --csv --append --lang it', stdin);
    expect(code).toBe(7);
    expect(stdout.split('\n').map((line) => line.split(',').slice(6).join(','))).toEqual([
      'corrisponde,differenze,motivo,non_confrontati',
      'sì,,,',
      'no,sesso M / F,il codice fiscale non corrisponde ai dati anagrafici,',
      ',,il carattere di controllo non corrisponde ai quindici che lo precedono,',
      '',
    ]);
    expect(stderr).toContain('         1  sesso: non corrisponde\n');
  });

  it('keeps a row that is no CSV, with the reason', async () => {
    const stdin = `id,cf\n1,${CODE}\n2,a"b\n`;
    const { stdout } = await cf('check - --append --column cf', stdin);
    expect(stdout.split('\n')[2]).toBe('"2,a""b",,,,,a quote stands in the midst of a cell');
  });

  it("reads the first sheet that is not hidden in Excel's layout", async () => {
    writeFileSync(join(folder, 'excel.xlsx'), excelWorkbook());
    const { code, stdout } = await cf('generate --file excel.xlsx --append');
    expect(stdout.split('\n')).toEqual([
      'Elenco',
      'Cognome,Nome,Sesso,Data di nascita,Comune di nascita,Prov.,codice_fiscale,place,warning,reason',
      'ROSSI,Mario,M,1980-02-01,Roma,,RSSMRA80B01H501T,ROMA,,',
      'Bianchi,Anna,F,1975-12-31,Milano,MI,BNCNNA75T71F205N,MILANO,,',
      '',
    ]);
    expect(code).toBe(0);
    const hidden = await cf('generate --file excel.xlsx --append --sheet Note');
    expect([hidden.code, hidden.stderr]).toEqual([2, expect.stringContaining('names no column for')]);
  });

  it('does not replace its own input', async () => {
    writeFileSync(join(folder, 'own.csv'), `cf\n${CODE}\n`);
    const { code, stderr } = await cf('check --file own.csv --append --out ./own.csv');
    expect(code).toBe(2);
    expect(stderr).toContain('--out would replace the input');
    expect(readFileSync(join(folder, 'own.csv'), 'utf8')).toBe(`cf\n${CODE}\n`);
    expect(await cf('check --file own.csv --out other.csv')).toMatchObject({ code: 2 });
  });
});

describe('the columns of a table of people', () => {
  const ROW = 'Rossi;Mario;M;01/02/1980;Roma;RM';

  it.each([
    ['Cognome;Nome;Sesso;Data di nascita;Comune di nascita;Prov.', ROW],
    ['COGNOME;NOME;SESSO (M/F);DATA NASCITA;LUOGO DI NASCITA;PROVINCIA NASCITA', ROW],
    ['Cognome;Nome;Sesso;Nato il;Nato a;Pr', ROW],
    ['Comune;Cognome;Nome;Sesso;Data di nascita;Comune di nascita;Prov.', `Milano;${ROW}`],
    ['Cognome;Nome;Sesso;Giorno;Mese;Anno;Città', 'Rossi;Mario;M;1;02;1980;Roma'],
    [
      'Cognome;Nome;Sesso;Data di nascita;Comune di nascita;Provincia di nascita',
      'Rossi;Mario;m;1/2/1980;Roma;Roma',
    ],
  ])('are recognised from %s', async (header, row) => {
    const { stdout, stderr } = await cf('generate - --csv', `${header}\n${row}\n`);
    expect([stdout, stderr.includes('Read as CSV, semicolons')]).toEqual([`${CODE}\n`, true]);
  });

  it('give the state for a birth abroad, where the comune is empty', async () => {
    const header = 'Cognome;Nome;Sesso;Data di nascita;Comune di nascita;Stato estero di nascita';
    const { stdout } = await cf('generate - --csv', `${header}\nRossi;Mario;M;01/02/1980;;Francia\n`);
    expect(stdout).toBe('RSSMRA80B01Z110A\n');
  });

  it.each([
    ['UTF-16 with its mark', Buffer.from(`\ufeffid\tcf\n1\t${CODE}\n`, 'utf16le')],
    ['UTF-8 with its mark', Buffer.from(`\ufeffid;cf\n1;${CODE}\n`)],
    ['a title above', Buffer.from(`Elenco\n\nid;cf\n1;${CODE}\n`)],
  ])('are found in %s', async (_what, bytes) => {
    writeFileSync(join(folder, 'any.csv'), bytes);
    expect((await cf('check --file any.csv')).stdout).toBe(`${CODE}\tvalid\t\n`);
  });

  it('are required by name when none is recognised, without showing their content', async () => {
    const { code, stderr } = await cf('check - --append', 'Mario;Rossi\nAnna;Verdi\n');
    expect(code).toBe(2);
    expect(stderr).toContain('no column is called codice fiscale');
    expect(stderr).not.toMatch(/Mario|Rossi/);
  });
});

describe('dates in a table of people', () => {
  it.each([
    '01/02/1980',
    '1/2/1980',
    '1-2-1980',
    '1.2.1980',
    '1 2 1980',
    '1980/2/1',
    '1980 02 01',
    '01021980',
    '1 febbraio 1980',
    '1 feb. 1980',
    '1980-02-01',
    '1980-02-01T00:00:00',
    '01/02/1980 00:00',
  ])('are read as %s', async (date) => {
    const { stdout } = await cf(
      'generate - --csv',
      `surname,name,gender,birthday,city\nRossi,Mario,M,${date},Roma\n`,
    );
    expect(stdout).toBe(`${CODE}\n`);
  });

  it.each(['01/02/80', '1980', 'ieri', '1 xyz 1980'])('are refused as %s', async (date) => {
    const { stderr } = await cf(
      'generate - --csv --lang it',
      `surname,name,gender,birthday,city\nRossi,Mario,M,${date},Roma\n`,
    );
    expect(stderr).toContain('la data di nascita deve avere la forma GG/MM/AAAA');
  });
});

describe('rtc it cities', () => {
  it('lists the places of a day, by the beginning of a name', async () => {
    const cities = (line: string) => run(['it', 'cities', ...line.split(' ')], { clock });
    expect((await cities('VE --date 1920-01-01 --q chir')).stdout).toMatch(/^C647\tCHIRIGNAGO\tVE\tL736\n$/);
    expect((await cities('VE --date 1970-01-01 --q chir')).stdout).toBe('');
    // By a name in everyday speech too.
    expect((await cities('VE --date 1970-01-01 --q mest')).stdout).toMatch(/^L736\tVENEZIA\t/);
    expect((await cities('RM --current --limit 3')).stdout.trim().split('\n')).toHaveLength(3);
    expect(await cities('RM --date 1970-02-30')).toMatchObject({ code: 2 });
  });
});
