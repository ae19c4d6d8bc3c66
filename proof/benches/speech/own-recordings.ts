import { parseArgs } from 'node:util';
import { type BenchedFile, benchModel } from './bench-model.ts';

/*
 * Measures a speech model on recordings of your own: `node proof/benches/speech/own-recordings.ts MODEL --audio FOLDER --reference
 * FOLDER [--language it] [--ffmpeg PROGRAM]`. MODEL is an installed model, or the folder of one. Each audio file has a text
 * file of the same name: call.mp4 and call.txt. Words are compared without punctuation and capitals.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    audio: { type: 'string' },
    reference: { type: 'string' },
    language: { type: 'string' },
    ffmpeg: { type: 'string', default: 'ffmpeg' },
  },
});
const [model] = positionals;
const { audio, reference, language, ffmpeg } = values;
if (model === undefined || audio === undefined || reference === undefined) {
  throw new Error('Name the model and both folders: MODEL --audio FOLDER --reference FOLDER');
}
const files = await benchModel(model, {
  ...{ language, ffmpeg, audioFolder: audio, referenceFolder: reference },
  signal: new AbortController().signal,
  onFile: (file) => console.log(`${file.file}: ${describe(file)}`),
});
// Totals over all files, so that a short file does not count as much as a long one.
const sum = (key: 'words' | 'errors' | 'audioSeconds' | 'processorSeconds'): number =>
  files.reduce((total, file) => total + file[key], 0);
console.log(
  `all: ${describe({
    ...{ words: sum('words'), errors: sum('errors') },
    ...{ audioSeconds: sum('audioSeconds'), processorSeconds: sum('processorSeconds') },
  })}`,
);

function describe(figures: Omit<BenchedFile, 'file' | 'text'>): string {
  const { words, errors, audioSeconds, processorSeconds } = figures;
  const rate = `${errors} of ${words} words wrong, ${percent(errors, words)}`;
  return `${audioSeconds.toFixed(0)} s, ${rate}; ${percent(processorSeconds, audioSeconds)} of one core while somebody speaks`;
}

function percent(part: number, whole: number): string {
  return `${(whole === 0 ? 0 : (part / whole) * 100).toFixed(1)} %`;
}
