/*
 * Reads a tar archive (POSIX ustar, with the long names of GNU tar and pax) from a stream. Entries come in their order,
 * and the content of one has to be read before the next.
 */

export type TarEntry = {
  readonly path: string;
  readonly type: 'file' | 'folder' | 'other';
  readonly content: AsyncIterable<Uint8Array>;
};

const BLOCK = 512;
/** Maximum metadata entry. An archive with a larger one is not that of a model. */
const MAX_METADATA_BYTES = 1024 * 1024;

/** Rejects when the archive is damaged or cut off. */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const reader = new ByteReader(source);
  let longName: string | undefined;
  for (;;) {
    const header = await reader.read(BLOCK);
    if (header.every((byte) => byte === 0)) return await reader.drain();
    requireChecksum(header);
    const size = parseOctal(header.subarray(124, 136));
    const type = String.fromCharCode(header[156] ?? 0);
    const padding = (BLOCK - (size % BLOCK)) % BLOCK;
    if (type === 'L' || type === 'x' || type === 'g') {
      if (size > MAX_METADATA_BYTES) throw new Error('The archive is damaged: an entry has no valid header.');
      const text = (await reader.read(size)).toString('utf8');
      await reader.skip(padding);
      if (type === 'L') longName = text.replace(/\0.*$/s, '');
      if (type === 'x') longName = paxPath(text) ?? longName;
      continue;
    }
    const rest = { bytes: size };
    yield { path: longName ?? nameOf(header), type: typeOf(type), content: contentOf(reader, rest) };
    longName = undefined;
    await reader.skip(rest.bytes + padding);
  }
}

async function* contentOf(reader: ByteReader, rest: { bytes: number }): AsyncGenerator<Uint8Array> {
  while (rest.bytes > 0) {
    const chunk = await reader.readSome(rest.bytes);
    rest.bytes -= chunk.length;
    yield chunk;
  }
}

function typeOf(flag: string): TarEntry['type'] {
  if (flag === '0' || flag === '\0') return 'file';
  return flag === '5' ? 'folder' : 'other';
}

function nameOf(header: Buffer): string {
  const name = textOf(header.subarray(0, 100));
  const isUstar = header.toString('latin1', 257, 262) === 'ustar';
  const prefix = isUstar ? textOf(header.subarray(345, 500)) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

function textOf(field: Buffer): string {
  return field.toString('utf8').replace(/\0.*$/s, '');
}

/** Sizes of 8 GB and more are written otherwise; no model is that large. */
function parseOctal(field: Buffer): number {
  const value = Number.parseInt(textOf(field).trim() || '0', 8);
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

class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #buffer: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async read(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let missing = bytes; missing > 0; ) {
      const part = await this.readSome(missing);
      parts.push(part);
      missing -= part.length;
    }
    return Buffer.concat(parts);
  }

  /** Returns at least one byte and `limit` at most. */
  async readSome(limit: number): Promise<Buffer> {
    while (this.#buffer.length === 0) {
      const next = await this.#source.next();
      if (next.done === true) throw new Error('The archive is cut off.');
      this.#buffer = Buffer.from(next.value);
    }
    const part = this.#buffer.subarray(0, limit);
    this.#buffer = this.#buffer.subarray(part.length);
    return part;
  }

  /** Reads the bytes after the end of the archive, so that its writer can end. */
  async drain(): Promise<void> {
    while ((await this.#source.next()).done !== true);
  }

  async skip(bytes: number): Promise<void> {
    for (let left = bytes; left > 0; ) left -= (await this.readSome(left)).length;
  }
}
