import { type Static, type TSchema, Type } from 'typebox';
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

const payload = (id: string, description: string) => ({
  $id: id,
  description,
  additionalProperties: true,
});

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
  room_created: Type.Object(
    { event: nameSchema('room_created'), room, ...occurrence },
    payload('RoomCreatedEvent', 'A room was opened.'),
  ),
  room_started: Type.Object(
    { event: nameSchema('room_started'), room, ...occurrence },
    payload('RoomStartedEvent', 'The first participant of a room joined.'),
  ),
  room_closing: Type.Object(
    { event: nameSchema('room_closing'), room, ...occurrence, closing: RoomClosingSchema },
    payload(
      'RoomClosingEvent',
      'A plan is about to close a room: sent with each warning to its participants, and right before its end.',
    ),
  ),
  planned_start_failed: Type.Object(
    { event: nameSchema('planned_start_failed'), room, ...occurrence, planned: PlannedStartSchema },
    payload(
      'PlannedStartFailedEvent',
      'A plan could not start something. It is tried again while the room is open; each reason is told once.',
    ),
  ),
  room_finished: Type.Object(
    { event: nameSchema('room_finished'), room, ...occurrence, closeReason: Type.Optional(closeReason) },
    payload('RoomFinishedEvent', 'A room was closed.'),
  ),
  participant_joined: Type.Object(
    { event: nameSchema('participant_joined'), ...participantJoined },
    payload('ParticipantJoinedEvent', 'A participant joined a room.'),
  ),
  participant_left: Type.Object(
    { event: nameSchema('participant_left'), ...participantLeft },
    payload('ParticipantLeftEvent', 'A participant left a room.'),
  ),
  participant_waiting: Type.Object(
    { event: nameSchema('participant_waiting'), ...ofWaiting },
    payload('ParticipantWaitingEvent', 'Somebody waits to be admitted to a room; sent once for each token.'),
  ),
  participant_admitted: Type.Object(
    { event: nameSchema('participant_admitted'), ...ofWaiting },
    payload('ParticipantAdmittedEvent', 'Somebody who waited was admitted to the room.'),
  ),
  participant_denied: Type.Object(
    { event: nameSchema('participant_denied'), ...ofWaiting },
    payload('ParticipantDeniedEvent', 'Somebody who waited was denied, and disconnected.'),
  ),
  room_join_refused: Type.Object(
    {
      event: nameSchema('room_join_refused'),
      room,
      ...occurrence,
      participant: RefusedParticipantSchema,
      closedUntil: orNull(
        instantSchema('When the room may be entered again'),
        'When the room may be entered again; null: only POST /v1/rooms opens it',
      ),
    },
    payload(
      'RoomJoinRefusedEvent',
      'Somebody joined a room that is kept closed, and was removed; sent once for each time that a room is closed.',
    ),
  ),
  track_published: Type.Object(
    { event: nameSchema('track_published'), ...ofTrack, limitedUntil },
    payload('TrackPublishedEvent', 'A participant published a track: a microphone, a camera or a screen.'),
  ),
  track_unpublished: Type.Object(
    { event: nameSchema('track_unpublished'), ...ofTrack },
    payload('TrackUnpublishedEvent', 'A participant stopped publishing a track.'),
  ),
  egress_started: Type.Object(
    { event: nameSchema('egress_started'), ...ofRecording },
    payload('EgressStartedEvent', 'The recording of a room started.'),
  ),
  egress_ended: Type.Object(
    { event: nameSchema('egress_ended'), ...ofRecording },
    payload('EgressEndedEvent', 'The recording of a room is over; `fileUrl` leads to its file.'),
  ),
  broadcast_started: Type.Object(
    { event: nameSchema('broadcast_started'), ...ofBroadcast },
    payload(
      'BroadcastStartedEvent',
      'The broadcast of a room started; its receivers may still be connecting.',
    ),
  ),
  broadcast_url_failed: Type.Object(
    { event: nameSchema('broadcast_url_failed'), ...ofBroadcast },
    payload(
      'BroadcastUrlFailedEvent',
      'One receiver of a broadcast refused or closed, `failedUrl`; the others go on.',
    ),
  ),
  broadcast_ended: Type.Object(
    { event: nameSchema('broadcast_ended'), ...ofBroadcast },
    payload('BroadcastEndedEvent', 'The broadcast of a room is over.'),
  ),
  ingress_started: Type.Object(
    { event: nameSchema('ingress_started'), ...ofIngress },
    payload('IngressStartedEvent', 'A stream through an ingress started.'),
  ),
  ingress_ended: Type.Object(
    { event: nameSchema('ingress_ended'), ...ofIngress },
    payload('IngressEndedEvent', 'A stream through an ingress ended.'),
  ),
  transcription_completed: Type.Object(
    { event: nameSchema('transcription_completed'), ...ofTranscription },
    payload('TranscriptionCompletedEvent', 'A transcription was stopped or completed.'),
  ),
  transcription_failed: Type.Object(
    { event: nameSchema('transcription_failed'), ...ofTranscription },
    payload('TranscriptionFailedEvent', 'A transcription failed; `error` has the reason.'),
  ),
} as const satisfies Readonly<Record<EventType, TSchema>>;

/** The payload of a test delivery. It is no event of a room and is in no list. */
export const WebhookTestEventSchema = Type.Object(
  {
    event: Type.Literal(TEST_EVENT, { description: 'Event name' }),
    room: orNull(EventRoomSchema, 'Always null, because a test has no room'),
    ...occurrence,
  },
  payload('WebhookTestEvent', 'A test event that a caller requested.'),
);
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
  | 'closeReason';
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
