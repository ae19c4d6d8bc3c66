import { fstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CancelledError, usageError } from '../../errors/cli-error.ts';
import { fileError } from '../../errors/file-error.ts';
import type { Io } from '../../terminal/io.ts';

/** What a run over many reads from. */
export type StreamSource = {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Of a file, also one that stdin was redirected from. */
  readonly sizeBytes: number | undefined;
  readonly close: () => Promise<void>;
};

/** @throws CliError (usage) for a file that cannot be read, and for text in UTF-16 */
export async function openSource(io: Io, file: string | undefined): Promise<StreamSource> {
  const source = file === undefined ? openStdin(io) : await openFile(io, file);
  return { ...source, chunks: refuseUtf16(source.chunks) };
}

function openStdin(io: Io): StreamSource {
  const { stdin } = io;
  if (stdin.isTTY === true) io.stderr.write('Reading from stdin; end with Ctrl-D.\n');
  const stop = (): void => {
    stdin.destroy();
  };
  if (io.signal.aborted) stop();
  io.signal.addEventListener('abort', stop, { once: true });
  return {
    chunks: waitForAbort(io, stdin as AsyncIterable<Uint8Array>),
    sizeBytes: sizeOfStdin(io),
    close: async () => io.signal.removeEventListener('abort', stop),
  };
}

function sizeOfStdin(io: Io): number | undefined {
  const { fd } = io.stdin as { readonly fd?: unknown };
  if (typeof fd !== 'number') return undefined;
  const stat = fstatSync(fd);
  return stat.isFile() ? stat.size : undefined;
}

async function openFile(io: Io, file: string): Promise<StreamSource> {
  const handle = await openHandle(io, file);
  const stat = await handle.stat();
  if (stat.isDirectory()) {
    await handle.close();
    throw fileError({ code: 'EISDIR' }, { path: file, doing: 'read' });
  }
  const stream = handle.createReadStream({ autoClose: false });
  const stop = (): void => {
    stream.destroy();
  };
  if (io.signal.aborted) stop();
  io.signal.addEventListener('abort', stop, { once: true });
  return {
    chunks: waitForAbort(io, stream as AsyncIterable<Uint8Array>),
    sizeBytes: stat.isFile() ? stat.size : undefined,
    close: async () => {
      io.signal.removeEventListener('abort', stop);
      stream.destroy();
      await handle.close();
    },
  };
}

async function openHandle(io: Io, file: string): Promise<FileHandle> {
  try {
    return await open(resolve(io.workingDirectory, file));
  } catch (cause) {
    throw fileError(cause, { path: file, doing: 'read' });
  }
}

/** At Ctrl-C it rejects: the rest of a line that was cut short must not be read as one. */
async function* waitForAbort(io: Io, chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of chunks) {
      if (io.signal.aborted) break;
      yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    }
  } catch (error) {
    if (!io.signal.aborted) throw error;
  }
  if (io.signal.aborted) throw new CancelledError('stopped');
}

async function* refuseUtf16(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let isFirst = true;
  for await (const chunk of chunks) {
    const [one, two] = chunk;
    const isMark = (one === 0xff && two === 0xfe) || (one === 0xfe && two === 0xff);
    if (isFirst && isMark) {
      throw usageError('the input is UTF-16', 'convert it: iconv -f UTF-16 -t UTF-8 FILE | rtc cf ... -');
    }
    isFirst = false;
    yield chunk;
  }
}
