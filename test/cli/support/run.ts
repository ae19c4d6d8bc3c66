import { PassThrough } from 'node:stream';
import { main } from '../../../src/cli/main.ts';
import type { Io, ServiceLoaders } from '../../../src/cli/terminal/io.ts';

export type Run = { readonly code: number; readonly stdout: string; readonly stderr: string };

export type RunOptions = {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Buffer;
  /** If true, stdin stays open, and a command that reads it waits. */
  readonly isStdinOpen?: boolean;
  /** Streams that are terminals. Default: none. */
  readonly terminals?: readonly ('stdin' | 'stdout' | 'stderr')[];
  readonly columns?: number;
  readonly rows?: number;
  readonly clock?: () => number;
  readonly signal?: AbortSignal;
  readonly loaders?: Partial<ServiceLoaders>;
  readonly workingDirectory?: string;
  /** Default: the platform of this machine. */
  readonly platform?: NodeJS.Platform;
  /** The launcher's file, beside which the pages are. Default: a file in a folder that does not exist. */
  readonly launcher?: string;
  /** Called with all of stdout whenever it grows. */
  readonly onStdout?: (soFar: string) => void;
  readonly onStderr?: (soFar: string) => void;
};

const NO_PROFILES = '/nonexistent/profiles-of-nobody';

/** Runs main(argv) once, with its own streams. */
export async function run(argv: readonly string[], options: RunOptions = {}): Promise<Run> {
  const out = stream(options, 'stdout');
  const err = stream(options, 'stderr');
  const stdin = Object.assign(new PassThrough(), { isTTY: isTerminal(options, 'stdin') });
  if (options.isStdinOpen !== true) stdin.end(options.stdin ?? '');
  const io: Io = {
    stdin,
    stdout: out.stream,
    stderr: err.stream,
    // Hides the profiles of the person who runs the tests.
    env: { XDG_CONFIG_HOME: NO_PROFILES, ...options.env },
    workingDirectory: options.workingDirectory ?? import.meta.dirname,
    launcher: options.launcher ?? '/somewhere/bin/rtc.js',
    processId: process.pid,
    runtime: {
      node: process.versions.node,
      platform: options.platform ?? process.platform,
      arch: process.arch,
    },
    signal: options.signal ?? new AbortController().signal,
    clock: options.clock ?? Date.now,
    processControl: { onSignal: () => () => {}, onExit: () => () => {}, stop: () => {} },
    loaders: {
      serve: options.loaders?.serve ?? notHere,
      dev: options.loaders?.dev ?? notHere,
      worker: options.loaders?.worker ?? notHere,
      roomClient: options.loaders?.roomClient ?? notHere,
      stt: options.loaders?.stt ?? notHere,
      admin: options.loaders?.admin ?? notHere,
      bundled: options.loaders?.bundled ?? notHere,
    },
  };
  const code = await main(argv, io);
  return { code, stdout: out.text(), stderr: err.text() };
}

async function notHere(): Promise<never> {
  throw new Error('this test has no server');
}

function isTerminal(options: RunOptions, name: 'stdin' | 'stdout' | 'stderr'): boolean {
  return options.terminals?.includes(name) === true;
}

function stream(options: RunOptions, name: 'stdout' | 'stderr') {
  const through = new PassThrough();
  let text = '';
  through.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    (name === 'stdout' ? options.onStdout : options.onStderr)?.(text);
  });
  const terminal = {
    isTTY: isTerminal(options, name),
    columns: options.columns ?? 80,
    rows: options.rows ?? 24,
  };
  return { stream: Object.assign(through, terminal), text: () => text };
}
