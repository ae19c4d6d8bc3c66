import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { observeStatements } from '../../../test/support/observe-statements.ts';

/** The work of one operation. It does not depend on the speed of the machine. */
export type Work = {
  /** Executed blocks of our own code, according to V8's block coverage. */
  readonly blocks: number;
  /** Statements on the database. */
  readonly statements: number;
  /** Requests to the media server. */
  readonly mediaCalls: number;
};

export type Operation = {
  readonly name: string;
  /** Number of operations in one call of `run`. */
  readonly times: number;
  readonly run: () => Promise<void> | void;
};

export type WorkCounter = {
  /** Runs the operation, and divides the counts by `times`. */
  readonly count: (operation: Operation) => Promise<Work>;
  readonly close: () => void;
};

const SRC = pathToFileURL(join(import.meta.dirname, '..', '..', '..', 'src')).href;
/** The simulator takes the place of LiveKit. Its blocks are not counted. */
const SIMULATOR = `${SRC}/server/media-simulator/`;

/**
 * Starts to count in this process. The measured code must be imported afterwards, because V8 counts the blocks of code that
 * it compiles from then on.
 */
export async function createWorkCounter(): Promise<WorkCounter> {
  // Optimized code does not count the functions that it inlines, and how soon code is optimized depends on the load.
  for (const flag of ['--no-opt', '--no-maglev']) setFlagsFromString(flag);
  let statements = 0;
  let mediaCalls = 0;
  observeStatements((sql) => {
    // The watcher of the file looks at intervals, and therefore more often during an operation that takes longer.
    if (sql !== 'pragma data_version') statements += 1;
  });
  subscribe('http.server.request.start', (message) => {
    const { request } = message as { readonly request: IncomingMessage };
    if (request.url?.startsWith('/twirp/')) mediaCalls += 1;
  });
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const takeBlocks = async (): Promise<number> => {
    // Reading the coverage resets its counters.
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return result
      .filter(({ url }) => url.startsWith(SRC) && !url.startsWith(SIMULATOR))
      .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
      .reduce((sum, { count }) => sum + count, 0);
  };
  return {
    count: async ({ times, run }) => {
      await takeBlocks();
      const before = { statements, mediaCalls };
      await run();
      const each = (count: number): number => Math.round((100 * count) / times) / 100;
      return {
        blocks: each(await takeBlocks()),
        statements: each(statements - before.statements),
        mediaCalls: each(mediaCalls - before.mediaCalls),
      };
    },
    close: () => session.disconnect(),
  };
}
