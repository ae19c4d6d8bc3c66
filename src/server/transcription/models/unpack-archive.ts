import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { HintedError } from '../../../contract/hint.ts';
import { readTar, type TarEntry } from './read-tar.ts';

/*
 * Unpacks a .tar.bz2 archive of a model. bzip2 decompresses, or Python without bzip2. This code writes the entries: only
 * regular files in the folder, no links, and not more bytes than a model can have.
 */

/** Decompressors of standard input to standard output, in the order of preference. */
const DECOMPRESSORS = [
  ['bzip2', '-dc'],
  [
    'python3',
    '-c',
    'import bz2, sys, shutil; shutil.copyfileobj(bz2.open(sys.stdin.buffer), sys.stdout.buffer, 1 << 20)',
  ],
] as const;

/** More than the size of the largest model. Limits what a hostile archive can write. */
const MAX_BYTES = 16 * 1024 ** 3;
const MAX_ENTRIES = 1_000;

/** Unpacks into the folder, without the archive's outermost folder. Rejects with the cause and what to do. */
export async function unpackArchive(archive: string, folder: string, signal: AbortSignal): Promise<void> {
  const [program, ...args] = await findDecompressor();
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], signal });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = `${stderr}${chunk.toString()}`.slice(-500);
  });
  const ended = once(child, 'close');
  // The decompressor ends before its input when the archive is damaged, or has bytes after its end.
  const feeding = pipeline(createReadStream(archive), child.stdin).catch(() => undefined);
  try {
    await writeEntries(readTar(child.stdout), folder);
    const [code] = await ended;
    if (code !== 0)
      throw new Error(`The archive is damaged: ${stderr.trim() || `${program} ended with ${code}`}`);
  } catch (error) {
    signal.throwIfAborted();
    throw stderr.trim() === ''
      ? error
      : new Error(`The archive is damaged: ${stderr.trim()}`, { cause: error });
  } finally {
    child.kill();
    // The process counts as ended only when all of its output was read.
    child.stdout.destroy();
    await Promise.allSettled([feeding, ended]);
  }
}

async function findDecompressor(): Promise<readonly [string, ...string[]]> {
  for (const [program, ...args] of DECOMPRESSORS) {
    const child = spawn(program, ['--help'], { stdio: 'ignore' });
    const isThere = await new Promise<boolean>((resolve) => {
      child.once('error', () => resolve(false));
      child.once('close', () => resolve(true));
    });
    if (isThere) return [program, ...args];
  }
  throw new HintedError('Neither bzip2 nor python3 can be run', { text: 'install bzip2, and try again' });
}

async function writeEntries(entries: AsyncIterable<TarEntry>, folder: string): Promise<void> {
  let [count, bytes] = [0, 0];
  for await (const { path, type, content } of entries) {
    count += 1;
    if (count > MAX_ENTRIES) throw new Error(`The archive has more than ${MAX_ENTRIES} entries.`);
    const parts = safeParts(path);
    if (type === 'other')
      throw new Error(`The archive has ${JSON.stringify(path)}, which is not a regular file.`);
    const inner = parts.slice(1);
    if (type === 'folder' || inner.length === 0 || isMacMetadata(inner)) continue;
    const target = join(folder, ...inner);
    await mkdir(dirname(target), { recursive: true });
    const counted = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of content) {
        bytes += chunk.length;
        if (bytes > MAX_BYTES) throw new Error('The archive has more bytes than any model.');
        yield chunk;
      }
    };
    await pipeline(Readable.from(counted()), createWriteStream(target, { flags: 'wx', mode: 0o644 }));
  }
  if (count === 0) throw new Error('The archive is empty.');
}

/** Whether a file is one that macOS adds to archives beside each real file. */
function isMacMetadata(parts: readonly string[]): boolean {
  return parts.at(-1)?.startsWith('._') === true;
}

function safeParts(path: string): readonly string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  const isUnsafe = path.startsWith('/') || /[\\\0]|^[A-Za-z]:/.test(path) || parts.includes('..');
  if (isUnsafe) throw new Error(`The archive has the unsafe path ${JSON.stringify(path)}.`);
  return parts;
}
