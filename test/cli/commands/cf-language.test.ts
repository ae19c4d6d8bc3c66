import { describe, expect, it } from 'vitest';
import { run } from '../support/run.ts';

const clock = () => Date.parse('2026-06-15T12:00:00Z');
const rtc = (line: string, stdin?: string) =>
  run(line.split(' '), { clock, ...(stdin === undefined ? {} : { stdin }) });

describe('the language of usage errors', () => {
  it.each([
    ['cf check --lang it', /manca il codice/],
    ['cf check RSSMRA80B01H501T --out a.csv --lang it', /--out vale con --append.*\n.*aggiungere --append/],
    ['cf check RSSMRA80B01H501T --append --lang it', /--append vale per molte righe/],
    ['cf omocodie RSSMRA80B01H501T RSSMRA80B01H501T --lang it', /un codice alla volta/],
    ['cf generate --name Mario --lang it', /mancano --surname, --gender, --date, --city/],
    ['cf generate --csv --ndjson --lang it', /--csv e --ndjson si escludono/],
    ['cf match --name Mario --lang it', /manca/],
    ['cf match RSSMRA80B01H501T --lang it', /almeno uno tra --name,.*\n?.*rtc cf match --help/],
    ['it --lang it', /manca un verbo/],
    ['it cities ZZ --lang it', /nessuna provincia ha la sigla "ZZ"/],
    ['it caps RM Xyz --lang it', /nessun luogo di RM si chiama "Xyz"/],
    ['it caps ZZ Roma --lang it', /nessuna provincia ha la sigla/],
    ['it find roma --province ZZ --lang it', /nessuna provincia ha la sigla/],
    [
      'cf chek X --lang it',
      /comando sconosciuto 'cf chek'; forse si intendeva check\n.*vedere: rtc cf --help/,
    ],
    ['cf --strict --lang it', /rtc cf richiede prima un verbo: generate, decode,/],
    [
      'cf check X --strikt --lang it',
      /opzione sconosciuta '--strikt'; forse si intendeva --strict\n.*vedere: rtc cf check/,
    ],
    ['cf decode X --lang it --century', /--century richiede un valore/],
    ['cf check X --century 1700 --lang it', /--century "1700" non è tra i valori ammessi: 1800, 1900, 2000/],
    ['cf check X --as-of ieri --lang it', /--as-of "ieri" non è una data\n.*scriverla come 2026-01-31/],
    ['cf check X --json foo --lang it', /--json: campo sconosciuto .*"next":"campi noti: /],
    ['it cities --lang it', /manca PROVINCE\n.*vedere: rtc it cities --help/],
    ['it regions Lazio --lang it', /rtc it regions non prende argomenti, ne ha ricevuti 1/],
    ['it find roma --limit 0 --lang it', /--limit "0" non è un numero intero da 1 a 100/],
    ['it find roma --date ieri --lang=it', /--date "ieri" non è una data/],
  ])('is Italian with the Italian option: rtc %s', async (line, expected) => {
    const { stderr, code } = await rtc(line);
    expect(stderr).toMatch(expected);
    expect(code).not.toBe(0);
    const english = await rtc(line.replace(/ --lang[ =]it/, ''));
    expect(english.stderr).not.toMatch(expected);
    expect(english.code).toBe(code);
  });

  it('stays English in a command without such an option', async () => {
    expect((await rtc('rooms list --lang it')).stderr).toContain("unknown option '--lang'");
  });

  it('is Italian for tables that cannot be read', async () => {
    const unnamed = await rtc('cf generate - --csv --lang it', 'a,b\n1,2\n');
    expect(unnamed.stderr).toMatch(
      /la prima riga non ha una colonna per nome, cognome, sesso, luogo di nascita, data di nascita/,
    );
    const column = await rtc('cf check - --column cf --lang it', 'a,b\n1,2\n');
    expect(column.stderr).toMatch(/nessuna colonna della prima riga ha il nome "cf"/);
    const csv = await rtc('cf check - --lang it', 'a,b,c\n'.repeat(200));
    expect(csv.stderr).toMatch(/100 righe di seguito sono CSV, non codici/);
  });

  it.each([
    [',', 'virgole'],
    [';', 'punti e virgola'],
    ['\t', 'tabulazioni'],
    ['|', 'barre'],
  ])('is Italian for a table whose cells %j separates', async (delimiter, words) => {
    const table = `Codice fiscale${delimiter}Nome\nRSSMRA80B01H501T${delimiter}Mario\n`;
    const { stderr } = await rtc('cf match - --csv --lang it', table);
    expect(stderr).toContain(`Letto come CSV, ${words}, UTF-8`);
  });

  it('is Italian when nothing is found', async () => {
    expect((await rtc('it find qqqq --lang it')).stderr).toContain('Nessun luogo ha un nome simile.');
  });
});

describe('the language of a terminal', () => {
  it.each([
    ['cf decode RSSMRA80B01H501T', ['COGNOME', 'SESSO', 'DATA DI NASCITA', 'CODICE CATASTALE']],
    ['cf check RSSMRA80B01H501X', ['non valido: carattere di controllo errato', 'T corrisponderebbe']],
    ['cf check RSSMRA80B01H501T', ['valido']],
    ['cf match RSSMRA80B01H501T --name Mario', ['PARTE', 'CORRISPONDE', 'nome', 'sì', 'non confrontato']],
    ['it find teulada --details', ['CODICE', 'PROVINCIA', 'DAL', 'ALTRI NOMI']],
    ['it cities OT --current', ['CODICE', 'NOME', 'OGGI']],
    ['it regions', ['REGIONE']],
    ['it provinces', ['CAPOLUOGO']],
    ['it --sources', ['VERSIONE', 'FONTE 1']],
  ])('is Italian with the Italian option: rtc %s', async (line, words) => {
    const shown = async (lang: string): Promise<string> => {
      const argv = `${line} --lang ${lang}`.split(' ');
      return (await run(argv, { clock, terminals: ['stdout'], columns: 120 })).stdout;
    };
    const [italian, english] = [await shown('it'), await shown('en')];
    for (const word of words) expect(italian).toContain(word);
    expect(italian).not.toMatch(/SURNAME|CAPITAL|EXPECTED|invalid|skipped|SOURCE/);
    expect(english).not.toContain(words.at(-1));
  });

  it('leaves what a pipe reads as it is', async () => {
    expect((await rtc('cf match RSSMRA80B01H501T --name Mario --lang it')).stdout).toContain(
      'name\tyes\tMRA\tMRA',
    );
    expect((await rtc('cf check RSSMRA80B01H501X --lang it')).stdout).toContain('\tinvalid\tcheck-character');
  });
});
