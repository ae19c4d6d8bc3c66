import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { EventBroadcastSchema } from './broadcasts.ts';
import { CLOSE_REASONS } from './choices.ts';
import { EVENT_ALIASES, EVENT_TYPES, type EventType, TEST_EVENT } from './event-names.ts';
import { instantSchema, shownMetadata } from './names.ts';
import { PlannedStartSchema, RoomClosingSchema } from './plans.ts';
import { named, open, orNull } from './schema.ts';

/*
 * The payload of each event: the specified fields, and the subject of the event. `event` distinguishes the payloads, in
 * TypeScript too. Further fields of newer versions are passed on.
 */

const egressId = Type.String({ description: "The recording's egress id", examples: ['EG_tH8vdkRoTDWY'] });
/** A room as events contain it. */
const EventRoomSchema = named('EventRoom', 'The room of an event', {
  id: Type.String({
    description: "The media server's id of this session of the room; empty if it is not known",
    examples: ['RM_hycBMAjmt6Ub'],
  }),
  name: Type.String({ description: 'Room name', examples: ['demo'] }),
  createdAt: Type.Optional(instantSchema('When the room was opened')),
  endedAt: Type.Optional(instantSchema('When it was closed; only with room_finished')),
  ...shownMetadata,
  numParticipants: Type.Integer({
    description: 'Participants in the room after the event, without recorders and agents',
  }),
});

const participantFields = {
  sid: Type.String({
    description: "The media server's id of this connection",
    examples: ['PA_4bPp8Vi9S6Dd'],
  }),
  identity: Type.String({ description: 'Identity of the token (userId)', examples: ['ada'] }),
  name: Type.String({ description: 'Display name', examples: ['Ada Lovelace'] }),
};

const accessFields = {
  metadata: Type.Optional(Type.String({ description: 'Metadata of the token, or the changed one' })),
  role: Type.Optional(
    Type.String({ description: 'Role of the token; absent for foreign tokens', examples: ['host'] }),
  ),
};

const JoinedParticipantSchema = open('JoinedParticipant', 'Who joined', {
  ...participantFields,
  joinedAt: instantSchema('When the participant joined'),
  ...accessFields,
});

const LeftParticipantSchema = open('LeftParticipant', 'Who left, and the reason', {
  ...participantFields,
  joinedAt: Type.Optional(instantSchema('When the participant joined')),
  ...accessFields,
  leaveReason: Type.Enum(['left', 'removed', 'lost', 'room_closed', 'duplicate_identity'], {
    description:
      'left: by itself; removed: by the API; lost: its connection broke; duplicate_identity: the same identity joined again',
  }),
});

const RefusedParticipantSchema = open(
  'RefusedParticipant',
  'Who joined with an older token, and was removed',
  participantFields,
);

const WaitingParticipantSchema = open('WaitingParticipant', 'Who waits for the room, or did', {
  ...participantFields,
  ...accessFields,
  waitingSince: instantSchema('Since when the person has been waiting'),
});

const TrackParticipantSchema = open(
  'TrackParticipant',
  'The participant who publishes the track',
  participantFields,
);

const EventTrackSchema = open('EventTrack', "LiveKit's TrackInfo", {
  sid: Type.Optional(Type.String({ description: 'Id of the track', examples: ['TR_AMDuaW8eDvbDmz'] })),
  type: Type.Optional(Type.String({ description: 'AUDIO, VIDEO or DATA', examples: ['AUDIO'] })),
  source: Type.Optional(
    Type.String({
      description: 'CAMERA, MICROPHONE, SCREEN_SHARE, SCREEN_SHARE_AUDIO or UNKNOWN',
      examples: ['MICROPHONE'],
    }),
  ),
  name: Type.Optional(Type.String({ description: 'Name from the publisher' })),
  muted: Type.Optional(Type.Boolean({ description: 'Whether the track is muted' })),
});

const EventRecordingSchema = open('EventRecording', 'The recording', {
  egressId,
  status: Type.String({
    description: 'recording, stopped, aborted or failed',
    examples: ['stopped'],
  }),
  mediaStartedAt: Type.Optional(
    orNull(
      instantSchema('Time of the first recorded frame'),
      "When the recording's media begins; null until known",
    ),
  ),
  fileUrl: Type.Optional(
    Type.String({ description: 'Valid for 24 h from the attempt; absent if there is no file' }),
  ),
  durationMs: Type.Optional(Type.Integer({ description: 'Length in milliseconds' })),
  sizeBytes: Type.Optional(Type.Integer({ description: 'Size of the file in bytes' })),
  error: Type.Optional(Type.String({ description: 'Why the recording failed or was aborted' })),
  corrected: Type.Optional(
    Type.Boolean({
      description: 'An earlier egress_ended reported the recording as failed; its file was stored after all',
    }),
  ),
});

const EventIngressSchema = open('EventIngress', 'The stream', {
  ingressId: Type.String({ description: 'Form IN_<id>', examples: ['IN_wnBrCvKPXSSm'] }),
  name: Type.Optional(Type.String({ description: 'Name of the ingress' })),
  inputType: Type.Optional(
    Type.String({ description: 'RTMP_INPUT or WHIP_INPUT', examples: ['RTMP_INPUT'] }),
  ),
  participantIdentity: Type.Optional(Type.String({ description: 'Identity of the stream in the room' })),
  participantName: Type.Optional(Type.String({ description: 'Display name of the stream in the room' })),
  error: Type.Optional(Type.String({ description: 'Why it failed, if it did' })),
});

const EventTranscriptionSchema = open('EventTranscription', 'The transcription; read its text from the API', {
  transcriptionId: Type.String({ description: 'Form tr_<id>' }),
  kind: Type.Optional(Type.String({ description: 'live or post', examples: ['live'] })),
  roomId: Type.Optional(Type.String({ description: 'Room name', examples: ['demo'] })),
  recordingId: Type.Optional(Type.String({ description: 'The recording of a post-call transcription' })),
  status: Type.Optional(Type.String({ description: 'stopped, completed or failed' })),
  language: Type.Optional(Type.String({ description: 'BCP 47', examples: ['en-US'] })),
  startedAt: Type.Optional(orNull(instantSchema('When it was started'), 'Live transcriptions only')),
  stoppedAt: Type.Optional(orNull(instantSchema('When it was stopped'), 'Live transcriptions only')),
  queuedAt: Type.Optional(orNull(instantSchema('When it was queued'), 'Post-call transcriptions only')),
  completedAt: Type.Optional(orNull(instantSchema('When it was completed'), 'Post-call transcriptions only')),
  durationMs: Type.Optional(orNull(Type.Integer(), 'Length of the audio, of a post-call transcription')),
  segmentCount: Type.Optional(Type.Integer({ description: 'Final segments' })),
  error: Type.Optional(
    Type.Object(
      {
        code: Type.String({ description: 'Error code', examples: ['recording-not-media'] }),
        message: Type.String({ description: 'What is wrong, and what to do' }),
      },
      { description: 'Why the transcription failed; only with transcription_failed' },
    ),
  ),
});

const closeReason = Type.Enum(CLOSE_REASONS, {
  description: 'Why a plan closed the room; absent for a room that ended otherwise',
});

const room = Type.Unsafe<Static<typeof EventRoomSchema>>(EventRoomSchema);
/** Events of tracks, recordings and streams may have no room, when the session of the room is not known. */
const roomOrNull = orNull(EventRoomSchema, 'The room; null when it is unknown');

type Names<T extends EventType> =
  | T
  | {
      [A in keyof typeof EVENT_ALIASES]: (typeof EVENT_ALIASES)[A] extends T ? A : never;
    }[keyof typeof EVENT_ALIASES];

/** The event's own name, and the name under which webhooks may also register it. */
function nameSchema<const T extends EventType>(type: T) {
  const aliases = Object.entries(EVENT_ALIASES).flatMap(([alias, of]) => (of === type ? [alias] : []));
  const description =
    aliases.length === 0
      ? 'Event name'
      : `Event name; ${aliases.join(', ')} only for a webhook that is registered under that name`;
  return Type.Unsafe<Names<T>>(Type.Enum([type, ...aliases], { description }));
}

const occurrence = {
  timestamp: instantSchema('When it happened'),
  id: Type.String({
    description: 'The same for every retry and replay: handle each id once',
    examples: ['evt_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'],
  }),
  sequence: orNull(Type.Integer(), 'Number of the event in the session of its room, from 1'),
  reconciled: Type.Optional(
    Type.Boolean({ description: 'The event was missed and found later; the timestamp is when it was found' }),
  ),
};

/** The schema of an event. Its name in the document is that of its type: RoomCreatedEvent for room_created. */
function eventSchema<const T extends EventType, Properties extends TProperties>(
  type: T,
  description: string,
  properties: Properties,
) {
  const name = type.replaceAll(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
  return payload(`${name}Event`, description, { event: nameSchema(type), ...properties });
}

function payload<Properties extends TProperties>($id: string, description: string, properties: Properties) {
  return Type.Object(properties, { $id, description, additionalProperties: true });
}

const limitedUntil = Type.Optional(
  instantSchema(
    'Only with the 30th of a participant in one minute: those that follow before this instant are left out, with their ends',
  ),
);

const participantJoined = { room, ...occurrence, limitedUntil, participant: JoinedParticipantSchema };
const participantLeft = { room, ...occurrence, participant: LeftParticipantSchema };
const ofWaiting = { room, ...occurrence, participant: WaitingParticipantSchema };
const ofTrack = {
  room: roomOrNull,
  ...occurrence,
  participant: TrackParticipantSchema,
  track: EventTrackSchema,
};
const ofRecording = { room: roomOrNull, ...occurrence, recording: EventRecordingSchema };
const ofBroadcast = { room: roomOrNull, ...occurrence, broadcast: EventBroadcastSchema };
const ofIngress = { room: roomOrNull, ...occurrence, ingress: EventIngressSchema };
const ofTranscription = { room: roomOrNull, ...occurrence, transcription: EventTranscriptionSchema };

/** The payload of each event, by the names of the delivery table. */
export const EVENT_SCHEMAS = {
  room_created: eventSchema('room_created', 'A room was opened.', { room, ...occurrence }),
  room_started: eventSchema('room_started', 'The first participant of a room joined.', {
    room,
    ...occurrence,
  }),
  room_closing: eventSchema(
    'room_closing',
    'A plan is about to close a room: sent with each warning to its participants, and right before its end.',
    { room, ...occurrence, closing: RoomClosingSchema },
  ),
  planned_start_failed: eventSchema(
    'planned_start_failed',
    'A plan could not start something. It is tried again while the room is open; each reason is told once.',
    { room, ...occurrence, planned: PlannedStartSchema },
  ),
  room_finished: eventSchema('room_finished', 'A room was closed.', {
    room,
    ...occurrence,
    closeReason: Type.Optional(closeReason),
  }),
  participant_joined: eventSchema('participant_joined', 'A participant joined a room.', {
    ...participantJoined,
  }),
  participant_left: eventSchema('participant_left', 'A participant left a room.', { ...participantLeft }),
  participant_waiting: eventSchema(
    'participant_waiting',
    'Somebody waits to be admitted to a room; sent once for each token.',
    { ...ofWaiting },
  ),
  participant_admitted: eventSchema('participant_admitted', 'Somebody who waited was admitted to the room.', {
    ...ofWaiting,
  }),
  participant_denied: eventSchema('participant_denied', 'Somebody who waited was denied, and disconnected.', {
    ...ofWaiting,
  }),
  room_join_refused: eventSchema(
    'room_join_refused',
    'Somebody joined a room that is kept closed, and was removed; sent once for each time that a room is closed.',
    {
      room,
      ...occurrence,
      participant: RefusedParticipantSchema,
      closedUntil: orNull(
        instantSchema('When the room may be entered again'),
        'When the room may be entered again; null: only POST /v1/rooms opens it',
      ),
    },
  ),
  track_published: eventSchema(
    'track_published',
    'A participant published a track: a microphone, a camera or a screen.',
    { ...ofTrack, limitedUntil },
  ),
  track_unpublished: eventSchema('track_unpublished', 'A participant stopped publishing a track.', {
    ...ofTrack,
  }),
  egress_started: eventSchema('egress_started', 'The recording of a room started.', { ...ofRecording }),
  egress_ended: eventSchema('egress_ended', 'The recording of a room is over; `fileUrl` leads to its file.', {
    ...ofRecording,
  }),
  broadcast_started: eventSchema(
    'broadcast_started',
    'The broadcast of a room started; its receivers may still be connecting.',
    { ...ofBroadcast },
  ),
  broadcast_url_failed: eventSchema(
    'broadcast_url_failed',
    'One receiver of a broadcast refused or closed, `failedUrl`; the others go on.',
    { ...ofBroadcast },
  ),
  broadcast_ended: eventSchema('broadcast_ended', 'The broadcast of a room is over.', { ...ofBroadcast }),
  ingress_started: eventSchema('ingress_started', 'A stream through an ingress started.', { ...ofIngress }),
  ingress_ended: eventSchema('ingress_ended', 'A stream through an ingress ended.', { ...ofIngress }),
  transcription_completed: eventSchema(
    'transcription_completed',
    'A transcription was stopped or completed.',
    { ...ofTranscription },
  ),
  transcription_failed: eventSchema(
    'transcription_failed',
    'A transcription failed; `error` has the reason.',
    { ...ofTranscription },
  ),
} as const satisfies Readonly<Record<EventType, TSchema>>;

/** The payload of a test delivery. It is no event of a room and is in no list. */
export const WebhookTestEventSchema = payload('WebhookTestEvent', 'A test event that a caller requested.', {
  event: Type.Literal(TEST_EVENT, { description: 'Event name' }),
  room: orNull(EventRoomSchema, 'Always null, because a test has no room'),
  ...occurrence,
});
export type WebhookTestEvent = Static<typeof WebhookTestEventSchema>;

type Payload = { [T in EventType]: Static<(typeof EVENT_SCHEMAS)[T]> }[EventType];
type Subject =
  | 'participant'
  | 'track'
  | 'recording'
  | 'broadcast'
  | 'ingress'
  | 'transcription'
  | 'closedUntil'
  | 'closing'
  | 'planned'
  | 'closeReason'
  | 'limitedUntil';
/** Allows reading any subject before the type of the event is checked, as undefined when the event does not have it. */
type WithEverySubject<E> = E extends unknown
  ? E & { readonly [S in Exclude<Subject, keyof E>]?: never }
  : never;

/** One event. Check `event` to narrow its type. */
export type Event = WithEverySubject<Payload>;

export const EventSchema = Type.Unsafe<Event>(
  Type.Union(
    EVENT_TYPES.map((type) => EVENT_SCHEMAS[type]),
    {
      $id: 'Event',
      discriminator: { propertyName: 'event' },
      description: 'An event, as webhooks and lists of events have it; `event` is its name',
    },
  ),
);
