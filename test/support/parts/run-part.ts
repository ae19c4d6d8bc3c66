import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A running program that a test started. */
export interface RunningPart {
  /** The process group of the program and everything that it started. */
  readonly groupId: number;
  /** The last lines of its output, for the message of a failed start. */
  readonly output: () => string;
  /** Resolves to the exit status, when the program and everything that it started have ended. */
  readonly exited: Promise<number | null>;
  /** Ends the program and everything that it started. Resolves when all of it has ended. */
  close(): Promise<void>;
  /** Kills the program and everything that it started. */
  kill(): Promise<void>;
  /** Freezes the program (SIGSTOP), until it is thawed (SIGCONT). */
  freeze(): void;
  thaw(): void;
}

export interface PartCommand {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Runs as this user instead, because some servers refuse to run as root. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** The signal that stops this program. Default: SIGTERM. */
  readonly stopSignal?: NodeJS.Signals;
  /** Time for stopping before it is killed. Default: 5 s. */
  readonly stopDeadlineMs?: number;
  /** Called with all of its output, as it arrives. */
  readonly onOutput?: (text: string) => void;
}

const defaultStopDeadlineMs = 5_000;
const keptOutputCharacters = 8_000;

/**
 * Runs the program in its own process group under a shell that holds one end of a pipe. If the test process ends in any way
 * (including SIGKILL), the pipe closes and the shell kills the group. No server outlives its tests.
 */
const leash = [
  'exec 3<&0',
  '"$@" 3<&- </dev/null &',
  'part=$!',
  '( while read -r _; do :; done; kill -KILL 0 ) <&3 >/dev/null 2>&1 &',
  'leash=$!',
  // A stop signal is sent to the whole group. The shell ignores it and waits for the program.
  'trap : TERM INT QUIT',
  'while :; do wait "$part"; status=$?; kill -0 "$part" 2>/dev/null || break; done',
  'kill -KILL "$leash" 2>/dev/null',
  'exit "$status"',
].join('\n');

/** Starts the program. It does not wait until it is ready (see {@link untilReady}). */
export function runPart(command: PartCommand): RunningPart {
  const child = spawn('/bin/sh', ['-c', leash, command.name, command.program, ...command.args], {
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: command.env ?? process.env,
    ...(command.cwd ? { cwd: command.cwd } : {}),
    ...(command.user ?? {}),
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-keptOutputCharacters);
      command.onOutput?.(text);
    });
  }
  // 'close' is emitted when the last process that holds the output pipes has ended, not only the shell.
  const exited = once(child, 'close').then(([status]): number | null => status);
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= stop(child, exited, command);
    return closing;
  };
  const kill = async () => {
    signalGroup(child, 'SIGKILL');
    await exited;
  };
  const freeze = () => signalGroup(child, 'SIGSTOP');
  const thaw = () => signalGroup(child, 'SIGCONT');
  return { groupId: child.pid ?? 0, output: () => output, exited, close, kill, freeze, thaw };
}

async function stop(child: ChildProcess, exited: Promise<unknown>, command: PartCommand): Promise<void> {
  const deadlineMs = command.stopDeadlineMs ?? defaultStopDeadlineMs;
  const killer = setTimeout(() => signalGroup(child, 'SIGKILL'), deadlineMs);
  signalGroup(child, command.stopSignal ?? 'SIGTERM');
  await exited;
  clearTimeout(killer);
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (cause) {
    const gone = cause instanceof Error && 'code' in cause && cause.code === 'ESRCH';
    if (!gone) throw cause;
  }
}

export interface Readiness {
  /** Checks once. Resolves to true if the part responds. An error counts as "not yet". */
  readonly isReady: () => Promise<boolean>;
  readonly deadlineMs?: number;
}

/** Checks until the part is ready. Closes it and throws with its output if it ends or the deadline passes. */
export async function untilReady(part: RunningPart, name: string, readiness: Readiness): Promise<void> {
  const { isReady, deadlineMs = 20_000 } = readiness;
  const looked = new AbortController();
  const look = async () => {
    const deadline = Date.now() + deadlineMs;
    while (!looked.signal.aborted) {
      if (await isReady().catch(() => false)) return;
      if (Date.now() > deadline)
        throw new Error(`${name} is not ready after ${deadlineMs} ms:\n${part.output()}`);
      await delay(20);
    }
  };
  const end = async () => {
    const status = await part.exited;
    throw new Error(`${name} ended with status ${status}:\n${part.output()}`);
  };
  try {
    await Promise.race([look(), end()]);
  } catch (cause) {
    await part.close();
    throw cause;
  } finally {
    looked.abort();
  }
}

/** How often a start is attempted if another program takes one of its ports. */
const startAttempts = 3;

/**
 * Runs a start that picks free ports, and repeats it if it fails: between the check of a port and the server's bind,
 * another program may take it.
 */
export async function withFreshPorts<Part>(start: () => Promise<Part>): Promise<Part> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (cause) {
      if (attempt === startAttempts || !/address already in use|EADDRINUSE/i.test(String(cause))) throw cause;
    }
  }
}

/** Below Linux's ephemeral range (32768), so that no outgoing connection takes the port meanwhile. */
const portRange = { from: 20_000, to: 32_000 };

/** Returns a port of 127.0.0.1 that is free for TCP and UDP now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(portRange.from, portRange.to);
    if ((await isFreeTcp(port)) && (await isFreeUdp(port))) return port;
  }
}

function isFreeTcp(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

function isFreeUdp(port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    socket.once('error', () => socket.close(() => resolve(false)));
    socket.bind(port, '127.0.0.1', () => socket.close(() => resolve(true)));
  });
}
