import { closeSync, openSync, readSync } from 'node:fs';

/*
 * Reads the metadata of an ONNX file (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto): the key-value pairs in
 * field 14 of its ModelProto. The graph, which may have gigabytes, is skipped and never read.
 */

const METADATA_FIELD = 14;
/** Longer metadata entries, such as token tables, are skipped: the ones that we need are short. */
const MAX_ENTRY_BYTES = 1024 * 1024;
const MAX_VARINT_BYTES = 10;

/** Returns the metadata by key. Throws when the file is not ONNX or is cut off. */
export function readOnnxMetadata(path: string): ReadonlyMap<string, string> {
  const file = openSync(path, 'r');
  try {
    return readModel(new ProtobufFile(file));
  } catch (cause) {
    throw new Error(`${path} is not a complete ONNX file.`, { cause });
  } finally {
    closeSync(file);
  }
}

function readModel(file: ProtobufFile): ReadonlyMap<string, string> {
  const metadata = new Map<string, string>();
  let fields = 0;
  for (let tag = file.varintOrEnd(); tag !== undefined; tag = file.varintOrEnd()) {
    fields += 1;
    const [field, wireType] = [tag >>> 3, tag & 7];
    if (wireType === 0) file.varint();
    else if (wireType === 1) file.skip(8);
    else if (wireType === 5) file.skip(4);
    else if (wireType === 2) {
      const length = file.varint();
      if (field !== METADATA_FIELD || length > MAX_ENTRY_BYTES) file.skip(length);
      else addEntry(metadata, file.read(length));
    } else throw new Error(`unknown wire type ${wireType}`);
  }
  if (fields === 0) throw new Error('the file is empty');
  return metadata;
}

/** Decodes a StringStringEntryProto: field 1 is the key, field 2 the value. */
function addEntry(metadata: Map<string, string>, entry: Buffer): void {
  const texts = ['', '', ''];
  for (let at = 0; at < entry.length; ) {
    const field = (entry[at] ?? 0) >>> 3;
    const [length, start] = varintAt(entry, at + 1);
    texts[field] = entry.toString('utf8', start, start + length);
    at = start + length;
  }
  metadata.set(texts[1] ?? '', texts[2] ?? '');
}

function varintAt(bytes: Buffer, start: number): readonly [value: number, end: number] {
  let value = 0;
  for (let index = 0; index < MAX_VARINT_BYTES; index += 1) {
    const byte = bytes[start + index];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return [value, start + index + 1];
  }
  throw new Error('a number is cut off');
}

class ProtobufFile {
  readonly #file: number;
  #position = 0;

  constructor(file: number) {
    this.#file = file;
  }

  varintOrEnd(): number | undefined {
    return this.#readUpTo(1).length === 0 ? undefined : this.varint();
  }

  varint(): number {
    const [value, length] = varintAt(this.#readUpTo(MAX_VARINT_BYTES), 0);
    this.#position += length;
    return value;
  }

  read(length: number): Buffer {
    const bytes = this.#readUpTo(length);
    if (bytes.length < length) throw new Error('a field is cut off');
    this.#position += length;
    return bytes;
  }

  /** Reads the last byte, so that a file that is cut off inside the field is noticed. */
  skip(length: number): void {
    if (length === 0) return;
    this.#position += length - 1;
    this.read(1);
  }

  #readUpTo(length: number): Buffer {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(this.#file, bytes, 0, length, this.#position));
  }
}
