import { type Log, type LogFields, messageOf } from '../platform/log.ts';

const LEVELS: readonly string[] = ['debug', 'info', 'warn', 'error'] satisfies (keyof Log)[];
type Level = keyof Log;

export type TerminalLogOptions = {
  /** LOG_LEVEL: lines below it are left out, and `silent` leaves out all lines. */
  readonly level: string;
  readonly write: (line: string) => void;
  /** Returns the time of day as it is printed. */
  readonly time: () => string;
};

/**
 * Creates a log with one line for each request and for everything else, for users at a terminal, where JSON is hard to read.
 */
export function createTerminalLog({ level, write, time }: TerminalLogOptions): Log {
  const least = LEVELS.indexOf(level);
  const logAt =
    (own: Level) =>
    (fields: LogFields, message: string): void => {
      if (least === -1 || LEVELS.indexOf(own) < least) return;
      write(`${time()}  ${visible(describeRequest(fields) ?? describeLine(own, fields, message))}\n`);
    };
  return { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
}

/** Error messages may quote foreign input, and a terminal obeys control characters. */
function visible(line: string): string {
  return line.replaceAll(/[\p{Cc}\p{Cf}]/gu, '?');
}

/** Undefined for a line that is not about a request. */
function describeRequest({ method, route, status, durationMs }: LogFields): string | undefined {
  if (typeof status !== 'number' || typeof durationMs !== 'number') return undefined;
  return `${String(method).padEnd(6)} ${status} ${String(Math.round(durationMs)).padStart(5)} ms  ${String(route)}`;
}

function describeLine(level: Level, { err, ...fields }: LogFields, message: string): string {
  const reason = err === undefined ? '' : `: ${messageOf(err)}`;
  const details = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  const prefix = level === 'info' ? '' : `${level}: `;
  return `${prefix}${message}${reason}${details.join('')}`;
}
