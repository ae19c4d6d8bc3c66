import { tmpdir } from 'node:os';
import { stripVTControlCharacters } from 'node:util';
import { type IPty, spawn } from '@lydell/node-pty';
import { afterEach, describe, expect, it } from 'vitest';
import { LAUNCHER } from '../../support/parts/built.ts';
import { COVERAGE_ENVIRONMENT } from '../support/process.ts';

const DOWN = '\u001b[B';
const ENTER = '\r';
const CTRL_C = '\u0003';
const CTRL_U = '\u0015';

let pty: IPty | undefined;
afterEach(() => pty?.kill());

/** Runs `rtc cf generate` in a pseudo-terminal. Each step waits for its question before it types. */
async function generate(
  words: readonly string[],
  steps: readonly (readonly [question: RegExp, keys: string])[],
): Promise<{ readonly code: number; readonly shown: string }> {
  const terminal = spawn(process.execPath, [LAUNCHER, 'cf', 'generate', ...words], {
    cols: 100,
    rows: 30,
    env: { PATH: process.env.PATH ?? '', TERM: 'xterm-256color', HOME: tmpdir(), ...COVERAGE_ENVIRONMENT },
  });
  pty = terminal;
  let shown = '';
  let left = [...steps];
  return new Promise((resolve) => {
    // Earlier output must not match the next question.
    let from = 0;
    terminal.onData((data) => {
      shown += stripVTControlCharacters(data);
      const [next] = left;
      if (next === undefined || !next[0].test(shown.slice(from))) return;
      left = left.slice(1);
      from = shown.length;
      terminal.write(next[1]);
    });
    terminal.onExit(({ exitCode }) => resolve({ code: exitCode, shown }));
  });
}

describe('rtc cf generate on a terminal', () => {
  it('asks for the person, and searches the place during typing', async () => {
    const { code, shown } = await generate(
      [],
      [
        [/Given name/, `Mario${ENTER}`],
        [/Surname/, `Rossi${ENTER}`],
        [/Gender/, `${DOWN}${ENTER}`],
        [/Birth date/, `01/02/1980${ENTER}`],
        [/Birthplace/, 'rom'],
        [/ROMA \(RM\) H501/, ENTER],
      ],
    );
    expect(code).toBe(0);
    expect(shown).toContain('RSSMRA80B01H501T');
    expect(shown).toContain('Birthplace: ROMA (RM) H501.');
  });

  it('asks in Italian with --lang it', async () => {
    const { code, shown } = await generate(
      ['--lang', 'it'],
      [
        [/Nome o nomi/, ENTER],
        [/Scrivere un valore/, `Mario${ENTER}`],
        [/Cognome/, `Rossi${ENTER}`],
        [/Sesso/, `${DOWN}${ENTER}`],
        [/Data di nascita/, `01/02/1980${ENTER}`],
        [/Luogo di nascita/, 'rom'],
        [/ROMA \(RM\) H501/, ENTER],
      ],
    );
    expect(code).toBe(0);
    expect(shown).toContain('Luogo di nascita: ROMA (RM) H501.');
    expect(shown).not.toMatch(/Given|Surname|Gender|Birth|Please/);
  });

  it('finds the place although the date of the options is on no calendar, and then reports the date', async () => {
    const { code, shown } = await generate(
      ['--name', 'Mario', '--surname', 'Rossi', '--gender', 'M', '--date', '31/02/1980'],
      [
        [/Birthplace/, 'rom'],
        [/ROMA \(RM\) H501/, ENTER],
      ],
    );
    expect(code).toBe(2);
    expect(shown).toContain('--date: the birth date is on no calendar');
  });

  it('asks only for what the options leave out', async () => {
    const { code, shown } = await generate(
      ['--name', 'Mario', '--surname', 'Rossi', '--gender', 'M', '--city', 'Roma'],
      [[/Birth date/, `1980-02-01${ENTER}`]],
    );
    expect(code).toBe(0);
    expect(shown).not.toMatch(/Given name|Surname|Gender|type to search/);
    expect(shown).toContain('RSSMRA80B01H501T');
  });

  it('asks again after an answer that it cannot accept', async () => {
    const { code, shown } = await generate(
      ['--name', 'Mario', '--surname', 'Rossi', '--gender', 'M', '--city', 'Roma'],
      [
        [/Birth date/, `31/02/1980${ENTER}`],
        [/the birth date is on no calendar/, `${CTRL_U}01/02/1980${ENTER}`],
      ],
    );
    expect(code).toBe(0);
    expect(shown).toContain('RSSMRA80B01H501T');
  });

  it('asks which place of an ambiguous name is meant', async () => {
    const { code, shown } = await generate(
      ['--name', 'Mario', '--surname', 'Rossi', '--gender', 'M', '--date', '1980-02-01', '--city', 'castro'],
      [[/CASTRO \(LE\) M261/, `${DOWN}${ENTER}`]],
    );
    expect(code).toBe(0);
    expect(shown).toMatch(/RSSMRA80B01M261[A-Z]/);
  });

  it('ends at Ctrl-C', async () => {
    const { code, shown } = await generate([], [[/Given name/, CTRL_C]]);
    expect(code).toBe(130);
    expect(shown).toContain('Cancelled');
  });
});
