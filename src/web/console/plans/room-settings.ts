import {
  PLAN_TRIGGERS,
  type PlanTrigger,
  RECORDING_LAYOUTS,
  RECORDING_PRESETS,
  type Role,
} from '../../../contract/choices.ts';
import type { PlanSettings } from '../../../contract/plans.ts';

/* The settings of a room as the fields of a dialog have them, for a plan and for a new room. */

export const MINUTES = ['maxDuration', 'soloTimeout', 'earlyJoin', 'emptyTimeout'] as const;

/** Settings that are a box to tick. */
export const FLAGS = [
  'audioOnly',
  'recordTracks',
  'partialResults',
  'withoutCaptions',
  'withoutPunctuation',
  'profanityFilter',
] as const;
export type Flag = (typeof FLAGS)[number];

/** The contents of the fields. An empty one is not planned. */
export type SettingsDraft = {
  /** In the time of this browser, as its field has it. */
  readonly opensAt: string;
  readonly closesAt: string;
  readonly warnings: string;
  readonly maxParticipants: string;
  readonly lobby: boolean;
  /** The roles that do not wait in the lobby; undefined for the service's default. */
  readonly roles: readonly Role[] | undefined;
  /** When it is recorded and transcribed by itself; empty for never. */
  readonly record: PlanTrigger | '';
  readonly layout: string;
  readonly preset: string;
  readonly transcribe: PlanTrigger | '';
  readonly flags: readonly Flag[];
  readonly language: string;
  readonly vocabulary: string;
  readonly metadata: string;
} & Readonly<Record<(typeof MINUTES)[number], string>>;

/** A trigger without `at` is the first one. */
const [FIRST_TRIGGER] = PLAN_TRIGGERS;

export function toSettingsDraft(settings: PlanSettings): SettingsDraft {
  const { record, transcribe } = settings;
  const toMinutes = (seconds: number | undefined): string =>
    seconds === undefined ? '' : String(seconds / 60);
  return {
    opensAt: toLocalTime(settings.opensAt),
    closesAt: toLocalTime(settings.closesAt),
    warnings: settings.closingWarnings?.map((seconds) => seconds / 60).join(', ') ?? '',
    maxParticipants: settings.maxParticipants === undefined ? '' : String(settings.maxParticipants),
    lobby: settings.lobby === true,
    roles: settings.roles,
    record: record === undefined ? '' : (record.at ?? FIRST_TRIGGER),
    layout: record?.layout ?? '',
    preset: record?.preset ?? '',
    transcribe: transcribe === undefined ? '' : (transcribe.at ?? FIRST_TRIGGER),
    flags: readFlags(settings),
    language: settings.language ?? '',
    vocabulary: settings.vocabulary?.join(', ') ?? '',
    metadata: settings.metadata ?? '',
    maxDuration: toMinutes(settings.maxDuration),
    soloTimeout: toMinutes(settings.soloTimeout),
    earlyJoin: toMinutes(settings.earlyJoin),
    emptyTimeout: toMinutes(settings.emptyTimeout),
  };
}

function readFlags({ record, transcribe }: PlanSettings): readonly Flag[] {
  const { partialResults, captions, punctuation, profanityFilter } = transcribe?.options ?? {};
  const isSet: Readonly<Record<Flag, boolean>> = {
    audioOnly: record?.audioOnly === true,
    recordTracks: record?.recordTracks === true,
    partialResults: partialResults === true,
    withoutCaptions: captions === false,
    withoutPunctuation: punctuation === false,
    profanityFilter: profanityFilter === true,
  };
  return FLAGS.filter((flag) => isSet[flag]);
}

/** An instant in the form of a field for a local time: `2026-01-31T09:30:05`. */
function toLocalTime(instant: string | undefined): string {
  if (instant === undefined) return '';
  const date = new Date(instant);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

const toSeconds = (minutes: string): number => Math.round(Number(minutes) * 60);

const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Returns what the fields say. What they do not show is kept from `before`. */
export function readSettings(draft: SettingsDraft, before: PlanSettings = {}): PlanSettings {
  const { opensAt, closesAt, warnings, language, vocabulary, metadata } = draft;
  const minutes = MINUTES.filter((field) => draft[field] !== '');
  // No warnings at all have no text: a plan that had none keeps it so.
  const hasNoWarnings = warnings.trim() === '' && before.closingWarnings?.length === 0;
  const closingWarnings = hasNoWarnings ? [] : splitList(warnings).map(toSeconds);
  return {
    ...(opensAt === '' ? {} : { opensAt: new Date(opensAt).toISOString() }),
    ...(closesAt === '' ? {} : { closesAt: new Date(closesAt).toISOString() }),
    ...Object.fromEntries(minutes.map((field) => [field, toSeconds(draft[field])])),
    ...(closingWarnings.length === 0 && !hasNoWarnings ? {} : { closingWarnings }),
    ...(draft.maxParticipants === '' ? {} : { maxParticipants: Number(draft.maxParticipants) }),
    ...(draft.lobby || before.lobby === false ? { lobby: draft.lobby } : {}),
    ...(draft.roles === undefined ? {} : { roles: [...draft.roles] }),
    ...readStarts(draft, before),
    ...(language === '' ? {} : { language }),
    ...(vocabulary.trim() === '' ? {} : { vocabulary: splitList(vocabulary) }),
    ...(metadata === '' ? {} : { metadata }),
  };
}

/** Returns what starts by itself. The names of speakers are not shown. */
function readStarts(draft: SettingsDraft, before: PlanSettings): PlanSettings {
  const { record, transcribe, flags } = draft;
  const layout = RECORDING_LAYOUTS.find((name) => name === draft.layout);
  const preset = RECORDING_PRESETS.find((name) => name === draft.preset);
  const options = {
    ...(flags.includes('partialResults') ? { partialResults: true } : {}),
    ...(flags.includes('withoutCaptions') ? { captions: false } : {}),
    ...(flags.includes('withoutPunctuation') ? { punctuation: false } : {}),
    ...(flags.includes('profanityFilter') ? { profanityFilter: true } : {}),
  };
  const speakers = before.transcribe?.participants;
  const recorded = {
    ...(layout === undefined ? {} : { layout }),
    ...(preset === undefined ? {} : { preset }),
    ...(flags.includes('audioOnly') ? { audioOnly: true } : {}),
    ...(flags.includes('recordTracks') ? { recordTracks: true } : {}),
  };
  return {
    ...(record === '' ? {} : { record: { at: record, ...recorded } }),
    ...(transcribe === ''
      ? {}
      : {
          transcribe: {
            at: transcribe,
            ...(Object.keys(options).length === 0 ? {} : { options }),
            ...(speakers === undefined ? {} : { participants: speakers }),
          },
        }),
  };
}

/** Returns the options of `rtc plans set` and `rtc rooms create` for the settings. */
export function writeOptions(settings: PlanSettings): readonly (string | undefined)[] {
  const { opensAt, closesAt, closingWarnings, language, vocabulary = [], metadata } = settings;
  const seconds = (value: number | undefined) => (value === undefined ? undefined : `${value}s`);
  const options = {
    '--opens-at': opensAt,
    '--early-join': seconds(settings.earlyJoin),
    '--closes-at': closesAt,
    '--max-duration': seconds(settings.maxDuration),
    '--solo-timeout': seconds(settings.soloTimeout),
    '--empty-timeout': seconds(settings.emptyTimeout),
    '--closing-warnings':
      closingWarnings?.length === 0 ? 'none' : closingWarnings?.map((each) => `${each}s`).join(','),
    '--max-participants':
      settings.maxParticipants === undefined ? undefined : String(settings.maxParticipants),
    '--roles': settings.roles?.length === 0 ? 'none' : settings.roles?.join(','),
    '--record': settings.record?.at,
    '--layout': settings.record?.layout,
    '--preset': settings.record?.preset,
    '--transcribe': settings.transcribe?.at,
    '--language': language,
    '--metadata': metadata,
  };
  const { participants = {}, options: spoken = {} } = settings.transcribe ?? {};
  const flags = {
    '--lobby': settings.lobby,
    '--audio-only': settings.record?.audioOnly,
    '--record-tracks': settings.record?.recordTracks,
    '--partial-results': spoken.partialResults,
    '--without-captions': spoken.captions === false,
    '--without-punctuation': spoken.punctuation === false,
    '--profanity-filter': spoken.profanityFilter,
  };
  return [
    ...Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [name, value])),
    ...vocabulary.flatMap((term) => ['--term', term]),
    ...Object.entries(participants).flatMap(([key, name]) => ['--speaker', `${key}=${name}`]),
    ...Object.entries(flags).map(([name, isSet]) => (isSet === true ? name : undefined)),
  ];
}
