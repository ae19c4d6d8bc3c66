import type { Constant } from './onnx-graph.ts';
import { float, give, int32, int64, logits, modelFolder } from './tiny-graph.ts';

/*
 * Models of the families in the catalogue, with the inputs, outputs and metadata that sherpa-onnx requires and hardly any
 * weights. The text does not depend on the sound, only on the requested language, if the family has one.
 */

/** Makes a NeMo transducer like Parakeet TDT, which outputs `word` once. */
export function tinyParakeet(word: string): string {
  const DURATIONS = 9;
  const zeros = (name: string, ...dims: number[]): Constant => ({
    ...{ name, type: 'float', dims, values: Array(dims.reduce((a, b) => a * b, 1)).fill(0) },
  });
  return modelFolder({
    'tokens.txt': ['<unk>', `▁${word}`, '<blk>'],
    'encoder.int8.onnx': {
      metadata: {
        ...{ model_type: 'EncDecRNNTBPEModel', vocab_size: 2, subsampling_factor: 8, feat_dim: 128 },
        ...{ normalize_type: 'per_feature', pred_rnn_layers: 1, pred_hidden: 2 },
        url: 'https://huggingface.co/nvidia/parakeet-tdt-0.6b-v3',
      },
      inputs: [float('audio_signal', 1, 128, 'T'), int64('length', 1)],
      outputs: [float('outputs', 1, 4, 8), int64('encoded_lengths', 1)],
      constants: [zeros('encoded', 1, 4, 8), { name: 'eight', type: 'int64', dims: [1], values: [8] }],
      nodes: [give('encoded', 'outputs'), give('eight', 'encoded_lengths')],
    },
    'decoder.int8.onnx': {
      inputs: [
        ...[int32('targets', 1, 'U'), int32('target_length', 1)],
        ...[float('states.1', 1, 1, 2), float('onnx::Slice_3', 1, 1, 2)],
      ],
      outputs: [
        ...[float('outputs', 1, 2, 1), int32('prednet_lengths', 1)],
        ...[float('states', 1, 1, 2), float('162', 1, 1, 2)],
      ],
      constants: [zeros('predicted', 1, 2, 1)],
      nodes: [
        give('predicted', 'outputs'),
        give('target_length', 'prednet_lengths'),
        give('states.1', 'states'),
        give('onnx::Slice_3', '162'),
      ],
    },
    'joiner.int8.onnx': {
      inputs: [float('encoder_outputs', 1, 4, 1), float('decoder_outputs', 1, 2, 1)],
      outputs: [float('outputs', 1, 1, 1, 3 + DURATIONS)],
      constants: [
        // Token 1 with the longest duration.
        {
          ...{ name: 'joined', type: 'float', dims: [1, 1, 1, 3 + DURATIONS] },
          values: [0, 9, 0, ...Array(DURATIONS - 1).fill(0), 9],
        },
      ],
      nodes: [give('joined', 'outputs')],
    },
  });
}

/** Words by language. */
type Words = Readonly<Record<string, string>>;

/** Makes a SenseVoice model, which outputs the word of the language. */
export function tinySenseVoice(words: Words): string {
  const [FRAMES, FEATURES] = [64, 560];
  const languages = Object.keys(words);
  // It always reports the first language. If no language is requested, it outputs that language's word.
  const tokens = [
    '<blk>',
    `<|${languages[0]}|>`,
    '<|emotion|>',
    '<|event|>',
    '<|itn|>',
    ...Object.values(words),
  ];
  const readId = (language: string): number => languages.indexOf(language) + 1;
  const spoken = (word: number) => Array.from({ length: FRAMES }, (_, at) => [1, 2, 3, 4, word][at] ?? 0);
  const table = [0, ...languages.map(readId)].flatMap((id) => spoken(4 + Math.max(1, id)));
  return modelFolder({
    'tokens.txt': tokens,
    'model.int8.onnx': {
      metadata: {
        ...{ model_type: 'sense_voice_ctc', vocab_size: tokens.length, normalize_samples: 0 },
        ...{ lfr_window_size: 7, lfr_window_shift: 6, with_itn: 14, without_itn: 15, lang_auto: 0 },
        ...Object.fromEntries(languages.map((language) => [`lang_${language}`, readId(language)])),
        neg_mean: Array(FEATURES).fill('0').join(','),
        inv_stddev: Array(FEATURES).fill('1').join(','),
      },
      inputs: [
        ...[float('x', 1, 'T', FEATURES), int32('x_length', 1)],
        ...[int32('language', 1), int32('text_norm', 1)],
      ],
      outputs: [float('logits', 1, FRAMES, tokens.length)],
      constants: [logits('table', [languages.length + 1, FRAMES, tokens.length], table)],
      nodes: [{ op: 'Gather', inputs: ['table', 'language'], outputs: ['logits'] }],
    },
  });
}

/** Makes a Whisper model, which outputs the word of the language among its first tokens. */
export function tinyWhisper(words: Words): string {
  const languages = Object.keys(words);
  const FIRST_WORD = 1;
  const control = FIRST_WORD + languages.length;
  const [sot, transcribe, translate, noTimestamps] = [control, control + 1, control + 2, control + 3];
  const firstLanguage = control + 4;
  const size = firstLanguage + languages.length;
  const codes = languages.map((_, index) => firstLanguage + index);
  const next = Array.from({ length: size }, (_, id) =>
    id < firstLanguage ? 0 : FIRST_WORD + id - firstLanguage,
  );
  const base64 = (token: string): string => Buffer.from(token).toString('base64');
  const names = ['<eot>', ...Object.values(words), '<sot>', '<transcribe>', '<translate>', '<notimestamps>'];
  return modelFolder({
    'tiny-tokens.txt': [...names, ...languages].map(base64),
    'tiny-encoder.int8.onnx': {
      metadata: {
        ...{ model_type: 'whisper-tiny', n_mels: 80, n_text_layer: 1, n_text_ctx: 16, n_text_state: 2 },
        ...{ n_vocab: size, sot, eot: 0, blank_id: 0, translate, transcribe, is_multilingual: 1 },
        ...{ no_timestamps: noTimestamps, no_speech: 0 },
        sot_sequence: [sot, firstLanguage, transcribe].join(','),
        all_language_tokens: codes.join(','),
        all_language_codes: languages.join(','),
      },
      inputs: [float('mel', 1, 80, 'T')],
      outputs: [float('n_layer_cross_k', 1, 1, 1, 2), float('n_layer_cross_v', 1, 1, 1, 2)],
      constants: [{ name: 'cross', type: 'float', dims: [1, 1, 1, 2], values: [0, 0] }],
      nodes: [give('cross', 'n_layer_cross_k'), give('cross', 'n_layer_cross_v')],
    },
    'tiny-decoder.int8.onnx': {
      inputs: [
        int64('tokens', 1, 'n'),
        ...[float('in_n_layer_self_k_cache', 1, 1, 16, 2), float('in_n_layer_self_v_cache', 1, 1, 16, 2)],
        ...[float('n_layer_cross_k', 1, 1, 1, 2), float('n_layer_cross_v', 1, 1, 1, 2), int64('offset', 1)],
      ],
      outputs: [
        float('logits', 1, 'n', size),
        ...[float('out_n_layer_self_k_cache', 1, 1, 16, 2), float('out_n_layer_self_v_cache', 1, 1, 16, 2)],
      ],
      constants: [logits('table', [size, size], next)],
      nodes: [
        // Among the first tokens, the language has the highest number. Later tokens arrive alone.
        {
          ...{ op: 'ReduceMax', inputs: ['tokens'], outputs: ['highest'] },
          attributes: { axes: [1], keepdims: 1 },
        },
        { op: 'Sub', inputs: ['tokens', 'tokens'], outputs: ['zeros'] },
        { op: 'Add', inputs: ['zeros', 'highest'], outputs: ['indices'] },
        { op: 'Gather', inputs: ['table', 'indices'], outputs: ['logits'] },
        give('in_n_layer_self_k_cache', 'out_n_layer_self_k_cache'),
        give('in_n_layer_self_v_cache', 'out_n_layer_self_v_cache'),
      ],
    },
  });
}

/** Makes a Canary model, which outputs the word of the source language. */
export function tinyCanary(words: Words): string {
  const languages = Object.keys(words);
  const controls = [
    ...['<|startofcontext|>', '<|startoftranscript|>', '<|emo:undefined|>', '<|pnc|>', '<|nopnc|>'],
    ...['<|noitn|>', '<|notimestamp|>', '<|nodiarize|>'],
  ];
  const tokens = [
    '<|endoftext|>',
    ...Object.values(words),
    ...controls,
    ...languages.map((language) => `<|${language}|>`),
  ];
  const size = tokens.length;
  const next = tokens.map((_, id) => Math.max(0, id - (size - languages.length) + 1));
  return modelFolder({
    'tokens.txt': tokens,
    'encoder.int8.onnx': {
      metadata: {
        ...{ model_type: 'EncDecMultiTaskModel', vocab_size: size, normalize_type: 'per_feature' },
        ...{ subsampling_factor: 8, feat_dim: 128, num_decoder_layers: 1, decoder_hidden_size: 1 },
      },
      inputs: [float('audio_signal', 1, 'T', 128), int64('length', 1)],
      outputs: [float('encoder_states', 1, 1, 1), int64('encoder_len', 1), int64('enc_mask', 1, 1)],
      constants: [
        { name: 'encoded', type: 'float', dims: [1, 1, 1], values: [0] },
        { name: 'mask', type: 'int64', dims: [1, 1], values: [1] },
      ],
      nodes: [give('encoded', 'encoder_states'), give('length', 'encoder_len'), give('mask', 'enc_mask')],
    },
    'decoder.int8.onnx': {
      inputs: [
        ...[int32('decoder_input_ids', 1, 2), float('decoder_mems_list_0', 1, 'm', 1)],
        ...[float('encoder_states', 1, 1, 1), int64('enc_mask', 1, 1)],
      ],
      outputs: [float('logits', 1, 1, size), float('new_decoder_mems_list_0', 1, 'k', 1)],
      constants: [
        { name: 'first', type: 'int64', dims: [1], values: [0] },
        { name: 'cube', type: 'int64', dims: [3], values: [1, 1, 1] },
        { name: 'pair', type: 'int64', dims: [2], values: [1, 1] },
        logits('table', [size, size], next),
      ],
      nodes: [
        // The states are the tokens so far. The language has the highest number among them.
        {
          ...{ op: 'Gather', inputs: ['decoder_input_ids', 'first'], outputs: ['token'] },
          attributes: { axis: 1 },
        },
        { op: 'Cast', inputs: ['token'], outputs: ['number'], attributes: { to: 1 } },
        { op: 'Reshape', inputs: ['number', 'cube'], outputs: ['latest'] },
        {
          ...{ op: 'Concat', inputs: ['decoder_mems_list_0', 'latest'] },
          ...{ outputs: ['new_decoder_mems_list_0'], attributes: { axis: 1 } },
        },
        {
          ...{ op: 'ReduceMax', inputs: ['new_decoder_mems_list_0'], outputs: ['highest'] },
          attributes: { axes: [1, 2], keepdims: 0 },
        },
        { op: 'Cast', inputs: ['highest'], outputs: ['index'], attributes: { to: 7 } },
        { op: 'Reshape', inputs: ['index', 'pair'], outputs: ['indices'] },
        { op: 'Gather', inputs: ['table', 'indices'], outputs: ['logits'] },
      ],
    },
  });
}
