import { type Static, Type } from 'typebox';
import { LATEST_CURSOR } from './event-names.ts';
import { instantSchema } from './names.ts';
import { pageLimit } from './paging.ts';

/** A room as events tell of it. */
const EventRoomSchema = Type.Object({
  id: Type.String({
    description: "The media server's id of this session of the room",
    examples: ['RM_hycBMAjmt6Ub'],
  }),
  name: Type.String({ examples: ['demo'] }),
  createdAt: Type.Optional(instantSchema('When the room was opened')),
  endedAt: Type.Optional(instantSchema('When it was closed; only then')),
  numParticipants: Type.Integer({
    description: 'Participants in the room after the event, recorders and agents not counted',
  }),
});

const EventParticipantSchema = Type.Object(
  {
    sid: Type.String({ examples: ['PA_4bPp8Vi9S6Dd'] }),
    identity: Type.String({ examples: ['ada'] }),
    name: Type.String({ examples: ['Ada Lovelace'] }),
    joinedAt: Type.Optional(instantSchema('When the participant joined')),
    metadata: Type.Optional(Type.String({ description: 'As in the token, or as it was changed since' })),
    role: Type.Optional(
      Type.String({ description: 'Role of the token; absent for tokens of others', examples: ['host'] }),
    ),
    leaveReason: Type.Optional(
      Type.Enum(['left', 'removed', 'lost', 'room_closed', 'duplicate_identity'], {
        description: 'Only with participant_left',
      }),
    ),
  },
  { additionalProperties: true },
);

/** What a webhook receives, and GET /v1/events answers; the specified fields and, by kind, what it is about. */
export const EventSchema = Type.Object(
  {
    event: Type.String({ description: 'Event name', examples: ['participant_joined'] }),
    room: Type.Union([EventRoomSchema, Type.Null()], { description: 'Null for an event without a room' }),
    timestamp: instantSchema('When it happened'),
    id: Type.String({ description: 'The same on every retry', examples: ['evt_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'] }),
    sequence: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Counts the events of one session of a room, from 1',
    }),
    reconciled: Type.Optional(
      Type.Boolean({ description: 'Found missing afterwards; the timestamp is when it was found' }),
    ),
    participant: Type.Optional(EventParticipantSchema),
    track: Type.Optional(Type.Object({}, { additionalProperties: true, description: "LiveKit's TrackInfo" })),
    recording: Type.Optional(
      Type.Object(
        {
          egressId: Type.String({ examples: ['EG_tH8vdkRoTDWY'] }),
          status: Type.String({ examples: ['stopped'] }),
          mediaStartedAt: Type.Optional(
            Type.Union([instantSchema('The first recorded frame'), Type.Null()], {
              description: 'When its media begins; null until known',
            }),
          ),
          fileUrl: Type.Optional(
            Type.String({ description: 'Usable for 24 h from the attempt; absent when there is no file' }),
          ),
          durationMs: Type.Optional(Type.Integer({ description: 'milliseconds' })),
          sizeBytes: Type.Optional(Type.Integer({ description: 'bytes' })),
          error: Type.Optional(Type.String()),
        },
        { additionalProperties: true },
      ),
    ),
    ingress: Type.Optional(Type.Object({ ingressId: Type.String() }, { additionalProperties: true })),
    transcription: Type.Optional(
      Type.Object({ transcriptionId: Type.String() }, { additionalProperties: true }),
    ),
  },
  { $id: 'Event', additionalProperties: true },
);
export type Event = Static<typeof EventSchema>;

export const EventListSchema = Type.Object(
  {
    events: Type.Array(EventSchema),
    nextCursor: Type.String({
      description: 'Where to go on, also after the last event: what happens later comes after it',
    }),
  },
  { $id: 'EventList' },
);
export type EventList = Static<typeof EventListSchema>;

export const EventListQuery = Type.Object(
  {
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 512,
        description: `nextCursor of the page before, or ${LATEST_CURSOR} for one from which only what is yet to come follows`,
      }),
    ),
    since: Type.Optional(
      Type.String({ format: 'date-time', description: 'Only events stored then or later' }),
    ),
    room: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'Only events of this room' }),
    ),
    types: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 512,
        description: 'Only these event names, separated by commas',
      }),
    ),
    limit: pageLimit(1000, 'default 100'),
    wait: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 25,
        description: 'Seconds to wait for an event when there is none',
      }),
    ),
  },
  { additionalProperties: false },
);
export type EventListQuery = Static<typeof EventListQuery>;
