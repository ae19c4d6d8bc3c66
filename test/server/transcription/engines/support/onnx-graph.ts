/*
 * Writes ONNX models with a graph (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto). It supports what tiny models
 * for tests need.
 */

export type ElementType = 'float' | 'int32' | 'int64';
/** A dimension that is a name may have any size. */
export type TensorInfo = {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly (number | string)[];
};
export type Constant = {
  readonly name: string;
  readonly type: ElementType;
  readonly dims: readonly number[];
  readonly values: readonly number[];
};
export type Node = {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes?: Readonly<Record<string, number | readonly number[]>>;
};
export type Graph = {
  readonly metadata?: Readonly<Record<string, string | number>>;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  readonly constants?: readonly Constant[];
  readonly nodes: readonly Node[];
};

const ELEMENT_TYPES = { float: 1, int32: 6, int64: 7 } as const;
const IR_VERSION = 8;
const OPSET = 13;

/** Encodes a ModelProto. */
export function encodeModel({ metadata = {}, inputs, outputs, constants = [], nodes }: Graph): Buffer {
  const graph = Buffer.concat([
    ...nodes.map((node) => bytes(1, encodeNode(node))),
    text(2, 'tiny'),
    ...constants.map((constant) => bytes(5, encodeTensor(constant))),
    ...inputs.map((input) => bytes(11, encodeInfo(input))),
    ...outputs.map((output) => bytes(12, encodeInfo(output))),
  ]);
  return Buffer.concat([
    integer(1, IR_VERSION),
    bytes(7, graph),
    bytes(8, integer(2, OPSET)),
    ...Object.entries(metadata).map(([key, value]) =>
      bytes(14, Buffer.concat([text(1, key), text(2, String(value))])),
    ),
  ]);
}

function encodeNode({ op, inputs, outputs, attributes = {} }: Node): Buffer {
  return Buffer.concat([
    ...inputs.map((name) => text(1, name)),
    ...outputs.map((name) => text(2, name)),
    text(4, op),
    ...Object.entries(attributes).map(([name, value]) => bytes(5, encodeAttribute(name, value))),
  ]);
}

function encodeAttribute(name: string, value: number | readonly number[]): Buffer {
  if (typeof value === 'number') return Buffer.concat([text(1, name), integer(3, value), integer(20, 2)]);
  return Buffer.concat([text(1, name), ...value.map((each) => integer(8, each)), integer(20, 7)]);
}

function encodeTensor({ name, type, dims, values }: Constant): Buffer {
  const raw = type === 'float' ? Float32Array.from(values) : BigInt64Array.from(values.map(BigInt));
  if (type === 'int32') throw new Error('constants are float or int64');
  return Buffer.concat([
    ...dims.map((size) => integer(1, size)),
    integer(2, ELEMENT_TYPES[type]),
    text(8, name),
    bytes(9, Buffer.from(raw.buffer)),
  ]);
}

function encodeInfo({ name, type, shape }: TensorInfo): Buffer {
  const dims = shape.map((size) => bytes(1, typeof size === 'number' ? integer(1, size) : text(2, size)));
  const tensor = Buffer.concat([integer(1, ELEMENT_TYPES[type]), bytes(2, Buffer.concat(dims))]);
  return Buffer.concat([text(1, name), bytes(2, bytes(1, tensor))]);
}

function integer(field: number, value: number): Buffer {
  return Buffer.concat([varint(field << 3), varint(value)]);
}

function text(field: number, value: string): Buffer {
  return bytes(field, Buffer.from(value));
}

function bytes(field: number, content: Buffer): Buffer {
  return Buffer.concat([varint((field << 3) | 2), varint(content.length), content]);
}

function varint(value: number): Buffer {
  const encoded: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...encoded, rest]);
    encoded.push((rest % 128) + 128);
  }
}
