import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Constant, encodeModel, type Graph, type Node, type TensorInfo } from './onnx-graph.ts';

/* Folders of tiny models, and the parts that their graphs share. */

type Files = Readonly<Record<string, Graph | readonly string[]>>;

/** Makes a folder of a model. A list of texts becomes tokens.txt, each with its index. */
export function modelFolder(files: Files): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'rtc-tiny-')), 'model');
  mkdirSync(folder);
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), encode(content));
  return folder;
}

function encode(content: Graph | readonly string[]): Buffer | string {
  if ('nodes' in content) return encodeModel(content);
  return content.map((token, id) => `${token} ${id}\n`).join('');
}

export const float = (name: string, ...shape: (number | string)[]): TensorInfo => ({
  name,
  type: 'float',
  shape,
});
export const int64 = (name: string, ...shape: (number | string)[]): TensorInfo => ({
  name,
  type: 'int64',
  shape,
});
export const int32 = (name: string, ...shape: (number | string)[]): TensorInfo => ({
  name,
  type: 'int32',
  shape,
});

/** Returns a node that outputs a constant. */
export const give = (constant: string, output: string): Node => ({
  ...{ op: 'Identity', inputs: [constant], outputs: [output] },
});

/** Returns rows of logits. In each row, one token has the highest logit. */
export function logits(name: string, dims: readonly number[], tokens: readonly number[]): Constant {
  const size = dims.at(-1) ?? 0;
  const values = tokens.flatMap((token) => Array.from({ length: size }, (_, id) => (id === token ? 9 : 0)));
  return { name, type: 'float', dims, values };
}
