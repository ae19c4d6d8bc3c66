/**
 * Measures the fiscal library and other libraries with the same inputs in the same run: `npm run bench:fiscal`. `--own`
 * leaves the others out.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { writeFiscalIndex } from '../../../scripts/build/fiscal.ts';
import { median, percentile } from '../../support/statistics.ts';
import { type BenchPerson, generateCodes, inventPeople } from './people.ts';

type Library = typeof import('../../../src/fiscal/index.ts');

const asOf = '2026-11-21';

const isOwnOnly = process.argv.includes('--own');

const main = async (): Promise<void> => {
  if (!isOwnOnly) installPeers();
  const file = await buildLibrary();
  const library = (await import(pathToFileURL(file).href)) as Library;
  const people = inventPeople(20_000);
  const codes = generateCodes(library, people, asOf);
  const peers = isOwnOnly ? [] : await loadPeers();
  await agree(peers, people, codes);
  await rates(library, peers, people, codes);
  await streams(library, codes);
  starts(file, codes[0] ?? '');
};

const agree = async (
  peers: readonly Peer[],
  people: readonly BenchPerson[],
  codes: readonly string[],
): Promise<void> => {
  for (const peer of peers) {
    let same = 0;
    for (const [at, person] of people.slice(0, 500).entries()) {
      if ((await attempt(() => peer.generate(person))) === codes[at]) same++;
    }
    console.log(`${peer.name} generates the same code for ${same} of 500 people`);
  }
};

/** Some libraries throw for places that they do not know. */
const attempt = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

const rates = async (
  library: Library,
  peers: readonly Peer[],
  people: readonly BenchPerson[],
  codes: readonly string[],
): Promise<void> => {
  const checker = library.createChecker({ asOf });
  const generate = perSecond(people, (person) => library.generate(person, { asOf }));
  await report('generate', 1e6, generate, peers, (peer) => rate(people, peer.generate));
  const decode = perSecond(codes, (code) => library.decode(code, { asOf }));
  await report('decode, with place and date', 4e6, decode, peers, (peer) => rate(codes, peer.decode));
  const check = perSecond(codes, (code) => library.check(code, { asOf }));
  const checking = peers.filter((peer) => peer.check !== undefined);
  await report('check, with place and date', 8e6, check, checking, (peer) =>
    rate(codes, (code) => peer.check?.(code)),
  );
  await report(
    'check, status only',
    8e6,
    perSecond(codes, (code) => checker.checkStatus(code)),
  );
  const pairs = people.map((person, at) => ({ person, code: codes[at] ?? '' }));
  const match = perSecond(pairs, ({ person, code }) => library.match(code, person, { asOf }));
  await report('match, code and person', 1e6, match);
  searches(library, people);
  const omocodie = perSecond(codes, (code) => library.omocodie(code, { asOf }));
  await report('omocodie, all 127', 1e5, omocodie, peers, (peer) => rate(codes, peer.omocodie));
};

/**
 * Searches for the first one to eight letters of each birthplace, as a prompt does while somebody types. The quickest of
 * three attempts counts, because another process may interrupt one for longer than the search takes.
 */
const searches = (library: Library, people: readonly BenchPerson[]): void => {
  const typed = people
    .slice(0, 2000)
    .flatMap(({ birthplace }) => Array.from({ length: 8 }, (_, at) => birthplace.slice(0, at + 1)));
  library.suggestPlaces('warm up');
  const times = typed.map((text) => Math.min(...[1, 2, 3].map(() => searchMs(library, text))));
  const at = (share: number): string => percentile(times, share).toFixed(2);
  console.log(`search as one types: ${at(0.5)} ms, 99th percentile ${at(0.99)} ms, goal 1 ms`);
};

const searchMs = (library: Library, text: string): number => {
  const started = performance.now();
  library.suggestPlaces(text);
  return performance.now() - started;
};

const rate = async <T>(inputs: readonly T[], work: (input: T) => unknown): Promise<number> => {
  const guarded = (input: T): unknown => attempt(() => work(input));
  if (!(work(inputs[0] as T) instanceof Promise)) return perSecond(inputs, guarded);
  return perSecondAwaited(inputs, async (input) => guarded(input));
};

const report = async (
  work: string,
  goal: number,
  own: number,
  peers: readonly Peer[] = [],
  measure: (peer: Peer) => Promise<number> = async () => Number.NaN,
): Promise<void> => {
  const texts = [`${work}: ${format(own)}/s, goal ${format(goal)}/s`];
  for (const peer of peers) {
    const peerRate = await measure(peer);
    texts.push(`${peer.name} ${format(peerRate)}/s (${(own / peerRate).toFixed(1)} times)`);
  }
  console.log(texts.join('; '));
};

const format = (rate: number): string => Math.round(rate).toLocaleString('en');

/** Checks codes as a file contains them, one a line, without making strings. */
const streams = async (library: Library, codes: readonly string[]): Promise<void> => {
  const bytes = new TextEncoder().encode(codes.map((code) => `${code}\n`).join(''));
  const { checkBytes } = library.createChecker({ asOf });
  const rounds = perSecond([bytes], (lines) => {
    let valid = 0;
    for (let at = 0; at < lines.length; at += 17) if (checkBytes(lines, at, at + 16) <= 1) valid++;
    return valid;
  });
  await report('checkBytes, lines of a file', 1e6, rounds * codes.length);
};

const starts = (file: string, code: string): void => {
  const url = pathToFileURL(file).href;
  const script = (name: string, text: string): string => {
    writeFileSync(`${workspace}${name}`, text);
    return `${workspace}${name}`;
  };
  const timed = (specifier: string): string =>
    `const started = performance.now(); await import(${JSON.stringify(specifier)}); console.log(performance.now() - started);`;
  const own = printedMs(script('import-own.mjs', timed(url)));
  const peer = isOwnOnly
    ? ''
    : printedMs(script('import-peer.mjs', timed(peerUrl(CODICE_FISCALE_JS)))).toFixed(1);
  console.log(`import: ${own.toFixed(1)} ms, goal 5 ms; codice-fiscale-js ${peer} ms`);
  const imports = `import { check, decode, generate } from ${JSON.stringify(url)};`;
  const first = (name: string, call: string): string => {
    const text = `${imports} const started = performance.now(); ${call}; console.log(performance.now() - started);`;
    return printedMs(script(name, text)).toFixed(2);
  };
  const person = `{ surname: 'Rossi', givenName: 'Mario', sex: 'M', birthDate: '1980-01-01', birthplace: 'Roma' }`;
  console.log(`first check: ${first('first-check.mjs', `check('${code}', { asOf: '${asOf}' })`)} ms`);
  console.log(`first decode: ${first('first-decode.mjs', `decode('${code}', { asOf: '${asOf}' })`)} ms`);
  console.log(
    `first generate: ${first('first-generate.mjs', `generate(${person}, { asOf: '${asOf}' })`)} ms`,
  );
  const [empty = 0, whole = 0] = processMs([
    script('empty.mjs', ''),
    script('check.mjs', `${imports} check('${code}', { asOf: '${asOf}' });`),
  ]);
  console.log(`process that checks one code: ${(whole / empty).toFixed(2)} times an empty one, goal 1.7`);
};

/** Long enough for the optimising compiler to finish. */
const WARM_UP_MS = 400;

const RUN_MS = 400;

/**
 * Returns calls per second of processor time, which includes the collector's and the compiler's threads. Elapsed time would
 * include other programs on a shared machine. The best of three runs counts.
 */
const perSecond = <T>(inputs: readonly T[], work: (input: T) => unknown): number => {
  runFor(WARM_UP_MS, inputs, work);
  return Math.max(...[1, 2, 3].map(() => runFor(RUN_MS, inputs, work)));
};

/** Like {@link perSecond}, for functions that return promises. */
const perSecondAwaited = async <T>(
  inputs: readonly T[],
  work: (input: T) => Promise<unknown>,
): Promise<number> => {
  let best = 0;
  for (let run = 0; run < 3; run++) {
    const started = process.cpuUsage();
    let calls = 0;
    do {
      sink.value = await work(inputs[calls % inputs.length] as T);
      calls++;
    } while (calls % 64 !== 0 || cpuMs(started) < RUN_MS);
    best = Math.max(best, (calls / cpuMs(started)) * 1000);
  }
  return best;
};

/** Keeps results alive, so that no call is optimised away. */
const sink: { value: unknown } = { value: undefined };

const cpuMs = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
};

const runFor = <T>(milliseconds: number, inputs: readonly T[], work: (input: T) => unknown): number => {
  const started = process.cpuUsage();
  let calls = 0;
  let elapsed = 0;
  do {
    const batch = Math.max(1, Math.min(inputs.length, 1 + calls));
    for (let at = 0; at < batch; at++) sink.value = work(inputs[(calls + at) % inputs.length] as T);
    calls += batch;
    elapsed = cpuMs(started);
  } while (elapsed < milliseconds);
  return (calls / elapsed) * 1000;
};

/** Returns the median of the milliseconds that the process prints. */
const printedMs = (script: string, repeat = 15): number =>
  median(
    Array.from({ length: repeat }, () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
      if (status !== 0) throw new Error(stderr);
      return Number(stdout);
    }),
  );

/** Returns the medians of whole processes. They alternate, so that other load affects all of them. */
const processMs = (scripts: readonly string[], repeat = 25): number[] => {
  const times = scripts.map((): number[] => []);
  for (let round = 0; round < repeat; round++) {
    for (const [index, script] of scripts.entries()) {
      const started = performance.now();
      if (spawnSync(process.execPath, [script]).status !== 0) throw new Error(`${script} failed`);
      times[index]?.push(performance.now() - started);
    }
  }
  return times.map(median);
};

const CODICE_FISCALE_JS = 'codice-fiscale-js/dist/codice.fiscale.commonjs2.js';

const MARKETTO = '@marketto/codice-fiscale-utils/dist/index.js';

const MARKETTO_PLACES = '@marketto/belfiore-connector-embedded/dist/index.js';

const loadPeers = async (): Promise<Peer[]> => [await codiceFiscaleJs(), await marketto()];

const codiceFiscaleJs = async (): Promise<Peer> => {
  const { CodiceFiscale } = await import(peerUrl(CODICE_FISCALE_JS));
  return {
    name: 'codice-fiscale-js',
    generate: ({ surname, givenName, sex, birthDate, birthplace, province }) =>
      new CodiceFiscale({
        name: givenName,
        surname,
        gender: sex,
        ...birthDate,
        birthplace,
        birthplaceProvincia: province,
      }).toString(),
    decode: (code) => CodiceFiscale.computeInverse(code),
    check: (code) => CodiceFiscale.check(code),
    omocodie: (code) => CodiceFiscale.getOmocodie(code),
  };
};

const marketto = async (): Promise<Peer> => {
  const { CodiceFiscaleUtils } = await import(peerUrl(MARKETTO));
  const { belfioreConnector } = await import(peerUrl(MARKETTO_PLACES));
  const { parser } = new CodiceFiscaleUtils(belfioreConnector);
  return {
    name: '@marketto/codice-fiscale-utils',
    generate: ({ surname, givenName, sex, birthDate: { year, month, day }, birthplace }) =>
      parser.encodeCf({
        lastName: surname,
        firstName: givenName,
        gender: sex,
        year,
        month: month - 1,
        day,
        place: birthplace,
      }),
    decode: (code) => parser.cfDecode(code),
    omocodie: (code) => Array.from({ length: 127 }, (_, index) => parser.cfOmocode(code, index + 1)),
  };
};

const root = new URL('../../../', import.meta.url);

/** The other libraries are installed in their own cache folder. The package does not depend on them. */
const workspace = fileURLToPath(new URL('.cache/bench-fiscal/', root));

const PEERS = {
  'codice-fiscale-js': '2.4.0',
  '@marketto/codice-fiscale-utils': '3.1.3',
  '@marketto/belfiore-connector-embedded': '1.2.1',
};

const peerUrl = (path: string): string => pathToFileURL(`${workspace}node_modules/${path}`).href;

const installPeers = (): void => {
  mkdirSync(workspace, { recursive: true });
  const manifest = { private: true, type: 'module', dependencies: PEERS };
  writeFileSync(`${workspace}package.json`, JSON.stringify(manifest));
  if (Object.keys(PEERS).every((name) => existsSync(`${workspace}node_modules/${name}/package.json`))) return;
  const npm = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: workspace,
    stdio: 'inherit',
  });
  if (npm.status !== 0) throw new Error('the peers could not be installed');
};

/** Builds the package as its users load it, without packing it. */
const buildLibrary = async (): Promise<string> => {
  const folder = `${workspace}fiscal/`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}package.json`, JSON.stringify({ private: true, type: 'module' }));
  await writeFiscalIndex(folder);
  return `${folder}index.js`;
};

await main();

/** The functions of another library. Some return promises. */
type Peer = {
  readonly name: string;
  readonly generate: (person: BenchPerson) => string | Promise<string>;
  readonly decode: (code: string) => unknown;
  readonly check?: (code: string) => unknown;
  readonly omocodie: (code: string) => readonly string[];
};
