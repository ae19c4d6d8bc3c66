import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { observeStatements } from '../../scripts/house/observe-statements.ts';

/** What one operation makes the machine do, however fast the machine is. */
export type Work = {
  /** Blocks of our own code that ran, as V8's block coverage counts them. */
  readonly blocks: number;
  /** Statements on the database. */
  readonly statements: number;
  /** Requests to the media server. */
  readonly mediaCalls: number;
};

export type Operation = {
  readonly name: string;
  /** How many operations `run` does. */
  readonly times: number;
  readonly run: () => Promise<void> | void;
};

export type WorkCounter = {
  /** Runs it, and divides what ran by how many operations they were. */
  readonly count: (operation: Operation) => Promise<Work>;
  readonly close: () => void;
};

const SRC = pathToFileURL(join(import.meta.dirname, '..', '..', 'src')).href;
/** It stands in for LiveKit, which is not ours. */
const SIMULATOR = `${SRC}/server/media-simulator/`;

/** Counts in this process, from before the measured code is imported: V8 counts blocks of what it compiles afterwards. */
export async function createWorkCounter(): Promise<WorkCounter> {
  let statements = 0;
  let mediaCalls = 0;
  observeStatements(() => {
    statements += 1;
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
    // Taking the coverage sets it back to zero.
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
