import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CancelledError, usageError } from '../errors/cli-error.ts';
import { fileError } from '../errors/file-error.ts';
import type { Io } from './io.ts';

/** More than any argument needs (metadata: 512 KiB); a longer text is a mistake. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Reads `-` from stdin, `@file` from a file, `@@text` as a text that starts with an at sign; anything else is the text
 * itself.
 */
export async function readSourceText(io: Io, value: string): Promise<string> {
  if (value === '-') return readStdin(io);
  if (value.startsWith('@@')) return value.slice(1);
  if (value.startsWith('@')) return readTextFile(io, value.slice(1));
  return value;
}

/** Returns the values; for `-` alone the lines of stdin that are not empty. */
export async function readSourceLines(io: Io, values: readonly string[]): Promise<readonly string[]> {
  if (values.length !== 1 || values[0] !== '-') return values;
  return (await readStdin(io)).split(/\r?\n/).filter((line) => line.trim() !== '');
}

/** Reads all of stdin. Reports on a terminal that it is waiting for it. */
export async function readStdin(io: Io): Promise<string> {
  if (io.stdin.isTTY === true) io.stderr.write('Reading from stdin; end with Ctrl-D.\n');
  const chunks: Buffer[] = [];
  let size = 0;
  const stop = (): void => {
    io.stdin.destroy(new Error('cancelled'));
  };
  // A listener that is added to an aborted signal is not called.
  if (io.signal.aborted) stop();
  io.signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of io.stdin) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Buffer);
      size += bytes.length;
      if (size > MAX_BYTES) {
        throw usageError(
          `stdin has more than ${MAX_BYTES} bytes`,
          'send less: no text that rtc takes is that long',
        );
      }
      chunks.push(bytes);
    }
  } catch (error) {
    if (io.signal.aborted) throw new CancelledError('stopped while reading stdin');
    throw error;
  } finally {
    io.signal.removeEventListener('abort', stop);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function readTextFile(io: Io, path: string): Promise<string> {
  if (path === '')
    throw usageError(
      'there is no file name after @',
      'write @FILE, - for stdin, or @@ for a text that begins with @',
    );
  try {
    return await readFile(resolve(io.workingDirectory, path), 'utf8');
  } catch (cause) {
    throw fileError(cause, { path, doing: 'read' });
  }
}
