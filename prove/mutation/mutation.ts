import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Random } from '../../test/support/random.ts';
import { atLeast, type Findings, observed, type ProofContext, type ProofPart } from '../part.ts';
import { openKnownLives } from './known-lives.ts';
import { describeMutant, type Mutant, mutantsOf } from './mutants.ts';

const root = join(import.meta.dirname, '..', '..');
const CONFIG = 'prove/mutation/vitest.config.ts';
const SEED = 20_261_124;
const WORKERS = 2;
/** A mutant that loops for ever is detected by this timeout. */
const TIMEOUT_MS = 180_000;
const MOST_OF_EACH = { long: Number.POSITIVE_INFINITY, short: 1 } as const;

type Subject = {
  readonly name: string;
  readonly files: readonly string[];
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
    tests: ['test/contract', 'test/server/platform/http/authentication'],
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

export const mutation: ProofPart = {
  name: 'mutation',
  title: 'Mutants of signing, fiscal codes, recording states and delivery leases',
  claim:
    'A change to the code that signs requests and webhooks, checks fiscal codes, moves recordings between states or leases deliveries makes ' +
    'a test fail. At least nine of ten such changes do.',
  attack: [
    'A mutator built on oxc-parser changes one thing in the source at a time: it replaces an operator, a condition or a literal, or ' +
      'removes a call. For every mutant the tests of that subject run against the changed source. A mutant dies when a test fails.',
    `Files: ${SUBJECTS.flatMap(({ files }) => files.map((file) => `\`${file}\``)).join(', ')}.`,
  ],
  notClaimed: [
    'That every survivor is a gap in the tests. A mutant can be equivalent to the original code, and only reading it tells. The survivors are listed.',
    'That the survivors were all read. Of the 24 of 24 November 2026, nine are equivalent: `utf8` is the default encoding, the list of webhooks and ' +
      'the queue are only shortcuts, and four values of the check character belong to characters that are refused before. One was a gap (the value of ' +
      'Y at odd positions), which a test closes since. Four change `isActive`, which tests of other subjects cover. The other ten were not read.',
    'Anything about other files.',
  ],
  run: killMutants,
};

type Life = { readonly subject: Subject; readonly mutant: Mutant; readonly hasSurvived: boolean };
type Task = Omit<Life, 'hasSurvived'> & { readonly key: string };

async function killMutants({ form, report }: ProofContext): Promise<Findings> {
  const tasks = (await Promise.all(SUBJECTS.map((subject) => tasksOf(subject, MOST_OF_EACH[form])))).flat();
  const known = await openKnownLives();
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
  const lives = tasks.map(({ key, ...life }) => ({ ...life, hasSurvived: known.hasSurvived(key) }));
  const survivors = await Promise.all(
    lives.filter(({ hasSurvived }) => hasSurvived).map(async ({ mutant }) => `\`${await describe(mutant)}\``),
  );
  return {
    figures: [observed('mutants', lives.length), ...SUBJECTS.flatMap((subject) => shareOf(subject, lives))],
    notes: [survivors.length === 0 ? 'No mutant survived.' : `Survivors: ${survivors.join('; ')}.`],
  };
}

function shareOf(subject: Subject, lives: readonly Life[]) {
  const own = lives.filter((life) => life.subject === subject);
  const dead = own.filter(({ hasSurvived }) => !hasSurvived).length;
  const measured = Math.round((1000 * dead) / own.length) / 10;
  return [
    observed(`${subject.name}: mutants`, own.length),
    atLeast({ name: `${subject.name}: share that dies`, measured, bound: 90, unit: ' %' }),
  ];
}

async function describe(mutant: Mutant): Promise<string> {
  return describeMutant(await textOf(mutant.file), mutant).replaceAll('`', "'");
}

/** Returns the mutants of a subject. Each key changes with the source and with the tests of the subject. */
async function tasksOf(subject: Subject, most: number): Promise<readonly Task[]> {
  const tests = await hashOfTests(subject);
  const mutants = (await shuffledMutants(subject)).slice(0, most);
  return await Promise.all(
    mutants.map(async (mutant) => {
      const parts = [tests, await textOf(mutant.file), JSON.stringify(mutant)];
      return { subject, mutant, key: createHash('sha256').update(parts.join('\0')).digest('hex') };
    }),
  );
}

async function hashOfTests({ tests }: Subject): Promise<string> {
  const hash = createHash('sha256');
  const patterns = tests.map((path) => (path.endsWith('.ts') ? path : `${path}/**/*.ts`));
  const files: string[] = [];
  for await (const file of glob(patterns, { cwd: root })) files.push(file);
  for (const file of files.toSorted()) hash.update(file).update(await textOf(file));
  return hash.digest('hex');
}

async function shuffledMutants({ files }: Subject): Promise<Mutant[]> {
  const random = new Random(SEED);
  const all = (await Promise.all(files.map(async (file) => mutantsOf(file, await textOf(file))))).flat();
  return all
    .map((mutant) => ({ mutant, order: random.integer(2 ** 31) }))
    .toSorted((one, other) => one.order - other.order)
    .map(({ mutant }) => mutant);
}

function textOf(file: string): Promise<string> {
  return readFile(join(root, file), 'utf8');
}

/** Runs the subject's tests. Resolves to the exit status, which is not 0 if a test fails or the timeout passes. */
async function runTests({ tests }: Subject, mutant?: Mutant): Promise<number> {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', '--config', CONFIG, '--bail', '1', ...tests], {
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
