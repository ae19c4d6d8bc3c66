import { type Static, Type } from 'typebox';
import {
  CLOSE_REASONS,
  CLOSING_TOPIC,
  MAX_PLAN_SECONDS,
  PLAN_TRIGGERS,
  PLANNED_STARTS,
  ROLES,
  type Role,
} from './choices.ts';
import { instantSchema, roomNameSchema } from './names.ts';
import { nextCursor, pageCursor, pageLimit } from './paging.ts';
import { RecordingSettingsSchema } from './recordings.ts';
import { closed, closedQuery, named, open, optionalInstant } from './schema.ts';
import { LANGUAGE_PATTERN, LiveStartSchema } from './transcription.ts';
import { termsSchema } from './vocabulary.ts';

/** LiveKit stores its time-outs as uint32. */
export const MAX_UINT32 = 4_294_967_295;

export const MAX_CLOSING_WARNINGS = 10;

/** Warnings before a room is closed, in seconds, unless its plan has others. */
export const CLOSING_WARNINGS: readonly number[] = [300, 60];

/** The roles that enter a room with a lobby without waiting, unless its plan has others. */
export const ENTRY_ROLES: readonly Role[] = ['host', 'moderator'];

export const maxParticipants = Type.Optional(
  Type.Integer({ minimum: 1, maximum: MAX_UINT32, description: 'Hard cap on participants', examples: [20] }),
);

type Seconds = { readonly minimum: 0 | 1; readonly example: number };

const seconds = (description: string, { minimum, example }: Seconds) =>
  Type.Optional(Type.Integer({ minimum, maximum: MAX_PLAN_SECONDS, description, examples: [example] }));

const at = Type.Optional(
  Type.Enum(PLAN_TRIGGERS, {
    description:
      'When it starts: at the first join, when the first track is published, or when somebody with the role host is there; default firstJoin',
  }),
);

/** POST /v1/rooms takes these besides the settings of LiveKit: the same as a plan, for that room only. */
export const roomPlanFields = {
  opensAt: optionalInstant(
    'Before this instant nobody gets a token, except for earlyJoin',
    '2026-02-01T08:00:00.000Z',
  ),
  closesAt: optionalInstant(
    'The room is closed at this instant. No token is valid for longer',
    '2026-02-01T09:00:00.000Z',
  ),
  maxDuration: seconds('Seconds after the first join at which the room is closed', {
    minimum: 1,
    example: 3600,
  }),
  soloTimeout: seconds('Seconds that one participant may be alone before the room is closed', {
    minimum: 1,
    example: 600,
  }),
  earlyJoin: seconds('Seconds before opensAt from which on people may join; default 0', {
    minimum: 0,
    example: 300,
  }),
  closingWarnings: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: 86_400 }), {
      maxItems: MAX_CLOSING_WARNINGS,
      description: `Seconds before closesAt or the end of maxDuration at which everyone in the room gets data on the topic ${CLOSING_TOPIC}; default ${CLOSING_WARNINGS.join(' and ')}, and none for an empty list`,
      examples: [[300, 60]],
    }),
  ),
  lobby: Type.Optional(
    Type.Boolean({
      description: 'Whether other roles than `roles` wait until they are admitted',
      examples: [true],
    }),
  ),
  roles: Type.Optional(
    Type.Array(Type.Enum(ROLES), {
      maxItems: ROLES.length,
      uniqueItems: true,
      description: `With a lobby, the roles that enter without waiting; default ${ENTRY_ROLES.join(' and ')}`,
      examples: [['host', 'moderator']],
    }),
  ),
  record: Type.Optional(
    closed('PlannedRecording', 'Record each session of the room, with the fields of recording/start', {
      at,
      ...RecordingSettingsSchema.properties,
    }),
  ),
  transcribe: Type.Optional(
    closed(
      'PlannedTranscription',
      'Transcribe each session of the room live, with the fields of transcription/start',
      { at, ...LiveStartSchema.properties },
    ),
  ),
  vocabulary: Type.Optional(termsSchema('Names and terms for transcriptions of rooms without a vocabulary')),
  language: Type.Optional(
    Type.String({
      pattern: `${LANGUAGE_PATTERN}|^auto$`,
      maxLength: 35,
      description: 'Language of live transcriptions that are started without one: BCP 47, or auto',
      examples: ['it-IT'],
    }),
  ),
};

const planFields = {
  room: Type.Optional(roomNameSchema('The room that the plan is for', 'lesson-7')),
  prefix: Type.Optional(
    roomNameSchema('The plan is for all rooms whose names begin so; the longest prefix wins', 'lesson-'),
  ),
  ...roomPlanFields,
  maxParticipants,
  emptyTimeout: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_UINT32,
      description: 'Seconds before an empty room is closed, unless POST /v1/rooms says otherwise',
      examples: [600],
    }),
  ),
  metadata: Type.Optional(
    Type.String({
      maxLength: 2048,
      format: 'livekit-metadata',
      description: 'Metadata of rooms that are opened without any; at most 2 KiB',
    }),
  ),
};

export const PlanParams = Type.Object({
  planId: Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
    maxLength: 64,
    description: 'Id of the plan, chosen by the caller: letters, digits, dots, hyphens and underscores',
    examples: ['lessons'],
  }),
});

export const PlanPutSchema = closed(
  'PlanPut',
  'The plan: exactly one of `room` and `prefix`, and what it sets',
  planFields,
);
export type PlanPut = Static<typeof PlanPutSchema>;

export const PlanSchema = named('Plan', 'Settings for a room, or for all rooms with a prefix', {
  planId: Type.String({ description: 'Id of the plan', examples: ['lessons'] }),
  ...planFields,
  createdAt: instantSchema('When the plan was made'),
  updatedAt: instantSchema('When it was changed last'),
});
export type Plan = Static<typeof PlanSchema>;

/** The settings of a plan, without the rooms that it is for. */
export type PlanSettings = Omit<PlanPut, 'room' | 'prefix'>;

export const PlanListQuery = closedQuery({ limit: pageLimit(200, 'default 50'), cursor: pageCursor(400) });
export type PlanListQuery = Static<typeof PlanListQuery>;

export const PlanListSchema = named('PlanList', 'Plans, ordered by id', {
  plans: Type.Array(PlanSchema, { description: 'The plans' }),
  nextCursor,
});
export type PlanList = Static<typeof PlanListSchema>;

/** The data that clients in a room get before it is closed, which the event room_closing has too. */
export const RoomClosingSchema = open('RoomClosing', 'When and why the room is closed', {
  reason: Type.Enum(CLOSE_REASONS, { description: 'What closes the room' }),
  closesAt: instantSchema('When it is closed'),
  secondsLeft: Type.Integer({ description: 'Seconds until then; 0 right before the end' }),
});
export type RoomClosing = Static<typeof RoomClosingSchema>;

export const PlannedStartSchema = open('PlannedStart', 'What a plan could not start', {
  starts: Type.Enum(PLANNED_STARTS, { description: 'What the plan wanted to start' }),
  error: Type.Object(
    {
      code: Type.String({ description: 'Error code', examples: ['media-worker-unavailable'] }),
      message: Type.String({ description: 'What is wrong, and what to do' }),
    },
    { additionalProperties: true, description: 'Why it was refused' },
  ),
});
