/** Reads a stream of bytes in pieces of requested sizes, and reads no more from it than needed. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest = Buffer.alloc(0);
  #isAtEnd = false;

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** Returns as many bytes as requested; fewer only at the end of the stream. */
  async read(count: number): Promise<Buffer> {
    await this.#fill(count);
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    return taken;
  }

  /** Returns the next bytes without consuming them. */
  async peek(count: number): Promise<Buffer> {
    await this.#fill(count);
    return this.#rest.subarray(0, count);
  }

  async skip(count: number): Promise<void> {
    for (let left = count; left > 0; ) {
      const skipped = await this.read(Math.min(left, SKIPPED_AT_ONCE));
      if (skipped.length === 0) return;
      left -= skipped.length;
    }
  }

  /** Returns the text up to a line feed, which is consumed; undefined when there is none within `most` bytes. */
  async readLine(most: number): Promise<string | undefined> {
    for (let length = 64; ; length = Math.min(length * 2, most)) {
      const head = await this.peek(length);
      const end = head.indexOf(LINE_FEED);
      if (end !== -1) return (await this.read(end + 1)).subarray(0, end).toString('latin1');
      if (head.length < length || length === most) return undefined;
    }
  }

  async #fill(count: number): Promise<void> {
    const pieces: Uint8Array[] = [this.#rest];
    let length = this.#rest.length;
    while (length < count && !this.#isAtEnd) {
      const { value, done } = await this.#chunks.next();
      if (done === true) this.#isAtEnd = true;
      else {
        pieces.push(value);
        length += value.length;
      }
    }
    if (pieces.length > 1) this.#rest = Buffer.concat(pieces);
  }
}

const SKIPPED_AT_ONCE = 65_536;
const LINE_FEED = 0x0a;
