/**
 * `npm run prove` attacks the claims of the service, experiment by experiment, and writes the results into docs/proof.md
 * and the pages beside it, in docs/proof.
 *
 *   --only NAME   runs this experiment alone, even if its result is known (may be given several times)
 *   --since COMMIT runs again what a change since this commit can have touched, and prints why; with --list it only prints
 *   --short       runs the short run of each, as the tests do, and writes nothing
 *   --write       runs nothing and writes the pages anew from results.json
 *   --list        prints the names of the experiments
 *
 * An interrupted run can be started again: an experiment with a recorded result of these sources on this machine is skipped,
 * unless it is named.
 */
import { parseArgs } from 'node:util';
import { listDescribed, printTable, readDocument, withResults, writeDocument } from './document.ts';
import { type Experiment, holds, isCurrent, type Result, runExperiment } from './experiment.ts';
import { experiments } from './experiments.ts';
import { readResults, recordRun, writeResults } from './results.ts';
import { explainChoice, listChanged } from './since.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    since: { type: 'string' },
    short: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});

const document = await readDocument(experiments.map(({ name }) => name));
const touched = values.since === undefined ? undefined : tellTouched(values.since);
if (values.list && touched === undefined)
  for (const { name, title } of listDescribed(document)) console.log(`${name.padEnd(20)} ${title}`);
else if (values.list) process.exitCode = 0;
else if (values.write) await record();
// LiveKit's client, by which people join rooms, keeps a process alive.
else process.exit(await prove(chooseExperiments(touched ?? values.only)));

/** Prints why each experiment is chosen, and returns their names. */
function tellTouched(commit: string): readonly string[] {
  const reasons = explainChoice(
    listChanged(commit),
    experiments.map(({ name }) => name),
  );
  for (const { name, file, because } of reasons) console.log(`${name.padEnd(24)} ${file}: ${because}`);
  if (reasons.length === 0) console.log(`nothing since ${commit} touches an experiment`);
  return reasons.map(({ name }) => name);
}

function chooseExperiments(names: readonly string[] | undefined): readonly Experiment[] {
  for (const name of names ?? []) {
    if (!experiments.some((experiment) => experiment.name === name)) {
      throw new Error(
        `There is no experiment ${name}: ${experiments.map((experiment) => experiment.name).join(', ')}`,
      );
    }
  }
  return experiments.filter((experiment) => names === undefined || names.includes(experiment.name));
}

async function prove(wanted: readonly Experiment[]): Promise<number> {
  const results: Result[] = [];
  const broken: string[] = [];
  for (const experiment of wanted) {
    try {
      results.push(await runOrReuse(experiment));
    } catch (error) {
      broken.push(experiment.name);
      console.error(`${experiment.name} did not run to its end:`, error);
    }
  }
  printTable(results);
  if (broken.length > 0) console.log(`These experiments did not run to their end: ${broken.join(', ')}`);
  return broken.length === 0 && results.every(holds) ? 0 : 1;
}

async function runOrReuse(experiment: Experiment): Promise<Result> {
  const isForced = values.short || values.only !== undefined || values.since !== undefined;
  const known = isForced ? undefined : (await readResults())[experiment.name];
  if (known !== undefined && isCurrent(known)) {
    console.log(`${experiment.name}: has a result for these sources, of ${known.endedAt}`);
    return known;
  }
  console.log(`${experiment.name} runs`);
  const runSize = values.short ? 'short' : 'long';
  const result = await runExperiment(experiment, runSize, (line) => console.log(`  ${line}`));
  if (runSize === 'long') await record(result);
  return result;
}

/** Writes the recorded results, with this one, and the pages from them. */
async function record(result?: Result): Promise<void> {
  const all = { ...(await readResults()) };
  if (result !== undefined) all[result.experiment] = recordRun(all[result.experiment], result);
  const names = new Set(experiments.map(({ name }) => name));
  const recorded = Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)));
  await writeResults(recorded);
  await writeDocument(withResults(document, recorded));
}
