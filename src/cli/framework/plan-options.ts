import {
  MAX_PLAN_SECONDS,
  PLAN_TRIGGERS,
  RECORDING_LAYOUTS,
  RECORDING_PRESETS,
  ROLES,
  type Role,
} from '../../contract/choices.ts';
import type { PlanSettings } from '../../contract/plans.ts';
import { usageError } from '../errors/cli-error.ts';
import { futureMoment } from '../terminal/time.ts';
import {
  asText,
  choice,
  flag,
  listOption,
  option,
  type Values,
  wholeNumber,
  wholeSeconds,
} from './parameters.ts';

/** How to record. */
export const RECORDING_OPTIONS = {
  layout: option('--layout <layout>', 'arrangement of the people; default grid', choice(RECORDING_LAYOUTS)),
  preset: option(
    '--preset <preset>',
    'size and frames per second; default H264_720P_30',
    choice(RECORDING_PRESETS),
  ),
  audioOnly: flag('--audio-only', 'record sound only'),
  recordTracks: flag('--record-tracks', "also keep each participant's speech, for the transcript"),
};

/** How to transcribe live. */
export const LIVE_OPTIONS = {
  partialResults: flag('--partial-results', 'show captions before a sentence has ended'),
  withoutCaptions: flag('--without-captions', 'send no captions to the people in the room'),
  withoutPunctuation: flag('--without-punctuation', 'remove punctuation and capitals'),
  profanityFilter: flag('--profanity-filter', 'mask profanity with asterisks'),
};

/** Options that `rtc plans set` and `rtc rooms create` share: what is planned for a room. */
export const PLAN_OPTIONS = {
  opensAt: option('--opens-at <time>', 'nobody gets a token before: 10m, 7d or an instant', futureMoment),
  closesAt: option('--closes-at <time>', 'the room is closed then: 10m, 7d or an instant', futureMoment),
  maxDuration: option(
    '--max-duration <duration>',
    'close the room this long after the first join',
    wholeSeconds(1, MAX_PLAN_SECONDS),
  ),
  soloTimeout: option(
    '--solo-timeout <duration>',
    'close the room when somebody has been alone for so long',
    wholeSeconds(1, MAX_PLAN_SECONDS),
  ),
  earlyJoin: option(
    '--early-join <duration>',
    'let people in this long before it opens',
    wholeSeconds(0, MAX_PLAN_SECONDS),
  ),
  closingWarnings: option(
    '--closing-warnings <list>',
    'durations before the end at which people are told, such as 5m,1m; none for no warning',
    warnings,
  ),
  lobby: flag('--lobby', 'people of other roles wait until they are admitted'),
  roles: option(
    '--roles <list>',
    'roles that do not wait, such as host,moderator; none for no role',
    roleList,
  ),
  vocabulary: listOption('--term <text>', 'name or term for transcriptions'),
  language: option('--language <tag>', 'language of transcriptions that are started without one'),
  record: option('--record <when>', 'record by itself from then on', choice(PLAN_TRIGGERS)),
  ...RECORDING_OPTIONS,
  transcribe: option('--transcribe <when>', 'transcribe by itself from then on', choice(PLAN_TRIGGERS)),
  speakers: listOption('--speaker <key=name>', 'speaker of the transcription, by track id or identity'),
  ...LIVE_OPTIONS,
};

/** Settings of rooms that plans have too. */
export const ROOM_SETTINGS = {
  maxParticipants: option(
    '--max-participants <n>',
    'maximum number of participants',
    wholeNumber(1, 4_294_967_295),
  ),
  emptyTimeout: option(
    '--empty-timeout <duration>',
    'close the room after it has been empty for this long, such as 10m',
    wholeSeconds(1, 4_294_967_295),
  ),
  metadata: option('--metadata <text>', 'text that is kept with the room', {
    parse: asText,
    source: 'typed-or-file' as const,
  }),
};

function warnings(text: string): readonly number[] {
  return text === 'none' ? [] : text.split(',').map(wholeSeconds(1, 86_400));
}

const { parse: parseRole } = choice(ROLES);

function roleList(text: string): readonly Role[] {
  return text === 'none' ? [] : text.split(',').map(parseRole);
}

type Input = Values<typeof PLAN_OPTIONS & typeof ROOM_SETTINGS>;

export function readRecordingSettings(input: Values<typeof RECORDING_OPTIONS>) {
  const { layout, preset, audioOnly, recordTracks } = input;
  return {
    ...(layout === undefined ? {} : { layout }),
    ...(preset === undefined ? {} : { preset }),
    ...(audioOnly ? { audioOnly } : {}),
    ...(recordTracks ? { recordTracks } : {}),
  };
}

function readRecord(input: Input): PlanSettings['record'] {
  const settings = readRecordingSettings(input);
  const [given] = Object.keys(settings);
  if (input.record !== undefined) return { at: input.record, ...settings };
  if (given === undefined) return undefined;
  throw usageError('how to record is given, and not when', 'add --record firstJoin');
}

function readTranscribe(input: Input): PlanSettings['transcribe'] {
  const { transcribe, speakers, partialResults, withoutCaptions, withoutPunctuation, profanityFilter } =
    input;
  const options = {
    ...(partialResults ? { partialResults } : {}),
    ...(withoutCaptions ? { captions: false } : {}),
    ...(withoutPunctuation ? { punctuation: false } : {}),
    ...(profanityFilter ? { profanityFilter } : {}),
  };
  const how = {
    ...(Object.keys(options).length > 0 ? { options } : {}),
    ...(speakers.length > 0 ? { participants: parseSpeakers(speakers) } : {}),
  };
  if (transcribe !== undefined) return { at: transcribe, ...how };
  if (Object.keys(how).length === 0) return undefined;
  throw usageError('how to transcribe is given, and not when', 'add --transcribe firstJoin');
}

/** Returns the settings that were given. */
export function readPlanSettings(input: Input, nowMs: number): PlanSettings {
  const { opensAt, closesAt, closingWarnings, vocabulary } = input;
  const { maxDuration, soloTimeout, earlyJoin, emptyTimeout, metadata, language, maxParticipants } = input;
  const settings = {
    opensAt: opensAt?.(nowMs),
    closesAt: closesAt?.(nowMs),
    maxDuration,
    soloTimeout,
    earlyJoin,
    emptyTimeout,
    metadata,
    language,
    maxParticipants,
    lobby: input.lobby ? true : undefined,
    roles: input.roles && [...input.roles],
    closingWarnings: closingWarnings && [...closingWarnings],
    record: readRecord(input),
    transcribe: readTranscribe(input),
    vocabulary: vocabulary.length === 0 ? undefined : [...vocabulary],
  };
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

/** Parses `ada=Ada`; the key ends at the first `=`. */
export function parseSpeakers(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(pairs.map(parsePair));
}

function parsePair(pair: string): readonly [key: string, name: string] {
  const [key, name] = splitPair(pair);
  if (name === '') throw usageError(`the speaker ${JSON.stringify(key)} has no name`, `such as ${key}=Ada`);
  return [key, name];
}

export function splitPair(pair: string): readonly [key: string, name: string] {
  const mark = pair.indexOf('=');
  if (mark > 0) return [pair.slice(0, mark), pair.slice(mark + 1)];
  throw usageError(`${JSON.stringify(pair)} is not KEY=NAME`, 'such as ada=Ada, or TR_AMDuaW8eDvbDmz=Ada');
}
