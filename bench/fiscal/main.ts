/**
 * Measures the fiscal library beside its peers, same inputs, same run: `npm run bench:fiscal`.
 * With `--own` the peers are left out.
 */
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { perSecond, processMs } from './measure.ts';
import { type BenchPerson, inventPeople } from './people.ts';
import { buildLibrary, installPeers, peerUrl, workspace } from './workspace.ts';

type Library = typeof import('../../src/fiscal/index.ts');
type Peer = {
  readonly generate: (person: BenchPerson) => string;
  readonly decode: (code: string) => unknown;
  readonly check: (code: string) => unknown;
  readonly omocodie: (code: string) => readonly string[];
};

const asOf = '2026-11-21';
const isOwnOnly = process.argv.includes('--own');

const main = async (): Promise<void> => {
  if (!isOwnOnly) installPeers();
  const file = await buildLibrary();
  const library = (await import(pathToFileURL(file).href)) as Library;
  const people = inventPeople(20_000);
  const codes = people.map((person) => {
    const generated = library.generate(person, { asOf });
    if (!generated.ok) throw new Error(JSON.stringify(generated.faults));
    return generated.codiceFiscale;
  });
  const peers = isOwnOnly ? {} : await loadPeers();
  agree(peers, people, codes);
  rates(library, peers, people, codes);
  streams(library, codes);
  starts(file, codes[0] ?? '');
};

const agree = (
  peers: Record<string, Peer>,
  people: readonly BenchPerson[],
  codes: readonly string[],
): void => {
  for (const [name, peer] of Object.entries(peers)) {
    const same = people
      .slice(0, 200)
      .filter((person, at) => attempt(() => peer.generate(person)) === codes[at]);
    console.log(`${name} generates the same code for ${same.length} of 200`);
  }
};

const attempt = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

const rates = (
  library: Library,
  peers: Record<string, Peer>,
  people: readonly BenchPerson[],
  codes: readonly string[],
): void => {
  const checker = library.createChecker({ asOf });
  report(
    'generate',
    1e6,
    perSecond(people, (person) => library.generate(person, { asOf })),
    peers,
    (peer) => perSecond(people, (person) => attempt(() => peer.generate(person))),
  );
  report(
    'decode, with place and date',
    2e6,
    perSecond(codes, (code) => library.decode(code, { asOf })),
    peers,
    (peer) => perSecond(codes, (code) => attempt(() => peer.decode(code))),
  );
  report(
    'check, with place and date',
    5e6,
    perSecond(codes, (code) => library.check(code, { asOf })),
    peers,
    (peer) => perSecond(codes, (code) => attempt(() => peer.check(code))),
  );
  report(
    'check, status only',
    5e6,
    perSecond(codes, (code) => checker.checkStatus(code)),
    {},
    () => 0,
  );
  report(
    'omocodie, all 127',
    1e5,
    perSecond(codes, (code) => library.omocodie(code, { asOf })),
    peers,
    (peer) => perSecond(codes, (code) => attempt(() => peer.omocodie(code))),
  );
};

const report = (
  work: string,
  goal: number,
  own: number,
  peers: Record<string, Peer>,
  measure: (peer: Peer) => number,
): void => {
  const ratios = Object.entries(peers).map(([name, peer]) => {
    const rate = measure(peer);
    return `${name} ${format(rate)}/s (${Math.round(own / rate)} times)`;
  });
  console.log([`${work}: ${format(own)}/s, goal ${format(goal)}/s`, ...ratios].join('; '));
};

const format = (rate: number): string => Math.round(rate).toLocaleString('en');

/** Codes as they lie in a file, one a line, checked without making strings. */
const streams = (library: Library, codes: readonly string[]): void => {
  const bytes = new TextEncoder().encode(codes.map((code) => `${code}\n`).join(''));
  const { checkBytes } = library.createChecker({ asOf });
  const rounds = perSecond([bytes], (lines) => {
    let valid = 0;
    for (let at = 0; at < lines.length; at += 17) if (checkBytes(lines, at, at + 16) <= 1) valid++;
    return valid;
  });
  report('checkBytes, lines of a file', 1e6, rounds * codes.length, {}, () => 0);
};

const starts = (file: string, code: string): void => {
  const url = pathToFileURL(file).href;
  const script = (name: string, text: string): string => {
    writeFileSync(`${workspace}${name}`, text);
    return `${workspace}${name}`;
  };
  const timed = (specifier: string): string =>
    `const started = performance.now(); await import(${JSON.stringify(specifier)}); console.log(performance.now() - started);`;
  const own = processMs([script('import-own.mjs', timed(url))], { printed: true });
  const peer = isOwnOnly
    ? ''
    : `; codice-fiscale-js ${processMs([script('import-peer.mjs', timed(peerUrl(PEER_ENTRY)))], { printed: true }).toFixed(1)} ms`;
  console.log(`import: ${own.toFixed(1)} ms, goal 5 ms${peer}`);
  const first = `import { check, decode, generate } from ${JSON.stringify(url)}; const started = performance.now();`;
  const call = (name: string, text: string): string =>
    processMs([script(name, `${first}${text};console.log(performance.now() - started);`)], {
      printed: true,
    }).toFixed(2);
  console.log(`first check: ${call('first-check.mjs', `check('${code}', { asOf: '${asOf}' })`)} ms`);
  console.log(`first decode: ${call('first-decode.mjs', `decode('${code}', { asOf: '${asOf}' })`)} ms`);
  const person = `{surname:'Rossi',givenName:'Mario',sex:'M',birthDate:'1980-01-01',birthplace:'Roma'}`;
  console.log(`first generate: ${call('first-generate.mjs', `generate(${person}, { asOf: '${asOf}' })`)} ms`);
  const empty = processMs([script('empty.mjs', '')]);
  const whole = processMs([script('check.mjs', `${first}check('${code}', { asOf: '${asOf}' })`)]);
  console.log(
    `process that checks one code: ${(whole / empty).toFixed(2)} times an empty one (${empty.toFixed(0)} ms)`,
  );
};

const PEER_ENTRY = 'codice-fiscale-js/dist/codice.fiscale.commonjs2.js';

const loadPeers = async (): Promise<Record<string, Peer>> => {
  const { default: CodiceFiscale } = await import(peerUrl(PEER_ENTRY));
  const codiceFiscaleJs: Peer = {
    generate: ({ surname, givenName, sex, birthDate, birthplace, province }) =>
      CodiceFiscale.compute({
        name: givenName,
        surname,
        gender: sex,
        day: birthDate.day,
        month: birthDate.month,
        year: birthDate.year,
        birthplace,
        birthplaceProvincia: province,
      }),
    decode: (code) => CodiceFiscale.computeInverse(code),
    check: (code) => CodiceFiscale.check(code),
    omocodie: (code) => CodiceFiscale.getOmocodie(code),
  };
  return { 'codice-fiscale-js': codiceFiscaleJs };
};

await main();
