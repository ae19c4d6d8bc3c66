import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { writeFiscalIndex } from '../../../scripts/build/fiscal.ts';
import { LAUNCHER, ROOT } from '../../../test/support/parts/built.ts';
import { median, percentile } from '../../support/statistics.ts';
import { type BenchPerson, generateCodes, inventPeople } from './people.ts';

/*
 * `npm run bench:fiscal`, after `npm run build`, measures the fiscal library beside codice-fiscale-js with the same inputs in the
 * same run, and the built `rtc cf`. Rates are per second of processor time, which other programs on the machine hardly
 * change.
 */

type Library = typeof import('../../../src/fiscal/index.ts');

const asOf = '2026-11-21';
/** The other library is installed here. The package does not depend on it. */
const FOLDER = `${ROOT}.cache/bench-fiscal/`;
const PEER = `${FOLDER}node_modules/codice-fiscale-js/dist/codice.fiscale.commonjs2.js`;
/** Long enough for the optimising compiler to finish. */
const RUN_MS = 400;
/** Keeps results alive, so that no call is optimised away. */
const sink: { value: unknown } = { value: undefined };

/** Reports the used time and memory on its own channel when the process ends. */
const REPORTER = `data:text/javascript,${encodeURIComponent(
  `import { writeSync } from 'node:fs'; process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    writeSync(3, JSON.stringify({ seconds: (userCPUTime + systemCPUTime) / 1e6, megabytes: maxRSS / 1024 })); });`,
)}`;

const file = await prepare();
const library = (await import(pathToFileURL(file).href)) as Library;
const people = inventPeople(100_000);
const codes = generateCodes(library, people, asOf);
await compareRates();
search();
starts();
await readFiles();

/** Installs the other library, and builds ours as its users load it. Returns the path of our index. */
async function prepare(): Promise<string> {
  mkdirSync(FOLDER, { recursive: true });
  const dependencies = { 'codice-fiscale-js': '2.4.0' };
  writeFileSync(`${FOLDER}package.json`, JSON.stringify({ private: true, type: 'module', dependencies }));
  const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts'];
  const { status } = spawnSync('npm', install, { cwd: FOLDER, stdio: 'inherit' });
  if (status !== 0) throw new Error('codice-fiscale-js could not be installed');
  await writeFiscalIndex(FOLDER);
  return `${FOLDER}index.js`;
}

async function compareRates(): Promise<void> {
  const { CodiceFiscale } = await import(pathToFileURL(PEER).href);
  const toPeer = ({ surname, givenName, sex, birthDate, birthplace, province }: BenchPerson): unknown =>
    new CodiceFiscale({
      ...{ name: givenName, surname, gender: sex, ...birthDate, birthplace },
      birthplaceProvincia: province,
    }).toString();
  const compare = <T>(name: string, inputs: readonly T[], ...works: readonly ((input: T) => unknown)[]) => {
    // The other library throws for places that it does not know.
    const attempt = (work: (input: T) => unknown) => (input: T) => {
      try {
        return work(input);
      } catch {
        return undefined;
      }
    };
    const [own = 0, peer] = works.map((work) => perSecond(inputs, attempt(work)));
    const other = peer === undefined ? '' : `; codice-fiscale-js ${format(peer)}/s`;
    console.log(`${name}: ${format(own)}/s${other}`);
  };
  compare('generate', people, (person) => library.generate(person, { asOf }), toPeer);
  compare('decode', codes, (code) => library.decode(code, { asOf }), CodiceFiscale.computeInverse);
  compare('check', codes, (code) => library.check(code, { asOf }), CodiceFiscale.check);
  const pairs = people.map((person, at) => ({ person, code: codes[at] ?? '' }));
  compare('match', pairs, ({ person, code }) => library.match(code, person, { asOf }));
  compare('omocodie', codes, (code) => library.omocodie(code, { asOf }), CodiceFiscale.getOmocodie);
}

/**
 * Searches for the first one to eight letters of each birthplace, as a prompt does while somebody types. The quickest of
 * three attempts counts, because another process may interrupt one for longer than the search takes.
 */
function search(): void {
  const typed = people
    .slice(0, 2000)
    .flatMap(({ birthplace }) => Array.from({ length: 8 }, (_, at) => birthplace.slice(0, at + 1)));
  const searchMs = (text: string): number => {
    const startedAt = performance.now();
    library.suggestPlaces(text);
    return performance.now() - startedAt;
  };
  searchMs('warm up');
  const times = typed.map((text) => Math.min(...[1, 2, 3].map(() => searchMs(text))));
  const at = (share: number): string => percentile(times, share).toFixed(2);
  console.log(`search as one types: median ${at(0.5)} ms, 99th percentile ${at(0.99)} ms`);
}

function starts(): void {
  const own = JSON.stringify(pathToFileURL(file).href);
  const person = `{ surname: 'Rossi', givenName: 'Mario', sex: 'M', birthDate: '1980-01-01', birthplace: 'Roma' }`;
  const code = `'RSSMRA80A01H501U'`;
  const timed = (work: string): string =>
    `const startedAt = performance.now(); ${work}; console.log(performance.now() - startedAt);`;
  const scripts: Readonly<Record<string, string>> = {
    'import of the library': timed(`await import(${own})`),
    'import of codice-fiscale-js': timed(`await import(${JSON.stringify(pathToFileURL(PEER).href)})`),
    'first generated code': `import { generate } from ${own}; ${timed(`generate(${person}, { asOf: '${asOf}' })`)}`,
    'first decoded code': `import { decode } from ${own}; ${timed(`decode(${code}, { asOf: '${asOf}' })`)}`,
    'first checked code': `import { check } from ${own}; ${timed(`check(${code}, { asOf: '${asOf}' })`)}`,
  };
  for (const [name, text] of Object.entries(scripts)) {
    const args = ['--input-type=module', '--eval', text];
    const printed = Array.from({ length: 15 }, () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      if (status !== 0) throw new Error(stderr);
      return Number(stdout);
    });
    console.log(`${name}: ${median(printed).toFixed(1)} ms`);
  }
}

/** Lets `rtc cf` read files of a million rows: all valid, and a tenth of them not. */
async function readFiles(): Promise<void> {
  const makeFile = (name: string, toRow: (person: BenchPerson, at: number) => string): string => {
    const path = `${FOLDER}${name}.csv`;
    const descriptor = openSync(path, 'w');
    writeSync(descriptor, 'id,surname,name,gender,day,month,year,city,province,cf\n');
    const block = people.map(toRow).join('');
    for (let time = 0; time < 10; time += 1) writeSync(descriptor, block);
    return path;
  };
  const files = {
    valid: makeFile('valid', (person, at) => csvRow(person, codes[at])),
    'a tenth invalid': makeFile('a-tenth-invalid', (person, at) =>
      // A digit is not a check character.
      at % 10 === 0 ? csvRow(spoilt(person, at), `${codes[at]?.slice(0, 15)}0`) : csvRow(person, codes[at]),
    ),
  };
  for (const [name, path] of Object.entries(files)) {
    for (const words of [
      ['check', '-', '--column', 'cf'],
      ['generate', '-', '--csv', '--append'],
    ]) {
      const { seconds, megabytes } = await readFile([LAUNCHER, 'cf', ...words], path);
      console.log(
        `rtc cf ${words.join(' ')}, 1,000,000 rows, ${name}: ${seconds.toFixed(1)} s of one core, ${megabytes.toFixed(0)} MB`,
      );
    }
  }
}

/** Removes the given name, or sets a place that is misspelt or ambiguous, or an impossible date. */
function spoilt(person: BenchPerson, at: number): BenchPerson {
  const faults: readonly Partial<BenchPerson>[] = [
    { givenName: '' },
    { birthplace: 'Rmoa' },
    { birthplace: 'Castro', province: '' },
    { birthDate: { ...person.birthDate, day: 31, month: 2 } },
  ];
  return { ...person, ...faults[(at / 10) % faults.length] };
}

function csvRow(
  { surname, givenName, sex, birthDate, birthplace, province }: BenchPerson,
  code = '',
): string {
  const { day, month, year } = birthDate;
  return `1,${surname},${givenName},${sex},${day},${month},${year},"${birthplace}",${province},${code}\n`;
}

async function readFile(args: readonly string[], path: string) {
  const child = spawn(process.execPath, ['--import', REPORTER, ...args], {
    stdio: [openSync(path, 'r'), 'ignore', 'ignore', 'pipe'],
  });
  let report = '';
  child.stdio[3]?.on('data', (data: Buffer) => {
    report += data.toString();
  });
  await once(child, 'close');
  return JSON.parse(report) as { readonly seconds: number; readonly megabytes: number };
}

/** Returns calls per second of processor time, the collector's and the compiler's threads included. The best of three runs counts. */
function perSecond<T>(inputs: readonly T[], work: (input: T) => unknown): number {
  const runOnce = (): number => {
    const started = process.cpuUsage();
    let [calls, elapsedMs] = [0, 0];
    do {
      const batch = Math.max(1, Math.min(inputs.length, 1 + calls));
      for (let at = 0; at < batch; at += 1) sink.value = work(inputs[(calls + at) % inputs.length] as T);
      calls += batch;
      const { user, system } = process.cpuUsage(started);
      elapsedMs = (user + system) / 1000;
    } while (elapsedMs < RUN_MS);
    return (calls / elapsedMs) * 1000;
  };
  runOnce();
  return Math.max(...[1, 2, 3].map(runOnce));
}

function format(rate: number): string {
  return Math.round(rate).toLocaleString('en');
}
