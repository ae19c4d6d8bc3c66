/** A figure that `npm run house` measures. Without a limit, it is only printed. */
export type Limit = {
  readonly what: string;
  /** The goal: at most this. */
  readonly goal: number;
  /**
   * The tests fail above this: the goal, with some room for what comes. It is absent for a figure that each change has to
   * justify by what it brings, and while the goal is not reached.
   */
  readonly limit?: number;
  /** Whether the tests demand a limit as soon as the goal is reached. */
  readonly isOpen?: true;
  /** How it is measured, in a few words. */
  readonly method: string;
};

const ONE_FUNCTION = 'declarations, expressions, arrows and methods of src';
const RECORDED = 'files of src in which a function ran (V8 coverage), after a first run';

export const LIMITS = {
  files: { what: 'files of src', goal: 650, method: 'TypeScript and CSS, without src/fiscal/data' },
  lines: { what: 'lines of src', goal: 80_000, method: 'TypeScript and CSS, without src/fiscal/data' },
  oneImporter: {
    what: 'files with one importer, %',
    goal: 30,
    limit: 30,
    method: 'files of src that one other file of src imports, types and dynamic imports included',
  },
  eventFiles: {
    what: "files passed from LiveKit's event to a stored delivery",
    goal: 60,
    limit: 61,
    method: RECORDED,
  },
  webhookFiles: { what: 'files passed by POST /v1/webhooks', goal: 32, limit: 32, method: RECORDED },
  tokenFiles: { what: 'files passed by POST /v1/token', goal: 22, limit: 22, method: RECORDED },
  roomsListFiles: { what: 'files passed by rtc rooms list', goal: 34, limit: 35, method: RECORDED },
  cfCheckFiles: { what: 'files passed by rtc cf check', goal: 26, limit: 28, method: RECORDED },
  ofNames: {
    what: 'functions that end in Of',
    goal: 20,
    limit: 20,
    method: 'named functions and methods of src',
  },
  longFunctions: { what: 'functions over 50 lines', goal: 15, limit: 15, method: ONE_FUNCTION },
  longestFunction: { what: 'lines of the longest function', goal: 80, limit: 80, method: ONE_FUNCTION },
  backArrows: {
    what: 'back arrows between folders of src/server',
    goal: 0,
    limit: 0,
    method: 'folders that import each other; SQL stands above the schema, and the schema above the stores',
  },
  circles: {
    what: 'circles of files',
    goal: 0,
    limit: 0,
    method: 'static imports of bin, src, proof, scripts and test, types included',
  },
  proofLines: {
    what: 'lines of proof and scripts',
    goal: 18_000,
    isOpen: true,
    method: 'TypeScript, JavaScript, Python and shell',
  },
  unitTestSeconds: {
    what: 'seconds of npm test -- FILE of a unit test',
    goal: 5,
    method: 'test/fiscal/check.test.ts; time is no matter of a test',
  },
  assertions: {
    what: 'type assertions in 1,000 lines',
    goal: 2,
    limit: 2.1,
    method: '`as X` without `as const`, `<X>x` and `x!` in TypeScript of src without pages',
  },
  longLists: { what: 'functions with more than three parameters', goal: 0, limit: 0, method: ONE_FUNCTION },
  booleans: {
    what: 'functions with a boolean parameter',
    goal: 0,
    limit: 0,
    method: 'a parameter of src whose written type is boolean, or a union with it',
  },
  timeBounds: {
    what: 'upper bounds on wall-clock time in tests',
    goal: 0,
    limit: 0,
    method: 'expect(x).toBeLessThan of an x that is computed from the clock of the process',
  },
  retries: {
    what: 'tests with a retry setting',
    goal: 0,
    limit: 0,
    method: '`retry:` in the options of a test or of vitest',
  },
} as const satisfies Readonly<Record<string, Limit>>;

export type FigureName = keyof typeof LIMITS;

/** Measured values, by the names of their figures. */
export type Measured = Partial<Readonly<Record<FigureName, number>>>;

/** Returns what the tests refuse: a value above its limit, and a reached goal without one. */
export function findFaults(measured: Measured): readonly string[] {
  return listMeasured(measured).flatMap(({ what, goal, limit, isOpen, value }) => {
    if (limit !== undefined && value > limit) return [`${what}: ${value}, at most ${limit}`];
    if (isOpen !== undefined && value <= goal)
      return [
        `${what}: ${value} reaches the goal of ${goal}; replace isOpen in scripts/house/limits.ts by a limit`,
      ];
    return [];
  });
}

/** Returns a table with a line for each figure. */
export function formatFigures(measured: Measured): string {
  const rows = listMeasured(measured).map(({ what, goal, limit, value, method }) => {
    const state = value <= goal ? 'reached' : limit === undefined ? 'NOT REACHED' : `limit ${limit}`;
    return [what, String(value), String(goal), state, method];
  });
  const table = [['figure', 'measured', 'goal', '', 'method'], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .join('\n');
}

function listMeasured(measured: Measured): readonly (Limit & { readonly value: number })[] {
  return Object.entries(LIMITS).flatMap(([name, limit]) => {
    const value = measured[name as FigureName];
    return value === undefined ? [] : [{ ...limit, value }];
  });
}
