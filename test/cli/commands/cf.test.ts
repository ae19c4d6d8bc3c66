import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunOptions, run } from '../support/run.ts';

const CODE = 'RSSMRA80B01H501T';
const OMOCODE = 'RSSMRA80B01H50ML';
const WRONG = 'RSSMRA80B01H501X';
const clock = () => Date.parse('2026-06-14T22:30:00Z');

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rtc-cf-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const cf = (words: string, options: RunOptions = {}) =>
  run(['cf', ...words.split(' ')], { clock, workingDirectory: directory, ...options });
const onTerminal: RunOptions = { terminals: ['stdout', 'stderr'], env: { NO_COLOR: '1' } };

describe('rtc cf check', () => {
  it('reports a valid code', async () => {
    expect(await cf(`check ${CODE}`)).toEqual({ code: 0, stdout: `${CODE}\tvalid\t\n`, stderr: '' });
  });

  it('exits with 7 for an invalid code, and gives the reason', async () => {
    expect(await cf(`check ${WRONG}`)).toEqual({
      code: 7,
      stdout: `${WRONG}\tinvalid\tcheck-character\n`,
      stderr: 'code 1: check-character: the check character does not fit the fifteen before it\n',
    });
    expect(await cf('check IT00743110157')).toEqual({
      code: 7,
      stdout: 'IT00743110157\tinvalid\tlength\n',
      stderr:
        'code 1: length: this is a VAT number with its country: the number is the eleven digits after IT\n',
    });
  });

  it('checks several, and exits with 7 when one is invalid', async () => {
    const { code, stdout } = await cf(`check ${CODE} ${WRONG} 00743110157`);
    expect(code).toBe(7);
    expect(stdout.split('\n').map((line) => line.split('\t')[2])).toEqual([
      '',
      'check-character',
      'vat-number',
      undefined,
    ]);
  });

  it('marks the error under the code on a terminal', async () => {
    const { stdout } = await cf('check RSSMRA80Z71H501T', onTerminal);
    expect(stdout.split('\n')).toEqual([
      'RSSMRA80Z71H501T  invalid: check-character',
      '               ^ the check character does not fit the fifteen before it: X would',
      '        ^ character 9 is the letter of no month',
      '',
    ]);
  });

  it('names the prefix of SPID before a code, and shows the code only on a terminal', async () => {
    const { stdout } = await cf(`check TINIT-${CODE}`, onTerminal);
    expect(stdout.split('\n').slice(0, 2)).toEqual([
      `TINIT-${CODE}  invalid: characters`,
      expect.stringMatching(new RegExp(`^\\^{6} .*SPID and CIE.*: ${CODE}$`)),
    ]);
    const { stderr } = await cf(`decode TINIT-${CODE}`);
    expect(stderr).toContain('SPID and CIE');
    expect(stderr).not.toContain(CODE);
  });

  it('sends no escape of a code to the terminal, and still marks the right place', async () => {
    const { stdout } = await run(['cf', 'check', 'A\u001b[31mB'], { clock, ...onTerminal });
    expect(stdout).not.toContain('\u001b');
    expect(stdout.split('\n').slice(0, 2)).toEqual([
      'A\\u001b[31mB  invalid: characters',
      ' ^^^^^^ character 2 is neither a letter from A to Z nor a digit',
    ]);
  });

  it('prints JSON: an object for one code, a list for several, or the requested fields', async () => {
    expect(JSON.parse((await cf(`check ${CODE} --json`)).stdout)).toEqual({
      cf: CODE,
      valid: true,
      kind: 'person',
      warnings: [],
    });
    const several = JSON.parse((await cf(`check ${CODE} ${WRONG} --json valid,reason`)).stdout);
    expect(several).toEqual([
      { valid: true, reason: null },
      { valid: false, reason: 'check-character' },
    ]);
  });

  it('refuses a place that came later only with --strict, and warns otherwise', async () => {
    const { stdout } = await cf(
      'generate --name Mario --surname Rossi --gender M --date 1980-02-01 --city M295',
    );
    const later = stdout.trim();
    expect((await cf(`check ${later}`)).stdout).toBe(`${later}\tvalid\tplace-not-in-force\n`);
    expect(await cf(`check ${later} --strict`)).toMatchObject({ code: 7 });
  });

  it('checks as of the given day', async () => {
    const young = (
      await cf('generate --name Mario --surname Rossi --gender M --date 2026-06-15 --city Roma')
    ).stdout.trim();
    const readBirthday = async (words: string) =>
      JSON.parse((await cf(`decode ${young} --json birthday ${words}`)).stdout).birthday;
    expect(await readBirthday('--as-of 2026-06-15')).toBe('2026-06-15');
    expect(await readBirthday('--as-of 2026-06-14')).toBe('1926-06-15');
    expect(await readBirthday('--century 1900')).toBe('1926-06-15');
  });

  it.each([
    ['check', 'missing CODES'],
    ['check --json X', 'missing CODES'],
    [`check ${CODE} -`, 'not both'],
    [`check ${CODE} --file codes.txt`, 'not both'],
    [`check ${CODE} --column cf`, '--column is for many lines'],
    [`check ${CODE} --rejects bad.tsv`, '--rejects is for many lines'],
    ['check --file nowhere.txt', 'nowhere.txt cannot be read: there is no such file'],
    ['check --file .', '. cannot be read: it is a directory'],
    ['check - --rejects nowhere/bad.tsv', 'nowhere/bad.tsv cannot be written: its folder does not exist'],
    ['check x --as-of 2026-02-30', 'is not a date\nNext:  write it such as 2026-01-31'],
    ['check x --as-of today', 'is not a date\nNext:  write it such as 2026-01-31'],
    ['check x --century 1700', '--century "1700" is not one of 1800, 1900, 2000\n'],
    ['check - --delimiter ab', '--delimiter must be one character\n'],
    ['check - --json nonsense', 'unknown field'],
  ])('refuses %s as wrong usage', async (words, message) => {
    const { code, stdout, stderr } = await cf(words);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain(CODE);
  });
});

describe('rtc cf check -', () => {
  const check = (stdin: string, words = '') => cf(`check -${words}`, { stdin });

  it('prints a line for each line, in order, and counts them', async () => {
    const { code, stdout, stderr } = await check(`${CODE}\n${OMOCODE}\n`);
    expect([code, stdout]).toEqual([0, `${CODE}\tvalid\t\n${OMOCODE}\tvalid\t\n`]);
    expect(stderr).toBe('2 lines: 2 good, 0 bad\n');
  });

  it('names bad lines by number, never by their content, and exits with 7', async () => {
    const { code, stdout, stderr } = await check(`${CODE}\n${WRONG}\n\n ${CODE}\n${CODE}`);
    expect(code).toBe(7);
    expect(stdout.split('\n').map((line) => line.split('\t').slice(1).join(' '))).toEqual([
      'valid ',
      'invalid check-character',
      'invalid length',
      'invalid characters',
      'valid ',
      '',
    ]);
    expect(stderr.split('\n').map((line) => line.split(': ').slice(0, 2).join(': '))).toEqual([
      'line 2: check-character',
      'line 3: length',
      'line 4: characters',
      '5 lines: 2 good, 3 bad',
      '         1  check-character: wrong check character',
      '         1  length: wrong length',
      '         1  characters: a character that cannot stand there',
      '',
    ]);
    expect(stderr).not.toMatch(/RSSMRA/);
  });

  it.each([
    ['CRLF', `${CODE}\r\n${CODE}\r\n`],
    ['no line end at the end', `${CODE}\n${CODE}`],
    ["UTF-8's mark", `\ufeff${CODE}\n${CODE}\n`],
  ])('reads lines with %s', async (_what, text) => {
    expect((await check(text)).stdout).toBe(`${CODE}\tvalid\t\n${CODE}\tvalid\t\n`);
  });

  it('reads empty input as no lines', async () => {
    expect(await check('')).toEqual({ code: 0, stdout: '', stderr: '0 lines: 0 good, 0 bad\n' });
  });

  it('refuses UTF-16, and says what to do', async () => {
    await writeFile(join(directory, 'utf16.txt'), Buffer.from(`\ufeff${CODE}\n`, 'utf16le'));
    const { code, stderr } = await cf('check --file utf16.txt');
    expect(code).toBe(2);
    expect(stderr).toContain('iconv -f UTF-16');
  });

  it('keeps a control character in the line that has it', async () => {
    expect((await check('a\tb\u0000\n')).stdout).toBe('a\\tb\\u0000\tinvalid\tcharacters\n');
  });

  it('prints a JSON object per line', async () => {
    const { stdout } = await check(`${CODE}\n${WRONG}\n`, ' --json');
    const [first, second] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(first).toEqual({ line: 1, cf: CODE, valid: true, kind: 'person', warnings: [] });
    expect(second).toMatchObject({ line: 2, cf: WRONG, valid: false, reason: 'check-character' });
    expect((await check(`${CODE}\n`, ' --json valid')).stdout).toBe('{"valid":true}\n');
  });

  it('prints the same as for single codes, wherever the input is cut into pieces', async () => {
    const codes = [CODE, OMOCODE, WRONG, '', 'x'.repeat(70), CODE.toLowerCase()];
    // 300 KB, so that a line is cut at the end of every chunk that is read from the file.
    const lines = Array.from({ length: 20_000 }, (_, index) => codes[(index * 7) % codes.length] ?? '');
    await writeFile(join(directory, 'pieces.txt'), lines.join('\r\n'));
    const { stdout, stderr } = await cf('check --file pieces.txt --rejects pieces.tsv');
    const single = new Map(
      await Promise.all(
        codes.map(async (code) => [code, (await run(['cf', 'check', code], { clock })).stdout] as const),
      ),
    );
    expect(stdout).toBe(lines.map((line) => single.get(line)).join(''));
    const good = stdout.split('\tvalid\t').length - 1;
    expect(good).toBeGreaterThan(9_000);
    expect(stderr.replaceAll(',', '').split('\n')[0]).toBe(`20000 lines: ${good} good ${20_000 - good} bad`);
  });

  it('refuses a line without an end, and goes on after it', async () => {
    const atLimit = 'x'.repeat(64 * 1024);
    const { stdout, stderr } = await check(`${atLimit}\n${atLimit}x\n${CODE}\n`);
    expect(stdout).toBe(`${atLimit}\tinvalid\tlength\n${CODE}\tvalid\t\n`);
    expect(stderr).toContain('line 2: length: more than 65536 bytes');
  });

  it('names a thousand bad lines, and counts the others', async () => {
    const { code, stderr } = await check(`${WRONG}\n`.repeat(5000));
    expect(code).toBe(7);
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(1003);
    expect(lines[999]).toMatch(/^line 1000: check-character: /);
    expect(lines.slice(1000)).toEqual([
      'Further bad lines are counted and not named; --rejects FILE keeps them all.',
      '5,000 lines: 0 good, 5,000 bad',
      '     5,000  check-character: wrong check character',
    ]);
  });

  it('writes bad lines with their content into a file for its owner', async () => {
    const { stderr } = await cf('check - --rejects bad.tsv', { stdin: `${CODE}\n${WRONG}\na\tb\n` });
    expect(stderr.split('\n')[0]).toBe('3 lines: 1 good, 2 bad');
    const file = join(directory, 'bad.tsv');
    expect(await readFile(file, 'utf8')).toBe(
      `2\tcheck-character\tthe check character does not fit the fifteen before it\t${WRONG}\n` +
        '3\tcharacters\tcharacter 2 is neither a letter from A to Z nor a digit\ta\\tb\n',
    );
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('ends with 130 when cancelled, without checking the line that was cut short', async () => {
    const stop = new AbortController();
    const { code, stderr } = await cf('check -', {
      stdin: 'RSSMRA',
      signal: stop.signal,
      isStdinOpen: true,
      onStdout: () => undefined,
      clock: () => {
        stop.abort();
        return clock();
      },
    });
    expect(code).toBe(130);
    expect(stderr).toBe('Cancelled: stopped after 0 lines\n');
  });

  it('draws its progress on a terminal, and wipes it away', async () => {
    let nowMs = clock();
    const { stderr } = await cf('check -', {
      stdin: `${CODE}\n`,
      terminals: ['stderr'],
      clock: () => {
        nowMs += 200;
        return nowMs;
      },
    });
    expect(stderr).toContain('1 lines, ');
    expect(stderr.slice(0, stderr.lastIndexOf('1 line: '))).toMatch(/\r\u001b\[K$/);
  });
});

describe('a column of CSV', () => {
  const check = (stdin: string, column = 'cf') => cf(`check - --column ${column}`, { stdin });

  it.each([
    ['commas', `id,cf\n1,${CODE}\n`],
    ['semicolons', `id;cf\n1;${CODE}\n`],
    ['tabs', `id\tcf\n1\t${CODE}\n`],
    ['another case', `ID,"Cf"\n1,${CODE}\n`],
    ['CRLF and empty lines', `id,cf\r\n\r\n1,${CODE}\r\n`],
    ['a mark', `\ufeffcf,id\n${CODE},1\n`],
    ['quotes and line ends', `id,note,cf\n1,"a ""b""\n,c",${CODE}\n`],
  ])('is found by its name in %s', async (_what, text) => {
    expect((await check(text)).stdout).toBe(`${CODE}\tvalid\t\n`);
  });

  it('is found by its number when no row has names', async () => {
    expect((await check(`1,${CODE}\n2,${WRONG}\n`, '2')).stdout).toBe(
      `${CODE}\tvalid\t\n${WRONG}\tinvalid\tcheck-character\n`,
    );
  });

  it('is separated by the given delimiter', async () => {
    const { stdout } = await cf('check - --column cf --delimiter |', { stdin: `a,b|cf\n1,2,3|${CODE}\n` });
    expect(stdout).toBe(`${CODE}\tvalid\t\n`);
  });

  it('is reported as missing without showing the first row, which may be a person', async () => {
    const { code, stderr } = await check(`Mario,Rossi\n${CODE},x\n`);
    expect(code).toBe(2);
    expect(stderr).toContain('no column of the first row has the name "cf"');
    expect(stderr).not.toMatch(/Mario|Rossi/);
  });

  it('has broken rows reported in order, by the line in which they begin', async () => {
    const text = `id,cf\n1,"${CODE}"\n2,"${WRONG}\n"\n3,${CODE}"x\n4,\n5,"${CODE}\n6,${CODE}\n`;
    const { code, stdout, stderr } = await check(text);
    expect(code).toBe(7);
    expect(stdout).toBe(`${CODE}\tvalid\t\n${WRONG}\\n\tinvalid\tcharacters\n\tinvalid\tlength\n`);
    expect(stderr.split('\n').map((line) => line.split(': ').slice(0, 2).join(': '))).toEqual([
      'line 3: characters',
      'line 5: csv',
      'line 6: length',
      'line 7: csv',
      '5 lines: 1 good, 4 bad',
      '         2  csv: the row cannot be read',
      '         1  characters: a character that cannot stand there',
      '         1  length: wrong length',
      '',
    ]);
  });

  it('has a quote that is never closed reported once, in constant memory', async () => {
    const { stderr } = await check(`cf\n"${'x'.repeat(5_000_000)}`);
    expect(stderr).toBe(
      'line 2: csv: more than a megabyte without an end: is a quote never closed?\n1 line: 0 good, 1 bad\n         1  csv: the row cannot be read\n',
    );
  });
});

describe('rtc cf decode', () => {
  it('prints the facts in a code, exactly the ten fields of the API as JSON', async () => {
    const { code, stdout } = await cf(`decode ${CODE.toLowerCase()} --json`);
    expect(code).toBe(0);
    expect(stdout).toBe(
      `{"name":"MRA","surname":"RSS","gender":"M","day":1,"month":2,"year":1980,"birthday":"1980-02-01","birthplace":"ROMA","birthplaceProvincia":"RM","cf":"${CODE}"}\n`,
    );
  });

  it('prints more with --details', async () => {
    const { details } = JSON.parse((await cf(`decode ${OMOCODE} --json --details`)).stdout);
    expect(details).toMatchObject({ baseCode: CODE, omocodiaLevel: 1, birthplaceCode: 'H501' });
  });

  it('prints several codes as lines of seven columns, and reports the invalid ones by position', async () => {
    const { code, stdout, stderr } = await cf(`decode ${CODE} ${WRONG}`);
    expect([code, stdout]).toEqual([7, `${CODE}\tRSS\tMRA\tM\t1980-02-01\tROMA\tRM\n`]);
    expect(stderr).toMatch(/^code 2: check-character: /);
  });

  it('shows an invalid code only on the terminal of the user who typed it', async () => {
    const elsewhere = await cf(`decode ${WRONG}`);
    expect([elsewhere.code, elsewhere.stdout]).toEqual([7, '']);
    expect(elsewhere.stderr).not.toContain(WRONG);
    expect((await cf(`decode ${WRONG}`, onTerminal)).stderr).toContain(WRONG);
  });

  it('leaves bad lines out of a run with many codes', async () => {
    const { code, stdout } = await cf('decode -', { stdin: `${WRONG}\n${OMOCODE}\n` });
    expect([code, stdout]).toEqual([7, `${OMOCODE}\tRSS\tMRA\tM\t1980-02-01\tROMA\tRM\n`]);
    const json = await cf('decode - --json cf,birthplace', { stdin: `${CODE}\n` });
    expect(json.stdout).toBe(`{"cf":"${CODE}","birthplace":"ROMA"}\n`);
  });
});

describe('rtc cf omocodie', () => {
  it('lists the other 127 forms, one per line', async () => {
    const { stdout } = await cf(`omocodie ${CODE}`);
    const forms = stdout.trim().split('\n');
    expect([forms.length, forms[0]]).toEqual([127, OMOCODE]);
    expect(JSON.parse((await cf(`omocodie ${CODE} --json`)).stdout)).toEqual(forms);
  });

  it('prints the forms of each of many codes on one line', async () => {
    const { stdout } = await cf('omocodie -', { stdin: `${CODE}\n${OMOCODE}\n` });
    const [ofBase = [], ofOther = []] = stdout
      .trim()
      .split('\n')
      .map((line) => line.split('\t'));
    expect([ofBase.length, ofBase[0], ofOther.length, ofOther[0]]).toEqual([127, OMOCODE, 127, CODE]);
  });

  it('takes one code, and refuses an invalid one', async () => {
    expect(await cf(`omocodie ${CODE} ${OMOCODE}`)).toMatchObject({ code: 2, stdout: '' });
    expect(await cf(`omocodie ${WRONG}`)).toMatchObject({ code: 7, stdout: '' });
  });
});
