import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Random } from '../../test/support/random.ts';
import { atLeast, type Findings, observed, type ProofContext, type ProofPart } from '../part.ts';
import { describeMutant, type Mutant, mutantsOf } from './mutants.ts';

const root = join(import.meta.dirname, '..', '..');
const CONFIG = 'prove/mutation/vitest.config.ts';
const SEED = 20_261_124;
const WORKERS = 2;
/** A mutant that loops for ever is noticed too. */
const TIMEOUT_MS = 180_000;
const BUDGET_MS = { long: 6 * 60_000, short: 60_000 } as const;
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
  title: 'Mutants of the code that must not be wrong',
  claim:
    'The tests notice when signing, the check of fiscal codes, the lifecycle of recordings or the leases of deliveries are changed: at least ' +
    'nine of ten mutants die.',
  attack: [
    'A mutator on oxc-parser changes one thing at a time in the source: an operator, a condition, a literal, a call that is left out. ' +
      `The tests of that subject run with it, and have to fail. Mutants are taken in turns from the subjects, in an order that a seed decides, for up to ${BUDGET_MS.long / 60_000} minutes.`,
    `Files: ${SUBJECTS.flatMap(({ files }) => files.map((file) => `\`${file}\``)).join(', ')}.`,
  ],
  notClaimed: [
    'That all can die. The 145 mutants of signing and leases were also run by themselves, every one, on 24 November 2026: five survive and ' +
      'change nothing that can be seen. Two name utf8, the default; one is a shortcut for an empty list; two forget an empty queue.',
    'The mutants that were not run in this time: the share is that of a sample.',
    'That every survivor is a gap: some mean the same as the code, which only reading tells. They are listed.',
    'Anything about the other files. The tests named are those of the subject; others may kill a survivor.',
  ],
  run: killMutants,
};

type Lives = { readonly subject: Subject; readonly mutant: Mutant; readonly hasSurvived: boolean };

async function killMutants({ form, say }: ProofContext): Promise<Findings> {
  const queues = await Promise.all(SUBJECTS.map((subject) => shuffledMutants(subject)));
  const total = queues.reduce((sum, queue) => sum + queue.length, 0);
  for (const queue of queues) queue.splice(MOST_OF_EACH[form]);
  for (const subject of SUBJECTS) {
    if ((await runTests(subject)) !== 0)
      throw new Error(`the tests of ${subject.name} fail without a mutant`);
  }
  const until = performance.now() + BUDGET_MS[form];
  const lives: Lives[] = [];
  let turn = 0;
  const work = async (): Promise<void> => {
    while (performance.now() < until) {
      const turns = SUBJECTS.map((_, step) => (turn + step) % SUBJECTS.length);
      const index = turns.find((each) => (queues[each]?.length ?? 0) > 0) ?? turn;
      turn = (index + 1) % SUBJECTS.length;
      const [subject, mutant] = [SUBJECTS[index], queues[index]?.pop()];
      if (subject === undefined || mutant === undefined) return;
      const hasSurvived = (await runTests(subject, mutant)) === 0;
      lives.push({ subject, mutant, hasSurvived });
      if (hasSurvived) say(`survived: ${describeMutant(await textOf(mutant.file), mutant)}`);
      if (lives.length % 20 === 0) say(`${lives.length} of ${total} mutants`);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  const survivors = await Promise.all(
    lives
      .filter(({ hasSurvived }) => hasSurvived)
      .map(
        async ({ mutant }) => `\`${describeMutant(await textOf(mutant.file), mutant).replaceAll('`', "'")}\``,
      ),
  );
  return {
    figures: [
      observed('mutants', total),
      observed('mutants that were run', lives.length),
      ...SUBJECTS.map((subject) => share(subject, lives)),
    ],
    notes: [
      `Seed ${SEED}.`,
      survivors.length === 0 ? 'None survived.' : `Survivors: ${survivors.join('; ')}.`,
    ],
  };
}

function share(subject: Subject, lives: readonly Lives[]) {
  const own = lives.filter((life) => life.subject === subject);
  const dead = own.filter(({ hasSurvived }) => !hasSurvived).length;
  const name = `${subject.name}: of ${own.length} mutants die`;
  return atLeast({ name, measured: Math.round((1000 * dead) / own.length) / 10, bound: 90, unit: ' %' });
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

/** The exit status of the subject's tests; not 0 when one fails, or when they take too long. */
async function runTests({ tests }: Subject, mutant?: Mutant): Promise<number> {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', '--config', CONFIG, '--bail', '1', ...tests], {
    cwd: root,
    stdio: 'ignore',
    env: { ...process.env, MUTANT: mutant === undefined ? '' : JSON.stringify(mutant) },
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const [status] = await once(child, 'exit');
  return typeof status === 'number' ? status : 1;
}
