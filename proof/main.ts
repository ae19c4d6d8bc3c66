/**
 * `npm run prove` attacks the claims of the service, part by part, and writes the results into docs/proof.md.
 *
 *   --only NAME   runs this part alone, even if its result is known (may be given several times)
 *   --short       runs the short form, as the tests do, and writes nothing
 *   --again       runs all parts; without it, parts with a result for the current sources are skipped
 *   --times N     runs each part N times, so that the table can show a spread
 *   --write       runs nothing and writes docs/proof.md from the results in .cache/prove
 *   --list        prints the names of the parts
 *
 * An interrupted run can be started again: the result of each finished part is in .cache/prove.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { printTable, proofDocument } from './document.ts';
import { holds, type ProofPart, type Result, runPart, sourceHash } from './part.ts';
import { parts } from './parts.ts';
import { cachedResult, cacheResult, landedResults, landResults, landRun } from './results.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    short: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
    times: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});

if (values.list) for (const { name, title } of parts) console.log(`${name.padEnd(20)} ${title}`);
else if (values.write) await land(await cachedResults());
// LiveKit's client, by which people join rooms, keeps a process alive.
else process.exit(await prove(wantedParts(values.only), Number(values.times)));

function wantedParts(names: readonly string[] | undefined): readonly ProofPart[] {
  for (const name of names ?? []) {
    if (!parts.some((part) => part.name === name)) {
      throw new Error(`There is no part ${name}: ${parts.map((part) => part.name).join(', ')}`);
    }
  }
  return parts.filter((part) => names === undefined || names.includes(part.name));
}

async function prove(wanted: readonly ProofPart[], times: number): Promise<number> {
  const results: Result[] = [];
  const broken: string[] = [];
  for (const part of wanted.flatMap((each) => Array.from({ length: times }, () => each))) {
    const result = await runOrReuse(part).catch((error: unknown) => {
      broken.push(part.name);
      console.error(`${part.name} did not run to its end:`, error);
    });
    if (result === undefined) continue;
    results.push(result);
    if (!values.short) await land([result]);
  }
  printTable(results);
  if (broken.length > 0) console.log(`These parts did not run to their end: ${broken.join(', ')}`);
  return broken.length === 0 && results.every(holds) ? 0 : 1;
}

async function runOrReuse(part: ProofPart): Promise<Result> {
  const isForced = values.short || values.again || values.only !== undefined || values.times !== '1';
  const known = isForced ? undefined : await cachedResult(part.name);
  if (known !== undefined && known.sources === sourceHash()) {
    console.log(`${part.name}: has a result for these sources, of ${known.endedAt}`);
    return known;
  }
  console.log(`${part.name}: ${part.title}`);
  const form = values.short ? 'short' : 'long';
  const result = await runPart(part, form, (line) => console.log(`  ${line}`));
  if (form === 'long') await cacheResult(result);
  return result;
}

async function cachedResults(): Promise<readonly Result[]> {
  const results = await Promise.all(parts.map(({ name }) => cachedResult(name)));
  return results.filter((result) => result !== undefined);
}

async function land(results: readonly Result[]): Promise<void> {
  const all = { ...(await landedResults()) };
  for (const result of results) all[result.part] = landRun(all[result.part], result);
  const names = new Set(parts.map(({ name }) => name));
  const landed = Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)));
  await landResults(landed);
  await writeFile(new URL('../docs/proof.md', import.meta.url), proofDocument(parts, landed));
}
