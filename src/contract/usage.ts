import { type Static, Type } from 'typebox';
import { ROLES, USAGE_GROUPS } from './choices.ts';
import { nameSchema } from './names.ts';
import { nextCursor, pageCursor, pageLimit } from './paging.ts';
import { closedQuery, named } from './schema.ts';

/** Maximum days of one request: a year with the days around it. */
export const MAX_USAGE_DAYS = 400;

const dayExample = (example: string) => ({ format: 'date', examples: [example] });

export const UsageQuery = closedQuery({
  from: Type.Optional(
    Type.String({
      ...dayExample('2026-11-01'),
      description: 'The first day, in UTC; by default the first day of this month',
    }),
  ),
  to: Type.Optional(
    Type.String({
      ...dayExample('2026-12-01'),
      description: `The day after the last one, in UTC, so that consecutive months have each day once; by default tomorrow. At most ${MAX_USAGE_DAYS} days after \`from\``,
    }),
  ),
  by: Type.Optional(
    Type.Enum(USAGE_GROUPS, {
      description:
        'What each line is: a day or month in UTC, a room, the beginning of room names (up to the first `-`; the whole name without one), or an API key; default `day`',
    }),
  ),
  roomId: Type.Optional(nameSchema('Only this room', 'demo')),
  prefix: Type.Optional(nameSchema('Only rooms whose names begin so', 'lesson-')),
  format: Type.Optional(
    Type.Enum(['json', 'csv'], {
      description: 'Default json; with the header `Accept: text/csv`, csv',
    }),
  ),
  limit: pageLimit(1000, 'default 400'),
  cursor: pageCursor(1024),
});
export type UsageQuery = Static<typeof UsageQuery>;

const minutes = (description: string, example: number) =>
  Type.Number({ minimum: 0, description: `${description}, with two decimals`, examples: [example] });

export const USAGE_ROLES = [...ROLES, 'other'] as const;
export type UsageRole = (typeof USAGE_ROLES)[number];

const figures = {
  participantMinutes: minutes(
    'Minutes of all people together; time in which an identity was connected twice counts once',
    61.5,
  ),
  participantMinutesByRole: Type.Object(
    {
      host: minutes('Of hosts', 31.5),
      moderator: minutes('Of moderators', 0),
      participant: minutes('Of participants', 30),
      viewer: minutes('Of viewers', 0),
      other: minutes('Of people with a token of another program', 0),
    } satisfies Record<UsageRole, unknown>,
    { description: 'The same minutes by the role of the token' },
  ),
  roomMinutes: minutes('Minutes of rooms, each from its first participant to its end', 31.5),
  recordedMinutes: minutes('Minutes of finished recordings', 28.25),
  transcribedMinutes: minutes('Minutes of finished transcriptions, of rooms and of recordings', 28.25),
  broadcastMinutes: minutes('Minutes of finished broadcasts', 0),
  ingressMinutes: minutes('Minutes of streams into rooms', 0),
  peakParticipants: Type.Integer({
    minimum: 0,
    description:
      'Maximum number of people at the same time in one room, the largest; people of several rooms are not added up',
    examples: [2],
  }),
  recordingBytes: Type.Integer({
    minimum: 0,
    description: 'Bytes of recordings, on the day on which they ended',
    examples: [48_211_034],
  }),
  isFinal: Type.Boolean({
    description: 'False while a day is not over, or a room is open whose minutes of that time are included',
  }),
} as const;

export const UsageFiguresSchema = named(
  'UsageFigures',
  'Exact times, added up in milliseconds and rounded once',
  figures,
);
export type UsageFigures = Static<typeof UsageFiguresSchema>;

export const UsageLineSchema = named('UsageLine', 'The usage of one group', {
  group: Type.String({
    description:
      'The day (2026-11-01), month (2026-11), room, beginning of names or id of the API key, after `by`',
    examples: ['2026-11-01'],
  }),
  ...figures,
});
export type UsageLine = Static<typeof UsageLineSchema>;

export const UsageSchema = named('Usage', 'A page of usage, with the total of all pages', {
  from: Type.String({ ...dayExample('2026-11-01'), description: 'The first day' }),
  to: Type.String({ ...dayExample('2026-12-01'), description: 'The day after the last one' }),
  by: Type.Enum(USAGE_GROUPS, { description: 'What each line is' }),
  asOf: Type.String({
    format: 'date-time',
    description: 'Until when the time in open rooms is included',
    examples: ['2026-11-28T09:30:00.000Z'],
  }),
  total: UsageFiguresSchema,
  usage: Type.Array(UsageLineSchema, {
    description: 'The groups with any usage, in the order of their names',
  }),
  nextCursor,
});
export type Usage = Static<typeof UsageSchema>;
