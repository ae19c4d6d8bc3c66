import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { shellQuote } from '../../contract/shell-quote.ts';
import {
  bilingualError,
  CancelledError,
  type CliError,
  type ExitCode,
  usageError,
} from '../errors/cli-error.ts';
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
  if (value.startsWith('@')) return readNamedFile(io, value.slice(1));
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
  return decodeText(Buffer.concat(chunks), 'stdin');
}

async function readNamedFile(io: Io, path: string): Promise<string> {
  if (path === '')
    throw usageError(
      'there is no file name after @',
      'write @FILE, - for stdin, or @@ for a text that begins with @',
    );
  return readTextFile(io, path);
}

/** Reads a file as text. The exit code is that for a file which cannot be read. */
export async function readTextFile(io: Io, path: string, exitCode?: ExitCode): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(resolve(io.workingDirectory, path));
  } catch (cause) {
    throw fileError(cause, { path, doing: 'read', ...(exitCode === undefined ? {} : { exitCode }) });
  }
  return decodeText(bytes, path);
}

const BYTE_ORDER_MARK = '\ufeff';

/**
 * Decodes UTF-8 without the byte order mark that editors put in front. Other bytes are refused, because a guess would send
 * damaged text to the service, or another secret.
 * @param name of the file or stream, for the error
 * @throws CliError (usage)
 */
export function decodeText(bytes: Uint8Array, name: string): string {
  if (isUtf16(bytes)) throw otherEncoding(name, ['UTF-16', 'PowerShell']);
  if (!isUtf8(bytes)) throw otherEncoding(name, ['WINDOWS-1252', 'Excel']);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** Bytes that show in which half of each unit of UTF-16 the zeros are. */
const SAMPLE_BYTES = 64;

/** Returns whether there is a mark of UTF-16, or every second byte is zero, as in Latin text without a mark. */
function isUtf16(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  if (sample.length < 4 || bytes.length % 2 === 1) return false;
  return [0, 1].some((half) => sample.every((byte, index) => (byte === 0) === (index % 2 === half)));
}

function otherEncoding(name: string, [encoding, writer]: readonly [string, string]): CliError {
  const file = name === 'stdin' ? 'FILE' : shellQuote(name);
  const convert = `iconv -f ${encoding} -t UTF-8 ${file}`;
  const shown = encoding === 'UTF-16' ? encoding : 'Windows-1252';
  return bilingualError(
    [
      `${name} is not UTF-8; it looks like ${shown}, as ${writer} writes it`,
      `save it as UTF-8, or convert it: ${convert}`,
    ],
    [
      `${name} non è in UTF-8; sembra ${shown}, come lo scrive ${writer}`,
      `salvarlo in UTF-8, oppure convertirlo: ${convert}`,
    ],
  );
}
