import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Constant, Graph, Node, TensorInfo } from './onnx-graph.ts';
import { float, give, int64, logits, modelFolder } from './tiny-graph.ts';

/* Models as icefall exports them, and CTC models of NeMo. Each outputs one word, whatever its input is. */

const BLANK = 0;
const WORD = 1;
/** Returns the tokens of a vocabulary with `word`. */
const saying = (word: string): readonly string[] => ['<blk>', `▁${word}`, '<unk>'];
/** Number of encoder frames: enough for a second of sound after the subsampling. */
const FRAMES = 32;

/** A state of a streaming encoder, which is output unchanged. */
type State = { readonly input: TensorInfo; readonly output: TensorInfo; readonly node: Node };

function state(kind: typeof float, name: string, dims: readonly number[]): State {
  return {
    input: kind(name, ...dims),
    output: kind(`new_${name}`, ...dims),
    node: give(name, `new_${name}`),
  };
}

const [DIM, HEADS, QUERY, VALUE, LEFT, KERNEL, FEATURES] = [4, 1, 4, 4, 8, 3, 80];
const CHUNK = { T: 45, decode_chunk_len: 32 };

const ZIPFORMER_METADATA = {
  ...{ ...CHUNK, encoder_dims: DIM, num_heads: HEADS, query_head_dims: QUERY, value_head_dims: VALUE },
  ...{ num_encoder_layers: 1, cnn_module_kernels: KERNEL, left_context_len: LEFT },
};

/** Returns the states of one layer, and the additional ones of a Zipformer. */
function zipformerStates(): readonly State[] {
  const half = Math.floor(KERNEL / 2);
  return [
    state(float, 'cached_key_0', [LEFT, 1, QUERY * HEADS]),
    state(float, 'cached_nonlin_attn_0', [1, 1, LEFT, (3 * DIM) / 4]),
    state(float, 'cached_val1_0', [LEFT, 1, VALUE * HEADS]),
    state(float, 'cached_val2_0', [LEFT, 1, VALUE * HEADS]),
    state(float, 'cached_conv1_0', [1, DIM, half]),
    state(float, 'cached_conv2_0', [1, DIM, half]),
    state(float, 'embed_states', [1, 128, 3, 19]),
    state(int64, 'processed_lens', [1]),
  ];
}

/** An encoder whose output does not depend on the sound. */
function streamingEncoder(metadata: Graph['metadata'], states: readonly State[]): Graph {
  return {
    ...(metadata === undefined ? {} : { metadata }),
    inputs: [float('x', 1, CHUNK.T, FEATURES), ...states.map(({ input }) => input)],
    outputs: [float('encoder_out', 1, 4, 2), ...states.map(({ output }) => output)],
    constants: [{ name: 'encoded', type: 'float', dims: [1, 4, 2], values: Array(8).fill(0) }],
    nodes: [give('encoded', 'encoder_out'), ...states.map(({ node }) => node)],
  };
}

/** Decoder and joiner of a transducer: after no token comes the word, and after the word comes no token. */
function afterEncoder(word: string) {
  const tokens = saying(word);
  const size = tokens.length;
  return {
    'tokens.txt': tokens,
    'decoder-epoch-99-avg-1.int8.onnx': {
      metadata: { vocab_size: size, context_size: 2 },
      inputs: [int64('y', 'N', 2)],
      outputs: [float('decoder_out', 'N', 1)],
      constants: [{ name: 'second', type: 'int64', dims: [1], values: [1] }],
      nodes: [
        { op: 'Gather', inputs: ['y', 'second'], outputs: ['last'], attributes: { axis: 1 } },
        { op: 'Cast', inputs: ['last'], outputs: ['decoder_out'], attributes: { to: 1 } },
      ],
    },
    'joiner-epoch-99-avg-1.int8.onnx': {
      metadata: { joiner_dim: 2 },
      inputs: [float('encoder_out', 'N', 2), float('decoder_out', 'N', 1)],
      outputs: [float('logit', 'N', size)],
      constants: [
        logits('table', [size, size], [WORD, BLANK, BLANK]),
        { name: 'rows', type: 'int64', dims: [2], values: [-1, size] },
      ],
      nodes: [
        { op: 'Cast', inputs: ['decoder_out'], outputs: ['last'], attributes: { to: 7 } },
        { op: 'Gather', inputs: ['table', 'last'], outputs: ['found'] },
        { op: 'Reshape', inputs: ['found', 'rows'], outputs: ['logit'] },
      ],
    },
  } as const satisfies Readonly<Record<string, Graph | readonly string[]>>;
}

/** Makes a streaming Zipformer transducer like zipformer-stream-en. */
export function tinyStreamingZipformer(word: string): string {
  return modelFolder({
    ...afterEncoder(word),
    'encoder-epoch-99-avg-1.int8.onnx': streamingEncoder(
      { model_type: 'zipformer2', ...ZIPFORMER_METADATA },
      zipformerStates(),
    ),
  });
}

/** Makes a streaming LSTM transducer. */
export function tinyStreamingLstm(word: string): string {
  const metadata = { ...CHUNK, num_encoder_layers: 1, rnn_hidden_size: DIM, d_model: DIM };
  const states = ['h', 'c'].map((name) => state(float, name, [1, 1, DIM]));
  return modelFolder({
    ...afterEncoder(word),
    'encoder-epoch-99-avg-1.int8.onnx': streamingEncoder({ model_type: 'lstm', ...metadata }, states),
  });
}

/** Returns the frames of a CTC model. One of them has the word. */
function spoken(size: number, blank: number, word: number): Constant {
  return logits(
    'spoken',
    [1, FRAMES, size],
    Array.from({ length: FRAMES }, (_, at) => (at === 1 ? word : blank)),
  );
}

/** Makes a Zipformer CTC model. */
export function tinyZipformerCtc(word: string): string {
  const tokens = saying(word);
  return modelFolder({
    'tokens.txt': tokens,
    'model.int8.onnx': {
      metadata: { model_type: 'zipformer2_ctc' },
      inputs: [float('x', 'N', 'T', FEATURES), int64('x_lens', 'N')],
      outputs: [float('log_probs', 1, FRAMES, tokens.length), int64('log_probs_len', 1)],
      constants: [
        spoken(tokens.length, BLANK, WORD),
        { name: 'all', type: 'int64', dims: [1], values: [FRAMES] },
      ],
      nodes: [give('spoken', 'log_probs'), give('all', 'log_probs_len')],
    },
  });
}

/** Makes a CTC model of NeMo, whose last token is the blank. */
export function tinyNemoCtc(word: string): string {
  const tokens = ['<unk>', `▁${word}`, '<blk>'];
  return modelFolder({
    'tokens.txt': tokens,
    'model.int8.onnx': {
      metadata: {
        ...{ model_type: 'EncDecCTCModelBPE', vocab_size: tokens.length, subsampling_factor: 8 },
        normalize_type: 'per_feature',
      },
      inputs: [float('audio_signal', 1, FEATURES, 'T'), int64('length', 1)],
      outputs: [float('logprobs', 1, FRAMES, tokens.length)],
      constants: [spoken(tokens.length, tokens.length - 1, WORD)],
      nodes: [give('spoken', 'logprobs')],
    },
  });
}

/**
 * Makes a Zipformer transducer of icefall with a vocabulary of byte pairs. In each frame its first word is a little more
 * likely than its second one, and both are more likely than silence.
 */
export function tinyZipformer(words: readonly [string, string]): string {
  const tokens = ['<blk>', '<sos/eos>', '<unk>', `▁${words[0]}`, `▁${words[1]}`, '▁'];
  const letters = [...new Set(words.join(''))];
  const all = [...tokens, ...letters];
  const constant = (name: string, dims: number[], values: number[]): Constant => ({
    ...{ name, type: 'float', dims, values },
  });
  const folder = modelFolder({
    'tokens.txt': all,
    'encoder.int8.onnx': {
      metadata: { model_type: 'zipformer2', version: 1, comment: 'tiny' },
      inputs: [float('x', 'N', 'T', 80), int64('x_lens', 'N')],
      outputs: [float('encoder_out', 1, 1, 2), int64('encoder_out_lens', 1)],
      constants: [
        constant('encoded', [1, 1, 2], [0, 0]),
        { name: 'one', type: 'int64', dims: [1], values: [1] },
      ],
      nodes: [give('encoded', 'encoder_out'), give('one', 'encoder_out_lens')],
    },
    'decoder.int8.onnx': {
      metadata: { vocab_size: all.length, context_size: 2 },
      inputs: [int64('y', 'N', 2)],
      outputs: [float('decoder_out', 'N', 2)],
      constants: [],
      nodes: [{ op: 'Cast', inputs: ['y'], outputs: ['decoder_out'], attributes: { to: 1 } }],
    },
    'joiner.int8.onnx': {
      metadata: { joiner_dim: 2 },
      inputs: [float('encoder_out', 'N', 2), float('decoder_out', 'N', 2)],
      outputs: [float('logit', 'N', all.length)],
      constants: [
        constant('nothing', [2, all.length], Array(2 * all.length).fill(0)),
        constant(
          'likely',
          [all.length],
          all.map((_, id) => [0, 0, 0, 6, 5.5][id] ?? 0),
        ),
      ],
      nodes: [
        { op: 'MatMul', inputs: ['encoder_out', 'nothing'], outputs: ['zero'] },
        { op: 'Add', inputs: ['zero', 'likely'], outputs: ['logit'] },
      ],
    },
  });
  const pieces = all.map((token, id) => `${token}\t${id < 3 ? 0 : -id}`);
  writeFileSync(join(folder, 'bpe.vocab'), `${pieces.join('\n')}\n`);
  return folder;
}
