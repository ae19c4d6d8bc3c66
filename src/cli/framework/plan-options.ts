import { MAX_PLAN_SECONDS, ROLES, type Role } from '../../contract/choices.ts';
import type { PlanSettings } from '../../contract/plans.ts';
import { futureMoment } from './moments.ts';
import {
  asText,
  choice,
  flag,
  listOption,
  notEmpty,
  option,
  wholeNumber,
  wholeSeconds,
} from './parameters.ts';

/** Options that `rtc plans set` and `rtc rooms create` share: what is planned for a room. */
export const PLAN_OPTIONS = {
  opensAt: option('--opens-at <time>', 'nobody gets a token before: 10m, 7d or an instant', {
    parse: futureMoment,
  }),
  closesAt: option('--closes-at <time>', 'the room is closed then: 10m, 7d or an instant', {
    parse: futureMoment,
  }),
  maxDuration: option('--max-duration <duration>', 'close the room this long after the first join', {
    parse: wholeSeconds(1, MAX_PLAN_SECONDS),
  }),
  soloTimeout: option(
    '--solo-timeout <duration>',
    'close the room when somebody has been alone for so long',
    {
      parse: wholeSeconds(1, MAX_PLAN_SECONDS),
    },
  ),
  earlyJoin: option('--early-join <duration>', 'let people in this long before it opens', {
    parse: wholeSeconds(0, MAX_PLAN_SECONDS),
  }),
  closingWarnings: option(
    '--closing-warnings <list>',
    'durations before the end at which people are told, such as 5m,1m; none for no warning',
    { parse: warnings },
  ),
  lobby: flag('--lobby', 'people of other roles wait until they are admitted'),
  roles: option('--roles <list>', 'roles that do not wait, such as host,moderator; none for no role', {
    parse: roleList,
  }),
  vocabulary: listOption('--term <text>', 'name or term for transcriptions'),
  language: option('--language <tag>', 'language of transcriptions that are started without one', {
    parse: notEmpty,
  }),
};

/** Settings of rooms that plans have too. */
export const ROOM_SETTINGS = {
  maxParticipants: option('--max-participants <n>', 'maximum number of participants', {
    parse: wholeNumber(1, 4_294_967_295),
  }),
  emptyTimeout: option(
    '--empty-timeout <duration>',
    'close the room after it has been empty for this long, such as 10m',
    { parse: wholeSeconds(1, 4_294_967_295) },
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

type Input = {
  readonly lobby: boolean;
  readonly roles: readonly Role[] | undefined;
  readonly opensAt: ((nowMs: number) => string) | undefined;
  readonly closesAt: ((nowMs: number) => string) | undefined;
  readonly closingWarnings: readonly number[] | undefined;
  readonly vocabulary: readonly string[];
} & {
  readonly [Name in 'maxDuration' | 'soloTimeout' | 'earlyJoin' | 'emptyTimeout' | 'maxParticipants']:
    | number
    | undefined;
} & {
  readonly [Name in 'language' | 'metadata']: string | undefined;
};

/** Returns the settings that were given. */
export function readPlanSettings(input: Input, nowMs: number): PlanSettings {
  const { opensAt, closesAt, closingWarnings, vocabulary } = input;
  const { maxDuration, soloTimeout, earlyJoin, emptyTimeout, metadata, language, maxParticipants } = input;
  const settings = {
    ...{ opensAt: opensAt?.(nowMs), closesAt: closesAt?.(nowMs) },
    ...{ maxDuration, soloTimeout, earlyJoin, emptyTimeout, metadata, language, maxParticipants },
    lobby: input.lobby ? true : undefined,
    roles: input.roles && [...input.roles],
    closingWarnings: closingWarnings && [...closingWarnings],
    vocabulary: vocabulary.length === 0 ? undefined : [...vocabulary],
  };
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}
