import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
// Without what is built, the reference pages respond with 500.
import '../../test/support/parts/built.ts';
import { runSchemathesis } from '../../test/support/parts/schemathesis.ts';
import { type Experiment, type ExperimentContext, type Findings, makeFolder } from '../experiment.ts';
import { atLeast, exactly, observed } from '../figures.ts';
import { attackTarget, type DatabaseName, type Target } from './target.ts';

const SEED = 16;
const CASES = 20_000;
/** Enough for the claimed number of cases on a busy machine too. Leaves time for the search for secrets. */
const SECONDS = 1_500;
/** Random cases per operation and phase. With Schemathesis' own 100 the run ends before 20,000 cases. */
const EXAMPLES = { long: 300, short: 1 } as const;
/** Folder with the output of Schemathesis. */
const DETAILS = join(import.meta.dirname, '..', '..', '.cache', 'proof', 'details');
export const documentCasesSqlite = documentCases('SQLite');
export const documentCasesPostgres = documentCases('PostgreSQL');

function documentCases(database: DatabaseName): Experiment {
  return {
    name: database === 'SQLite' ? 'document-cases-sqlite' : 'document-cases-postgres',
    run: (context) => attackTarget(context, { database }, (target) => runOn(target, database, context)),
  };
}

/** A failed check, counted over all operations. */
type Failure = { readonly type: string; readonly operations: readonly string[] };
type Report = {
  readonly test_cases: { readonly generated: number };
  readonly operations: { readonly tested: number };
  readonly failures: readonly Failure[];
};

type Explanation = {
  readonly words: string;
  /** The operations that the explanation covers; all if absent. */
  readonly operations?: RegExp;
};

/** Failures that were examined and are correct responses, by the name of the check. */
const EXPLAINED: Readonly<Record<string, Explanation>> = {
  ServerError: {
    words: 'the documented 502 or 503, because no recorder runs and the bucket does not exist',
  },
  RejectedPositiveData: { words: 'the service refuses what the schema alone allows' },
  AcceptedNegativeData: {
    words: 'mostly, the check removes a header of the signature and the hook adds it again',
  },
  UseAfterFree: { words: 'a revoked key stays readable and says so' },
  ResponseTimeExceeded: {
    words: 'the caller asked to wait for events (`wait`)',
    operations: /\/v1\/events|transcription/,
  },
  AllowHeaderMismatch: {
    words: 'a fixed path is also a value of a path with a parameter, and Allow names the methods of both',
  },
};

async function runOn(
  target: Target,
  database: DatabaseName,
  { runSize, report: reportLine, cleanUp }: ExperimentContext,
): Promise<Findings> {
  const folder = await makeFolder({ cleanUp });
  const reportFile = join(folder, 'report.json');
  const { output } = await runSchemathesis({
    cwd: folder,
    hooks: { folder: import.meta.dirname, module: 'signing_hooks' },
    env: { PROVE_API_KEY: target.fleet.keys.apiKey, PROVE_API_SECRET: target.fleet.keys.apiSecret },
    args: [
      ...['run', `${target.instance.url}/openapi.json`, '--checks', 'all', '--continue-on-failure'],
      ...['--seed', `${SEED}`, '--workers', '2', '--no-shrink', '--suppress-health-check', 'all'],
      ...['--max-examples', `${EXAMPLES[runSize]}`],
      ...(runSize === 'long' ? ['--max-time', `${SECONDS}`] : ['--phases', 'fuzzing']),
      ...['--report', 'json', '--report-json-path', reportFile],
    ],
  });
  await mkdir(DETAILS, { recursive: true });
  await writeFile(join(DETAILS, `schemathesis-${database}.txt`), output);
  const report: Report = JSON.parse(await readFile(reportFile, 'utf8'));
  const unexplained = [...report.failures.flatMap(unexplainedIn), ...foundAfterDeletion(output)];
  for (const line of unexplained) reportLine(`not explained: ${line}`);
  const cases = { name: 'requests', measured: report.test_cases.generated, bound: CASES };
  return {
    figures: [
      runSize === 'long' ? atLeast(cases) : observed(cases.name, cases.measured),
      observed('operations of the document', report.operations.tested),
      exactly('answers 500', countFaults(target.log()), 0),
      exactly('failed checks that are not explained', unexplained.length, 0),
      ...report.failures.flatMap(({ type, operations }) => {
        const explanation = EXPLAINED[type];
        if (explanation === undefined) return [];
        const covered = operations.filter((operation) => explanation.operations?.test(operation) ?? true);
        return [observed(`${type}: ${explanation.words}`, covered.length)];
      }),
    ],
    notes: [`Seed ${SEED}.`],
    versions: { Schemathesis: '4.32.5' },
  };
}

/** Returns the failures of a check on operations that no explanation covers. */
function unexplainedIn({ type, operations }: Failure): readonly string[] {
  const explanation = EXPLAINED[type];
  const covered = explanation === undefined ? /$^/ : (explanation.operations ?? /./);
  return operations
    .filter((operation) => !covered.test(operation))
    .map((operation) => `${type}: ${operation}`);
}

/** Returns resources, except keys, that still existed after they were deleted. The report names no operation for them. */
function foundAfterDeletion(output: string): readonly string[] {
  const deletions = output.matchAll(/The resource was deleted with `(DELETE \S+)`/g);
  return [...deletions].map(([, call = '']) => call).filter((call) => !call.startsWith('DELETE /v1/keys/'));
}

/** Counts requests with the status 500 in the log. */
function countFaults(log: string): number {
  return log.split('\n').filter((line) => /"status(Code)?":500\b/.test(line)).length;
}
