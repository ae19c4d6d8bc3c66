import { fstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { bilingualError, CancelledError } from '../../../errors/cli-error.ts';
import { fileError } from '../../../errors/file-error.ts';
import type { Io } from '../../../terminal/io.ts';

/** The input of a run over many lines. */
export type StreamSource = {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Size of a file, also of one that stdin was redirected from. */
  readonly sizeBytes: number | undefined;
  readonly bytesRead: () => number;
  /** Aborted at Ctrl-C. */
  readonly signal: AbortSignal;
  readonly close: () => Promise<void>;
};

/** @throws CliError (usage) for a file that cannot be read */
export async function openSource(io: Io, file: string | undefined): Promise<StreamSource> {
  const source = file === undefined ? openStdin(io) : await openFile(io, file);
  let bytesRead = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of source.chunks) {
      bytesRead += chunk.length;
      yield chunk;
    }
  };
  return { ...source, chunks: counted(), bytesRead: () => bytesRead, signal: io.signal };
}

type OpenedSource = Omit<StreamSource, 'bytesRead' | 'signal'>;

function openStdin(io: Io): OpenedSource {
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

async function openFile(io: Io, file: string): Promise<OpenedSource> {
  const handle = await openHandle(io, file);
  const stat = await handle.stat();
  if (stat.isDirectory()) {
    await handle.close();
    throw fileError({ code: 'EISDIR' }, { path: file, doing: 'read' });
  }
  const stream = handle.createReadStream({ autoClose: false, highWaterMark: PIECE_BYTES });
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

/** Larger pieces save turns of the event loop, but several are in memory at a time. */
const PIECE_BYTES = 64 * 1024;

async function openHandle(io: Io, file: string): Promise<FileHandle> {
  try {
    return await open(resolve(io.workingDirectory, file));
  } catch (cause) {
    throw fileError(cause, { path: file, doing: 'read' });
  }
}

/** Rejects at Ctrl-C, because the rest of a line that was cut short must not be read as a line. */
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

/** @throws CliError (usage) for input without lines of bytes: text in UTF-16, and workbooks */
export async function* refuseBinary(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let isFirst = true;
  for await (const chunk of chunks) {
    const [one, two] = chunk;
    if (isFirst && ((one === 0xff && two === 0xfe) || (one === 0xfe && two === 0xff))) {
      throw bilingualError(
        ['the input is UTF-16', 'convert it: iconv -f UTF-16 -t UTF-8 FILE | rtc cf ... -'],
        ["l'input è in UTF-16", 'convertirlo: iconv -f UTF-16 -t UTF-8 FILE | rtc cf ... -'],
      );
    }
    if (isFirst && one === 0x50 && two === 0x4b) {
      throw bilingualError(
        ['the input is a workbook', 'add --append, or --column with the name of a column'],
        [
          "l'input è una cartella di lavoro",
          'aggiungere --append, oppure --column con il nome di una colonna',
        ],
      );
    }
    isFirst = false;
    yield chunk;
  }
}
