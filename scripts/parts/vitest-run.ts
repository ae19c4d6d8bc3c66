import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { runCommand } from './run-command.ts';

/** The numbers in vitest's own report of one run. */
export interface TestCounts {
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
export async function selectTestFiles(args: readonly string[]): Promise<readonly string[] | undefined> {
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
export async function runTests(args: readonly string[], excluded: readonly string[]): Promise<TestCounts> {
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
