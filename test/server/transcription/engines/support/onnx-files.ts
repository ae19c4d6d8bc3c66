import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Metadata by file name. An empty text means an empty file. */
export type ModelFiles = Readonly<Record<string, Readonly<Record<string, string>> | ''>>;

/** Creates a folder with ONNX files that have metadata and an empty graph. */
export function modelFolder(files: ModelFiles, name = 'model'): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'rtc-model-')), name);
  mkdirSync(folder);
  for (const [file, metadata] of Object.entries(files)) {
    writeFileSync(join(folder, file), metadata === '' ? '' : onnxModel(metadata));
  }
  return folder;
}

/** Encodes a ModelProto: ir_version (1), graph (7), opset_import (8), metadata_props (14). */
export function onnxModel(metadata: Readonly<Record<string, string>>, graphBytes = 300): Buffer {
  return Buffer.concat([
    Buffer.from([1 << 3, 8]),
    field(7, field(2, Buffer.alloc(graphBytes, 'g'))),
    field(8, Buffer.from([2 << 3, 17])),
    ...Object.entries(metadata).map(([key, value]) =>
      field(14, Buffer.concat([field(1, Buffer.from(key)), field(2, Buffer.from(value))])),
    ),
  ]);
}

function field(number: number, content: Buffer): Buffer {
  return Buffer.concat([varint((number << 3) | 2), varint(content.length), content]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}
