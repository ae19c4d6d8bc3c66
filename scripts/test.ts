/**
 * `npm test` prepares the real parts that the tests run, checks the source, builds, and runs the tests. Without arguments
 * everything runs. With arguments (`npm test -- test/fiscal`, or any of vitest's) the source checks are left out, only the
 * parts that the selected tests need are prepared, and dist is built only if they use it and it is out of date.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, relative, resolve } from 'node:path';
import { isUpToDate } from './build/output.ts';
import { parts } from './parts/catalogue.ts';
import { findNeeds, type Needs } from './parts/needed-parts.ts';
import { type Part, prepareParts } from './parts/prepare-parts.ts';
import { runCommand } from './parts/run-command.ts';

const root = join(import.meta.dirname, '..');

/** A test file and what it needs. */
interface TestFile {
  readonly path: string;
  readonly needs: Needs;
}

/** A test file that cannot run because these parts are missing. */
interface NotRun {
  readonly path: string;
  readonly missing: readonly Part[];
}

const sourceChecks: readonly Step[] = [
  { name: 'lint', program: 'biome', args: ['ci', '--error-on-warnings', '.'] },
  { name: 'types', program: 'tsc', args: ['--noEmit'] },
  { name: 'types of the pages', program: 'tsc', args: ['--noEmit', '--project', 'src/web'] },
  { name: 'unused code', program: 'knip', args: [] },
];
const buildStep: Step = { name: 'build', program: 'node', args: ['scripts/build.ts'] };

interface Step {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
}

process.chdir(root);
process.env.PATH = `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}`;
process.exitCode = await test(process.argv.slice(2));

async function test(args: readonly string[]): Promise<number> {
  const selected = await selectTestFiles(args);
  if (selected === undefined) return 1;
  if (selected.length === 0) console.log('No test file matches');
  const files = await Promise.all(
    selected.map(
      async (path): Promise<TestFile> => ({ path, needs: await findNeeds(path, { root, parts }) }),
    ),
  );
  const needed = parts.filter((part) => files.some((file) => file.needs.parts.includes(part)));
  const missing = await prepareParts(needed, parts);
  const notRun = withoutParts(files, missing);
  for (const part of missing) console.log(`Still missing: ${part.name} (${part.instructions})`);

  const failedSteps = await runSteps(
    args.length === 0 ? [...sourceChecks, buildStep] : await buildFor(files),
  );
  const runnable = files.length > notRun.length;
  const counts = runnable
    ? await runTests(
        args,
        notRun.map((file) => file.path),
      )
    : { status: 1, passed: 0, failed: 0, skipped: [] };
  return conclude({ failedSteps, missing, notRun, counts });
}

/** Returns the step that builds, if a test uses what is built and it is out of date. */
async function buildFor(files: readonly TestFile[]): Promise<readonly Step[]> {
  return files.some(({ needs }) => needs.usesBuild) && !(await isUpToDate()) ? [buildStep] : [];
}

/** Returns the files that need a missing part, or a part that runs with one. */
function withoutParts(files: readonly TestFile[], missing: readonly Part[]): readonly NotRun[] {
  const lacks = (part: Part): readonly Part[] =>
    missing.filter((other) => other === part || part.runsWith?.includes(other.name));
  return files
    .map(({ path, needs }) => ({ path, missing: [...new Set(needs.parts.flatMap(lacks))] }))
    .filter((file) => file.missing.length > 0);
}

/** Runs every step, so that one run shows everything that is wrong. Returns the names of the failed steps. */
async function runSteps(steps: readonly Step[]): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const step of steps) {
    console.log(`\n── ${step.name}`);
    if ((await runCommand(step.program, step.args)) !== 0) failed.push(step.name);
  }
  console.log('\n── tests');
  return failed;
}

interface Outcome {
  readonly failedSteps: readonly string[];
  readonly missing: readonly Part[];
  readonly notRun: readonly NotRun[];
  readonly counts: TestCounts;
}

/** Prints what was left out and the last line. Returns the exit status. */
function conclude({ failedSteps, missing, notRun, counts }: Outcome): number {
  const isCi = !['', 'false', '0', undefined].includes(process.env.CI);
  for (const file of notRun) {
    console.log(
      `Not run: ${relative(root, file.path)} (needs ${file.missing.map((part) => part.name).join(', ')})`,
    );
  }
  if (isCi) for (const name of counts.skipped) console.log(`Skipped: ${name}`);
  if (failedSteps.length > 0) console.log(`Failed: ${failedSteps.join(', ')}`);
  const complete = missing.length === 0 && counts.skipped.length === 0;
  if (isCi && !complete) console.log('Failed: with CI set, every test has to run');
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped.length} skipped`);
  const ranWell = counts.status === 0 && counts.failed === 0 && counts.passed > 0;
  return ranWell && failedSteps.length === 0 && (complete || !isCi) ? 0 : 1;
}

/** The numbers in vitest's own report of one run. */
interface TestCounts {
  /** Vitest's exit status. It is also not 0 if a file cannot be loaded or an error happens outside of any test. */
  readonly status: number;
  readonly passed: number;
  readonly failed: number;
  /** Full names of the tests that were not run (skipped, todo, or excluded by a name pattern). */
  readonly skipped: readonly string[];
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/**
 * Returns the test files that these vitest arguments select; `undefined` if vitest refuses the arguments. Names of test files
 * select themselves, so that nobody waits for vitest to find them.
 */
async function selectTestFiles(args: readonly string[]): Promise<readonly string[] | undefined> {
  const named = args.filter((arg) => arg.endsWith('.test.ts') && existsSync(arg));
  if (args.length > 0 && named.length === args.length) return named.map((file) => resolve(file));
  return inReportFile(async (file) => {
    const status = await runCommand('vitest', ['list', '--filesOnly', `--json=${file}`, ...args]);
    if (status !== 0) return undefined;
    const files = JSON.parse(await readFile(file, 'utf8')) as readonly { readonly file: string }[];
    return files.map((entry) => entry.file);
  });
}

/** Runs vitest once, without the given files, and reads the numbers from its JSON report. */
async function runTests(args: readonly string[], excluded: readonly string[]): Promise<TestCounts> {
  return inReportFile(async (file) => {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
    const exclusions = excluded.map((path) => `--exclude=${relative(process.cwd(), path)}`);
    const status = await runCommand('vitest', ['run', ...reporters, ...exclusions, ...args]);
    const text = await readFile(file, 'utf8').catch(() => '{"testResults":[]}');
    return { status, ...countTests(JSON.parse(text) as Report) };
  });
}

function countTests(report: Report): Omit<TestCounts, 'status'> {
  const tests = report.testResults.flatMap((file) => file.assertionResults);
  const passed = tests.filter((test) => test.status === 'passed').length;
  const failed = tests.filter((test) => test.status === 'failed').length;
  const skipped = tests.filter((test) => test.status !== 'passed' && test.status !== 'failed');
  return { passed, failed, skipped: skipped.map((test) => test.fullName) };
}

async function inReportFile<Result>(use: (file: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-test-report-'));
  try {
    return await use(join(folder, 'report.json'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
