import { formatBytes } from '../../terminal/byte-size.ts';
import type { ErrorRate, ModelSpeed, SpeechModel } from '../../terminal/io.ts';
import type { Column } from '../../terminal/result.ts';

/* Columns of speech models in `rtc stt`: in the catalogue, of one model, and of the installed one. */

export const FIELDS = [
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

export const CATALOGUE_COLUMNS: readonly ModelColumn[] = [
  ...[NAME, STATUS, LANGUAGES],
  bytes('SIZE', (model) => sizeOf(model)),
  LICENCE,
  {
    heading: 'CORE',
    value: ({ speed }) => (speed === null ? undefined : coreShareOf(speed)),
    display: ({ speed }) => (speed === null ? '' : shownShare(speed)),
  },
  {
    heading: 'ERRORS',
    value: ({ errorRates: [first] }) => first?.percent,
    display: ({ errorRates: [first] }) => (first === undefined ? '' : `${first.percent} %`),
  },
];

export const MODEL_COLUMNS: readonly ModelColumn[] = [
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

export const INSTALLED_COLUMNS: readonly ModelColumn[] = [NAME, STATUS, LANGUAGES, LICENCE, FOLDER];

/** Empty when no size is known. */
export function shownSize(model: SpeechModel): string {
  return shownBytes(sizeOf(model));
}

function sizeOf({ downloadBytes, diskBytes }: SpeechModel): number | null {
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
function coreShareOf({ realTimeFactor, threads }: ModelSpeed): number {
  return Number((realTimeFactor * threads).toFixed(3));
}

function shownShare(speed: ModelSpeed): string {
  return `${Math.round(coreShareOf(speed) * 100)} %`;
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
