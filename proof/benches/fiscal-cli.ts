/**
 * Measures the built `rtc cf` as a process, beside an empty process of the same Node: the second part of `npm run
 * bench:fiscal`. Load on the machine cancels out in the ratio. Rates are per second of processor time.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { generate } from '../../src/fiscal/index.ts';
import { LAUNCHER, ROOT } from '../../test/support/parts/built.ts';
import { median } from '../support/statistics.ts';
import { generateCodes, inventPeople } from './fiscal/people.ts';

const folder = `${ROOT}.cache/bench-fiscal-cli/`;
const asOf = '2026-11-21';

type Cost = { readonly wallMs: number; readonly cpuMs: number; readonly memoryMb: number };

const main = async (): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  const people = inventPeople(100_000);
  const codes = generateCodes({ generate }, people, asOf);
  const lines = write('codes-10m.txt', '', codes.map((code) => `${code}\n`).join(''), 100);
  const csv = write(
    'people-1m.csv',
    CSV_HEADER,
    people.map((person, at) => csvRow(person, codes[at])).join(''),
    10,
  );
  const tenthBad = write(
    'people-tenth-bad-1m.csv',
    CSV_HEADER,
    people
      .map((person, at) =>
        at % 10 === 0 ? csvRow(spoilt(person, at), wrongCode(codes[at])) : csvRow(person, codes[at]),
      )
      .join(''),
    10,
  );
  const wrong = write('wrong-1m.txt', '', codes.map((code) => `${wrongCode(code)}\n`).join(''), 10);
  start(codes[0] ?? '');
  const ten = { input: lines, count: 10_000_000 };
  await stream('check -, 10,000,000 lines', ten, ['check', '-'], { perSecond: 1e6, memoryMb: 120 });
  await stream('check - --json, 10,000,000 lines', ten, ['check', '-', '--json']);
  await stream('check -, 1,000,000 invalid lines', { input: wrong, count: 1_000_000 }, ['check', '-']);
  for (const [name, input] of [
    ['', csv],
    [', a tenth bad', tenthBad],
  ] as const) {
    const rows = { input, count: 1_000_000 };
    const checks = `check --column, CSV of 1,000,000 rows${name}`;
    await stream(checks, rows, ['check', '-', '--column', 'cf'], { perSecond: 200_000, memoryMb: 150 });
    const generates = `generate --append, CSV of 1,000,000 rows${name}`;
    const words = ['generate', '-', '--csv', '--append'];
    await stream(generates, rows, words, { perSecond: 100_000, memoryMb: 150 });
  }
  await stream('decode -, 10,000,000 lines', ten, ['decode', '-']);
};

const CSV_HEADER = 'id,surname,name,gender,day,month,year,city,province,cf\n';

type Invented = ReturnType<typeof inventPeople>[number];

/** Spoils a person: removes the given name, or sets a place that is misspelt or ambiguous, or an impossible date. */
const spoilt = (person: Invented, at: number): Invented => {
  const faults: readonly Partial<Invented>[] = [
    { givenName: '' },
    { birthplace: 'Rmoa' },
    { birthplace: 'Castro', province: '' },
    { birthDate: { ...person.birthDate, day: 31, month: 2 } },
  ];
  return { ...person, ...faults[(at / 10) % faults.length] };
};

/** A digit is not a check character. */
const wrongCode = (code = ''): string => `${code.slice(0, 15)}0`;

const csvRow = (person: Invented, code = ''): string => {
  const { day, month, year } = person.birthDate;
  const date = [day, month, year].join(',');
  return `1,${person.surname},${person.givenName},${person.sex},${date},"${person.birthplace}",${person.province},${code}\n`;
};

const write = (name: string, header: string, block: string, times: number): string => {
  const file = `${folder}${name}`;
  const descriptor = openSync(file, 'w');
  writeSync(descriptor, header);
  for (let time = 0; time < times; time++) writeSync(descriptor, block);
  return file;
};

/** The processes alternate, so that other load affects both. No reporter is loaded, because it would add to both. */
const start = (code: string): void => {
  const empty = `${folder}empty.mjs`;
  writeFileSync(empty, '');
  const times = Array.from({ length: 42 }, () => ({
    empty: processMs([empty]),
    own: processMs([LAUNCHER, 'cf', 'check', code]),
  })).slice(2); // The first runs fill the compile cache.
  const empties = times.map((time) => time.empty);
  const owns = times.map((time) => time.own);
  const medians = (median(owns) / median(empties)).toFixed(2);
  const bests = (Math.min(...owns) / Math.min(...empties)).toFixed(2);
  console.log(
    `rtc cf check CODE: ${medians} times an empty process (medians; ${bests} times, the fastest of each; empty ${median(empties).toFixed(0)} ms), goal 1.4 times`,
  );
};

const processMs = (args: readonly string[]): number => {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return performance.now() - started;
};

const stream = async (
  work: string,
  { input, count }: { readonly input: string; readonly count: number },
  words: readonly string[],
  goal?: { readonly perSecond: number; readonly memoryMb: number },
): Promise<void> => {
  const used = await cost([LAUNCHER, 'cf', ...words], input);
  const perSecond = (count / used.cpuMs) * 1000;
  const goals = goal === undefined ? '' : `; goal ${format(goal.perSecond)}/s, below ${goal.memoryMb} MB`;
  console.log(
    `${work}: ${format(perSecond)}/s of one core (${format((count / used.wallMs) * 1000)}/s by the clock), ${used.memoryMb.toFixed(0)} MB${goals}`,
  );
};

/** Reports the used time on its own channel when the process ends. */
const REPORTER = `data:text/javascript,${encodeURIComponent(
  `import { writeSync } from 'node:fs'; process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    writeSync(3, JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, memoryMb: maxRSS / 1024 })); });`,
)}`;

const cost = (args: readonly string[], input?: string): Promise<Cost> => {
  const started = performance.now();
  const child = spawn(process.execPath, ['--import', REPORTER, ...args], {
    stdio: [input === undefined ? 'ignore' : openSync(input, 'r'), 'ignore', 'ignore', 'pipe'],
  });
  let report = '';
  child.stdio[3]?.on('data', (data: Buffer) => {
    report += data.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve({ wallMs: performance.now() - started, ...JSON.parse(report) }));
  });
};

const format = (rate: number): string => Math.round(rate).toLocaleString('en');

await main();
