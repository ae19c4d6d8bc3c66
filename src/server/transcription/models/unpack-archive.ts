import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { HintedError } from '../../../contract/hint.ts';
import { ByteReader } from '../../platform/byte-reader.ts';

/*
 * Unpacks a .tar.bz2 archive of a model. bzip2 decompresses, or Python without bzip2. This code writes the entries: only
 * regular files in the folder, no links, and not more bytes than a model can have.
 */

/** The archive has a file that is not allowed. */
export class UnexpectedFile extends Error {
  override readonly name = 'UnexpectedFile';
  readonly path: string;

  constructor(path: string) {
    super(`The archive has ${JSON.stringify(path)}, which is not expected.`);
    this.path = path;
  }
}

class TooManyBytes extends Error {
  override readonly name = 'TooManyBytes';
}

/** Decompressors of standard input to standard output, in the order of preference. */
const DECOMPRESSORS = [
  ['bzip2', '-dc'],
  [
    'python3',
    '-c',
    'import bz2, sys, shutil; shutil.copyfileobj(bz2.open(sys.stdin.buffer), sys.stdout.buffer, 1 << 20)',
  ],
] as const;

/** More than the size of the largest model. Limits what a hostile archive can write, and how long it is read. */
export const MAX_BYTES = 16 * 1024 ** 3;

const MAX_ENTRIES = 1_000;

type Unpacking = {
  readonly folder: string;
  /** Called with the path of each file in the outermost folder. A file that is not allowed ends the unpacking. */
  readonly allows?: ((path: string) => boolean) | undefined;
  /** More bytes than these, which the archive may have, end the unpacking. */
  readonly mostBytes?: number;
  readonly signal: AbortSignal;
};

/** Unpacks into the folder, without the archive's outermost folder. Rejects with the cause and what to do. */
export async function unpackArchive(
  archive: string,
  { folder, allows = () => true, mostBytes = MAX_BYTES, signal }: Unpacking,
): Promise<void> {
  const [program, ...args] = await findDecompressor();
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], signal });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = `${stderr}${chunk.toString()}`.slice(-500);
  });
  const ended = once(child, 'close');
  // It rejects when the signal aborts, while the entries are still read.
  ended.catch(() => undefined);
  // The decompressor ends before its input when the archive is damaged, or has bytes after its end.
  const feeding = pipeline(createReadStream(archive), child.stdin).catch(() => undefined);
  try {
    await writeEntries(readTar(upTo(child.stdout, mostBytes)), folder, allows);
    const [code] = await ended;
    if (code !== 0)
      throw new Error(`The archive is damaged: ${stderr.trim() || `${program} ended with ${code}`}`);
  } catch (error) {
    signal.throwIfAborted();
    // The decompressor complains too when nobody reads on.
    const isOurs = error instanceof TooManyBytes || error instanceof UnexpectedFile;
    throw isOurs || stderr.trim() === ''
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

async function writeEntries(
  entries: AsyncIterable<TarEntry>,
  folder: string,
  allows: (path: string) => boolean,
): Promise<void> {
  let count = 0;
  for await (const { path, type, content } of entries) {
    count += 1;
    if (count > MAX_ENTRIES) throw new Error(`The archive has more than ${MAX_ENTRIES} entries.`);
    const parts = safeParts(path);
    if (type === 'other')
      throw new Error(`The archive has ${JSON.stringify(path)}, which is not a regular file.`);
    const inner = parts.slice(1);
    if (type === 'folder' || inner.length === 0 || isMacMetadata(inner)) continue;
    if (!allows(inner.join('/'))) throw new UnexpectedFile(inner.join('/'));
    const target = join(folder, ...inner);
    await mkdir(dirname(target), { recursive: true });
    await pipeline(Readable.from(content), createWriteStream(target, { flags: 'wx', mode: 0o644 }));
  }
  if (count === 0) throw new Error('The archive is empty.');
}

/** Counts also what is skipped, such as the content of a folder or bytes after the end. */
async function* upTo(source: AsyncIterable<Uint8Array>, mostBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new TooManyBytes('The archive has more bytes than the model.');
    yield chunk;
  }
}

/** Returns whether a file is one that macOS adds to archives beside each real file. */
function isMacMetadata(parts: readonly string[]): boolean {
  return parts.at(-1)?.startsWith('._') === true;
}

function safeParts(path: string): readonly string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  const isUnsafe = path.startsWith('/') || /[\\\0]|^[A-Za-z]:/.test(path) || parts.includes('..');
  if (isUnsafe) throw new Error(`The archive has the unsafe path ${JSON.stringify(path)}.`);
  return parts;
}

/*
 * Reads a tar archive (POSIX ustar, with the long names of GNU tar and pax) from a stream. Entries come in their order,
 * and the content of one has to be read before the next.
 */

type TarEntry = {
  readonly path: string;
  readonly type: 'file' | 'folder' | 'other';
  readonly content: AsyncIterable<Uint8Array>;
};

const BLOCK = 512;

/** Bytes that are read at once. */
const PIECE = 65_536;

/** Maximum metadata entry. No archive of a model has a larger one. */
const MAX_METADATA_BYTES = 1024 * 1024;

/** Rejects when the archive is damaged or cut off. */
async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const reader = new ByteReader(source);
  let longName: string | undefined;
  for (;;) {
    const header = await readExactly(reader, BLOCK);
    if (header.every((byte) => byte === 0)) break;
    requireChecksum(header);
    const size = parseOctal(header.subarray(124, 136));
    const type = String.fromCharCode(header[156] ?? 0);
    const padding = (BLOCK - (size % BLOCK)) % BLOCK;
    if (type === 'L' || type === 'x' || type === 'g') {
      if (size > MAX_METADATA_BYTES) throw new Error('The archive is damaged: an entry has no valid header.');
      const text = (await readExactly(reader, size)).toString('utf8');
      await reader.skip(padding);
      if (type === 'L') longName = text.replace(/\0.*$/s, '');
      if (type === 'x') longName = paxPath(text) ?? longName;
      continue;
    }
    const rest = { bytes: size };
    yield { path: longName ?? readName(header), type: readType(type), content: contentOf(reader, rest) };
    longName = undefined;
    await reader.skip(rest.bytes + padding);
  }
  // The bytes after the end of the archive are read, so that its writer can end.
  while ((await reader.read(PIECE)).length > 0);
}

async function* contentOf(reader: ByteReader, rest: { bytes: number }): AsyncGenerator<Uint8Array> {
  while (rest.bytes > 0) {
    const chunk = await readExactly(reader, Math.min(rest.bytes, PIECE));
    rest.bytes -= chunk.length;
    yield chunk;
  }
}

function readType(flag: string): TarEntry['type'] {
  if (flag === '0' || flag === '\0') return 'file';
  return flag === '5' ? 'folder' : 'other';
}

function readName(header: Buffer): string {
  const name = readText(header.subarray(0, 100));
  const isUstar = header.toString('latin1', 257, 262) === 'ustar';
  const prefix = isUstar ? readText(header.subarray(345, 500)) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

function readText(field: Buffer): string {
  return field.toString('utf8').replace(/\0.*$/s, '');
}

/** Sizes of 8 GB and more are written otherwise; no model is that large. */
function parseOctal(field: Buffer): number {
  const value = Number.parseInt(readText(field).trim() || '0', 8);
  if (!Number.isSafeInteger(value)) throw new Error('The archive is damaged: an entry has no size.');
  return value;
}

function requireChecksum(header: Buffer): void {
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0);
  if (sum !== parseOctal(header.subarray(148, 156))) throw new Error('The archive is damaged.');
}

/** Records of a pax header: `<length> <key>=<value>\n`. */
function paxPath(text: string): string | undefined {
  return /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text)?.[1];
}

async function readExactly(reader: ByteReader, bytes: number): Promise<Buffer> {
  const read = await reader.read(bytes);
  if (read.length < bytes) throw new Error('The archive is cut off.');
  return read;
}
