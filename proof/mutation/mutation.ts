import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, glob, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Random } from '../../test/support/random.ts';
import type { Experiment, ExperimentContext, Findings } from '../experiment.ts';
import { atLeast, none, observed } from '../figures.ts';
import equivalent from './equivalent.json' with { type: 'json' };
import { describeMutant, findChange, findMutants, type Mutant } from './mutants.ts';

const root = join(import.meta.dirname, '..', '..');
const CONFIG = 'proof/mutation/vitest.config.ts';
const SEED = 20_261_124;
const WORKERS = 2;
/** A mutant that loops for ever is detected by this timeout. */
const TIMEOUT_MS = 180_000;
const MOST_OF_EACH = { long: Number.POSITIVE_INFINITY, short: 1 } as const;

type Subject = {
  readonly name: string;
  readonly files: readonly string[];
  /** Test files, in the order in which they run. Most mutants die in the first one. */
  readonly tests: readonly string[];
};

const SUBJECTS: readonly Subject[] = [
  {
    name: 'signing',
    files: [
      'src/contract/canonical-request.ts',
      'src/contract/signing.ts',
      'src/contract/webhook-signing.ts',
    ],
    tests: [
      ...['hmac-sha256', 'signing', 'webhook-signing', 'vectors'].map(
        (name) => `test/contract/${name}.test.ts`,
      ),
      'test/server/platform/http/authentication/signed-scheme.test.ts',
    ],
  },
  {
    name: 'fiscal check',
    files: ['src/fiscal/check-character.ts', 'src/fiscal/check.ts', 'src/fiscal/omocodia.ts'],
    tests: ['test/fiscal/check.test.ts', 'test/fiscal/vectors.test.ts'],
  },
  {
    name: 'lifecycle',
    files: ['src/server/recordings/lifecycle.ts'],
    tests: ['lifecycle', 'egress-state', 'stored-ends', 'simulation'].map(
      (name) => `test/server/recordings/${name === 'simulation' ? 'simulation/' : ''}${name}.test.ts`,
    ),
  },
  {
    name: 'leases',
    files: ['src/server/webhooks/dispatcher/in-flight-deliveries.ts'],
    tests: ['test/server/webhooks/dispatcher/in-flight-deliveries.test.ts'],
  },
];

/** One line for each mutant that was run: its key, and whether it survived. An interrupted run continues from here. */
const FILE = join(import.meta.dirname, '..', '..', '.cache', 'proof', 'mutants.txt');
export const mutation: Experiment = { name: 'mutation', run: killMutants };

type Outcome = { readonly subject: Subject; readonly mutant: Mutant; readonly hasSurvived: boolean };

type Task = Omit<Outcome, 'hasSurvived'> & { readonly key: string };

async function killMutants({ runSize, report }: ExperimentContext): Promise<Findings> {
  const tasks = (
    await Promise.all(SUBJECTS.map((subject) => makeTasks(subject, MOST_OF_EACH[runSize])))
  ).flat();
  const known = await openKnownOutcomes();
  const due = tasks.filter(({ key }) => !known.has(key));
  if (due.length < tasks.length) report(`${tasks.length - due.length} of ${tasks.length} mutants are known`);
  for (const subject of new Set(due.map((task) => task.subject))) {
    if ((await runTests(subject)) !== 0)
      throw new Error(`the tests of ${subject.name} fail without a mutant`);
  }
  const work = async (): Promise<void> => {
    for (let task = due.pop(); task !== undefined; task = due.pop()) {
      const { subject, mutant, key } = task;
      const hasSurvived = (await runTests(subject, mutant)) === 0;
      await known.add(key, hasSurvived);
      if (hasSurvived) report(`survived: ${await describe(mutant)}`);
      if (due.length % 20 === 0) report(`${due.length} of ${tasks.length} mutants are left`);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  const outcomes = tasks.map(({ key, ...task }) => ({ ...task, hasSurvived: known.hasSurvived(key) }));
  const survivors = outcomes.filter(({ hasSurvived }) => hasSurvived).map(({ mutant }) => mutant);
  const read = await Promise.all(survivors.map(readSurvivor));
  return {
    figures: [
      observed('mutants', outcomes.length),
      ...SUBJECTS.flatMap((subject) => computeShare(subject, outcomes)),
      none('survivors that are not known to do the same', read, ({ why }) => why === undefined),
    ],
    notes: [survivors.length === 0 ? 'No mutant survived.' : toTable(read)],
  };
}

type ReadSurvivor = { readonly place: string; readonly change: string; readonly why: string | undefined };

async function readSurvivor(mutant: Mutant): Promise<ReadSurvivor> {
  const text = await readText(mutant.file);
  const change = findChange(text, mutant);
  const line = text.split('\n')[mutant.line - 1] ?? '';
  return { place: `${mutant.file}:${mutant.line}`, change, why: readReason(mutant.file, line, change) };
}

/** A table in Markdown. */
function toTable(survivors: readonly ReadSurvivor[]): string {
  const code = (text: string): string => `\`${text.replaceAll('`', "'").replaceAll('|', '\\|')}\``;
  const rows = survivors.map(
    ({ place, change, why = 'not known' }) => `| ${code(place)} | ${code(change)} | ${why} |`,
  );
  const lines = ['| file | mutant | why it does the same |', '|---|---|---|', ...rows.toSorted()];
  return `These mutants survived:\n\n${lines.join('\n')}`;
}

function computeShare(subject: Subject, outcomes: readonly Outcome[]) {
  const own = outcomes.filter((outcome) => outcome.subject === subject);
  const dead = own.filter(({ hasSurvived }) => !hasSurvived).length;
  const measured = Math.round((1000 * dead) / own.length) / 10;
  return [
    observed(`${subject.name}: mutants`, own.length),
    atLeast({ name: `${subject.name}: share that dies`, measured, bound: 90, unit: ' %' }),
  ];
}

async function describe(mutant: Mutant): Promise<string> {
  return describeMutant(await readText(mutant.file), mutant).replaceAll('`', "'");
}

/** Returns the mutants of a subject. Each key changes with the source and with the tests of the subject. */
async function makeTasks(subject: Subject, most: number): Promise<readonly Task[]> {
  const tests = await hashOfTests(subject);
  const mutants = (await shuffledMutants(subject)).slice(0, most);
  return await Promise.all(
    mutants.map(async (mutant) => {
      const parts = [tests, await readText(mutant.file), JSON.stringify(mutant)];
      return { subject, mutant, key: createHash('sha256').update(parts.join('\0')).digest('hex') };
    }),
  );
}

async function hashOfTests({ tests }: Subject): Promise<string> {
  const hash = createHash('sha256');
  const patterns = tests.map((path) => (path.endsWith('.ts') ? path : `${path}/**/*.ts`));
  const files: string[] = [];
  for await (const file of glob(patterns, { cwd: root })) files.push(file);
  for (const file of files.toSorted()) hash.update(file).update(await readText(file));
  return hash.digest('hex');
}

async function shuffledMutants({ files }: Subject): Promise<Mutant[]> {
  const random = new Random(SEED);
  const all = (await Promise.all(files.map(async (file) => findMutants(file, await readText(file))))).flat();
  return all
    .map((mutant) => ({ mutant, order: random.integer(2 ** 31) }))
    .toSorted((one, other) => one.order - other.order)
    .map(({ mutant }) => mutant);
}

function readText(file: string): Promise<string> {
  return readFile(join(root, file), 'utf8');
}

/** Runs the subject's tests. Resolves to the exit status, which is not 0 if a test fails or the timeout passes. */
async function runTests({ tests }: Subject, mutant?: Mutant): Promise<number> {
  for (const test of tests) {
    const status = await runTest(test, mutant);
    if (status !== 0) return status;
  }
  return 0;
}

async function runTest(test: string, mutant: Mutant | undefined): Promise<number> {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', '--config', CONFIG, '--bail', '1', test], {
    cwd: root,
    stdio: 'ignore',
    env: { ...process.env, MUTANT: mutant === undefined ? '' : JSON.stringify(mutant) },
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const startedAt = performance.now();
  const [status] = await once(child, 'exit');
  if (typeof status === 'number') return status;
  if (performance.now() - startedAt >= TIMEOUT_MS) return 1;
  throw new Error('the tests were killed before they ended');
}

async function openKnownOutcomes(file = FILE) {
  await mkdir(dirname(file), { recursive: true });
  const text = await readFile(file, { encoding: 'utf8', flag: 'a+' });
  const outcomes = new Map(
    [...text.matchAll(/^(\w+) (survived|died)$/gm)].map(([, key = '', end]) => [key, end === 'survived']),
  );
  return {
    has: (key: string) => outcomes.has(key),
    hasSurvived: (key: string) => outcomes.get(key) ?? false,
    add: async (key: string, hasSurvived: boolean) => {
      outcomes.set(key, hasSurvived);
      await appendFile(file, `${key} ${hasSurvived ? 'survived' : 'died'}\n`);
    },
  };
}

/**
 * Returns why the mutant is equivalent to the original; undefined if nobody has found that. Somebody has read each mutant of
 * equivalent.json. It is recognised by the text of its line, so that its reason no longer counts when the line changes.
 */
function readReason(file: string, line: string, change: string): string | undefined {
  return equivalent.find((one) => one.file === file && one.line === line.trim() && one.change === change)
    ?.why;
}
