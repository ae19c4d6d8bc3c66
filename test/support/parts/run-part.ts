import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A running program of the test ground. */
export interface RunningPart {
  /** The process group of the program and everything that it started. */
  readonly groupId: number;
  /** The last lines that it printed, for the message of a failed start. */
  readonly output: () => string;
  /** The exit status, once the program and everything that it started are gone. */
  readonly exited: Promise<number | null>;
  /** Ends the program and everything that it started; resolves when all of it is gone. */
  close(): Promise<void>;
  /** The same without a word to the program, as in a crash. */
  kill(): Promise<void>;
  /** Stops the program in the middle of whatever it does (SIGSTOP), until it is thawed (SIGCONT). */
  freeze(): void;
  thaw(): void;
}

export interface PartCommand {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Run as this user instead (some servers refuse to run as root). */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** How this program is asked to stop; SIGTERM unless said otherwise. */
  readonly stopSignal?: NodeJS.Signals;
  /** How long it may take for that before it is killed; 5 s unless said otherwise. */
  readonly stopDeadlineMs?: number;
  /** Gets all that it prints, as it comes. */
  readonly onOutput?: (text: string) => void;
}

const defaultStopDeadlineMs = 5_000;
const keptOutputCharacters = 8_000;

/**
 * Runs the program in a process group of its own under a shell that holds one end of a pipe. When the test
 * process goes away, in whatever manner (SIGKILL included), the pipe closes and the shell kills the group: no
 * server outlives its tests.
 */
const leash = [
  'exec 3<&0',
  '"$@" 3<&- </dev/null &',
  'part=$!',
  '( while read -r _; do :; done; kill -KILL 0 ) <&3 >/dev/null 2>&1 &',
  'leash=$!',
  // A stop signal goes to the whole group: the shell notes it and waits on for the program.
  'trap : TERM INT QUIT',
  'while :; do wait "$part"; status=$?; kill -0 "$part" 2>/dev/null || break; done',
  'kill -KILL "$leash" 2>/dev/null',
  'exit "$status"',
].join('\n');

/** Starts the program; says nothing about its being ready (see {@link untilReady}). */
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
  // 'close' comes when the last process that holds the output pipes is gone, not only the shell.
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
  /** One look; true when the part answers. A throw counts as "not yet". */
  readonly isReady: () => Promise<boolean>;
  readonly deadlineMs?: number;
}

/** Looks until the part is ready; closes it and throws with its output when it ends or the deadline passes. */
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

/** Starts that lost a port to another program are tried again this many times. */
const startAttempts = 3;

/**
 * Runs a start that picks free ports, anew when it fails: between the look at a port and the server's own bind
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

/** A port of 127.0.0.1 that is free for TCP and UDP right now. */
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
