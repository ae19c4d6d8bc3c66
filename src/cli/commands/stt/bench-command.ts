import { CancelledError, EXIT } from '../../errors/cli-error.ts';
import { startError } from '../../errors/start-error.ts';
import { defineCommand } from '../../framework/command.ts';
import { argument, asText, notEmpty, option, requiredOption } from '../../framework/parameters.ts';
import type { BenchedFile } from '../../terminal/io.ts';
import { type Column, list } from '../../terminal/result.ts';
import { printStatus } from '../../terminal/terminal.ts';

/** Totals over all files, so that a short file does not count as much as a long one. */
type Total = {
  readonly words: number;
  readonly errors: number;
  readonly wordErrorRate: number;
  readonly audioSeconds: number;
  readonly processorSeconds: number;
  /** Processor time as a share of the audio: the share of one core that a call takes while somebody speaks. */
  readonly coreShare: number;
};

const COLUMNS: readonly Column<BenchedFile>[] = [
  { heading: 'FILE', value: ({ file }) => file, paint: 'name' },
  { heading: 'AUDIO', value: ({ audioSeconds }) => ({ seconds: audioSeconds }) },
  { heading: 'WORDS', value: ({ words }) => words },
  { heading: 'ERRORS', value: ({ errors }) => errors },
  { heading: 'ERROR RATE', value: (file) => percent(rateOf(file)) },
  { heading: 'OF A CORE', value: (file) => percent(coreShareOf(file)) },
];

export const bench = defineCommand({
  noun: 'stt',
  verb: 'bench',
  summary: 'Measure a speech model on recordings of your own',
  description:
    'Transcribes the files of a folder as the stt-post worker does, compares the result with your texts, and prints the word error rate and the share of one processor core. Each audio file has a text file of the same name: call.mp4 and call.txt. Words are compared without punctuation and capitals. Needs ffmpeg.',
  needs: 'nothing',
  fields: ['file', 'words', 'errors', 'audioSeconds', 'processorSeconds', 'text'],
  arguments: { model: argument('name of an installed model, or the folder of one') },
  options: {
    audio: requiredOption('--audio <folder>', 'folder of the recordings', {
      parse: notEmpty,
      completes: 'files',
    }),
    reference: requiredOption('--reference <folder>', 'folder of the texts that are spoken in them', {
      parse: notEmpty,
      completes: 'files',
    }),
    language: option('--language <tag>', 'spoken language, for a model with several', { parse: asText }),
    ffmpeg: option('--ffmpeg <program>', 'ffmpeg; default the one on PATH', { parse: notEmpty }),
  },
  examples: [
    {
      line: 'rtc stt bench parakeet-tdt-0.6b-v3 --language it --audio calls --reference texts',
      does: 'Its error rate and speed on your recordings',
    },
  ],
  async run({ io, terminal }, { model, audio, reference, language, ffmpeg }) {
    const stt = await io.loaders.stt();
    try {
      const files = await stt.bench(model, {
        ...{ language, audioFolder: audio, referenceFolder: reference, ffmpeg: ffmpeg ?? 'ffmpeg' },
        signal: io.signal,
        onFile: ({ file }) => printStatus(terminal, `transcribed ${file}`),
      });
      const total = totalOf(files);
      return list({
        response: { files, total },
        records: files,
        columns: COLUMNS,
        identify: ({ file }) => file,
        empty: 'There is no file.',
        notes: [
          `Word error rate ${percent(total.wordErrorRate)} of ${total.words} words; ${percent(total.coreShare)} of one core while somebody speaks.`,
        ],
      });
    } catch (error) {
      if (io.signal.aborted) throw new CancelledError('cancelled');
      throw startError(error, { exitCode: EXIT.failure, signal: io.signal });
    }
  },
});

function totalOf(files: readonly BenchedFile[]): Total {
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const counts = {
    words: sum(files.map((file) => file.words)),
    errors: sum(files.map((file) => file.errors)),
  };
  const times = {
    audioSeconds: sum(files.map((file) => file.audioSeconds)),
    processorSeconds: sum(files.map((file) => file.processorSeconds)),
  };
  return { ...counts, ...times, wordErrorRate: rateOf(counts), coreShare: coreShareOf(times) };
}

function rateOf({ errors, words }: Pick<BenchedFile, 'errors' | 'words'>): number {
  return words === 0 ? 0 : errors / words;
}

function coreShareOf(times: Pick<BenchedFile, 'processorSeconds' | 'audioSeconds'>): number {
  return times.audioSeconds === 0 ? 0 : times.processorSeconds / times.audioSeconds;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
