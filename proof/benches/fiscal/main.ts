/**
 * Measures the fiscal library and other libraries with the same inputs in the same run: `npm run bench:fiscal`. `--own`
 * leaves the others out.
 */
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { perSecond, perSecondAwaited, printedMs, processMs } from './measure.ts';
import { CODICE_FISCALE_JS, loadPeers, type Peer } from './peers.ts';
import { type BenchPerson, inventPeople } from './people.ts';
import { buildLibrary, installPeers, peerUrl, workspace } from './workspace.ts';

type Library = typeof import('../../../src/fiscal/index.ts');

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
  times.sort((a, b) => a - b);
  const at = (share: number): string => (times[Math.floor(times.length * share)] ?? 0).toFixed(2);
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

await main();
