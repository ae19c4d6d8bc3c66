/**
 * `npm run prove` attacks what the service claims, part by part, and writes what was seen into docs/proof.md.
 *
 *   --only NAME   this part alone, also where its result is there (may be given several times)
 *   --short       the form that runs with the tests; writes nothing
 *   --again       all parts anew; without it, those that have been seen with these sources are left out
 *   --write       runs nothing: docs/proof.md anew, with what is in .cache/prove
 *   --list        the names of the parts
 *
 * A run that was interrupted goes on where it stopped: the result of each part is in .cache/prove.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { proofDocument } from './document.ts';
import type { ProofPart } from './part.ts';
import { parts } from './parts.ts';
import { cachedResult, cacheResult, landedResults, landResults } from './results.ts';
import { holds, type Result, runPart, sourceHash } from './run-part.ts';
import { printTable } from './table.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    short: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});

if (values.list) for (const { name, title } of parts) console.log(`${name.padEnd(20)} ${title}`);
else if (values.write) await land(await cachedResults());
else process.exitCode = await prove(wantedParts(values.only));

function wantedParts(names: readonly string[] | undefined): readonly ProofPart[] {
  for (const name of names ?? []) {
    if (!parts.some((part) => part.name === name)) {
      throw new Error(`There is no part ${name}: ${parts.map((part) => part.name).join(', ')}`);
    }
  }
  return parts.filter((part) => names === undefined || names.includes(part.name));
}

async function prove(wanted: readonly ProofPart[]): Promise<number> {
  const results: Result[] = [];
  const broken: string[] = [];
  for (const part of wanted) {
    const result = await resultOf(part).catch((error: unknown) => {
      broken.push(part.name);
      console.error(`${part.name} could not be run to its end:`, error);
    });
    if (result !== undefined) results.push(result);
  }
  printTable(results);
  if (broken.length > 0) console.log(`Not run to the end: ${broken.join(', ')}`);
  if (!values.short) await land(results);
  return broken.length === 0 && results.every(holds) ? 0 : 1;
}

async function resultOf(part: ProofPart): Promise<Result> {
  const known =
    values.short || values.again || values.only !== undefined ? undefined : await cachedResult(part.name);
  if (known !== undefined && known.sources === sourceHash()) {
    console.log(`${part.name}: seen at ${known.endedAt} with these sources`);
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
  const landed = { ...(await landedResults()) };
  for (const result of results) landed[result.part] = result;
  await landResults(landed);
  await writeFile(new URL('../docs/proof.md', import.meta.url), proofDocument(parts, landed));
}
