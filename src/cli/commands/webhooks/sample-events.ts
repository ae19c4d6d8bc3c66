import type { EventName, EventType } from '../../../contract/event-names.ts';
import type { Event } from '../../../contract/events.ts';

export type SampleRequest = {
  readonly type: EventType;
  /** The name of the event when it differs from its type. */
  readonly name?: EventName;
  readonly room: string;
  readonly nowMs: number;
  /** Generates the ids of events; each is used once. */
  readonly id: string;
};

type Subject = Omit<Event, 'event' | 'room' | 'timestamp' | 'id' | 'sequence'>;
type Sample = {
  readonly numParticipants: number;
  readonly subject: (moments: Moments, room: string) => Subject;
};
type Moments = { readonly startedAt: string; readonly now: string };

const ROOM_SID = 'RM_sampleSampleSa';
const MEETING_MS = 60_000;
const ADA = { sid: 'PA_sampleSampleSa', identity: 'ada', name: 'Ada Lovelace' };
const ADA_WITH_ACCESS = { ...ADA, metadata: '{"team":"blue"}', role: 'host' };
const MICROPHONE = {
  sid: 'TR_sampleSampleSa',
  type: 'AUDIO',
  source: 'MICROPHONE',
  name: 'microphone',
  muted: false,
};
const EGRESS_ID = 'EG_sampleSampleSa';
const CAMERA = {
  ingressId: 'IN_sampleSampleSa',
  name: 'Camera 1',
  inputType: 'RTMP_INPUT',
  participantIdentity: 'camera-1',
  participantName: 'Camera 1',
};

const SAMPLES: Readonly<Record<EventType, Sample>> = {
  room_created: { numParticipants: 0, subject: () => ({}) },
  room_started: { numParticipants: 1, subject: () => ({}) },
  room_finished: { numParticipants: 0, subject: () => ({}) },
  participant_joined: {
    numParticipants: 1,
    subject: ({ now }) => ({ participant: { ...ADA_WITH_ACCESS, joinedAt: now } }),
  },
  participant_left: {
    numParticipants: 0,
    subject: ({ startedAt }) => ({
      participant: { ...ADA_WITH_ACCESS, joinedAt: startedAt, leaveReason: 'left' },
    }),
  },
  track_published: { numParticipants: 1, subject: () => ({ participant: ADA, track: MICROPHONE }) },
  track_unpublished: { numParticipants: 1, subject: () => ({ participant: ADA, track: MICROPHONE }) },
  egress_started: {
    numParticipants: 1,
    subject: () => ({ recording: { egressId: EGRESS_ID, status: 'recording', mediaStartedAt: null } }),
  },
  egress_ended: {
    numParticipants: 1,
    subject: ({ startedAt }) => ({
      recording: {
        egressId: EGRESS_ID,
        status: 'stopped',
        mediaStartedAt: startedAt,
        durationMs: MEETING_MS,
        sizeBytes: 7_340_032,
        fileUrl: 'https://rtc.example.org/sample.mp4',
      },
    }),
  },
  ingress_started: { numParticipants: 1, subject: () => ({ ingress: CAMERA }) },
  ingress_ended: { numParticipants: 1, subject: () => ({ ingress: CAMERA }) },
  transcription_completed: {
    numParticipants: 1,
    subject: ({ startedAt, now }, room) => ({
      transcription: { ...transcriptionOf(room, { startedAt, now }), status: 'stopped', segmentCount: 12 },
    }),
  },
  transcription_failed: {
    numParticipants: 1,
    subject: ({ startedAt, now }, room) => ({
      transcription: {
        ...transcriptionOf(room, { startedAt, now }),
        status: 'failed',
        segmentCount: 0,
        error: { code: 'worker-lost', message: 'Workers died while they transcribed it.' },
      },
    }),
  },
};

/** Returns an event as a delivery has it, with invented people and objects. */
export function sampleEvent({ type, name = type, room, nowMs, id }: SampleRequest): Event {
  const { numParticipants, subject } = SAMPLES[type];
  const moments = {
    startedAt: new Date(nowMs - MEETING_MS).toISOString(),
    now: new Date(nowMs).toISOString(),
  };
  const event = {
    event: name,
    room: {
      id: ROOM_SID,
      name: room,
      createdAt: moments.startedAt,
      ...(type === 'room_finished' ? { endedAt: moments.now } : {}),
      numParticipants,
    },
    timestamp: moments.now,
    id: `evt_${id}`,
    sequence: 1,
    ...subject(moments, room),
  };
  // Sound: a test holds the sample of each event against its schema.
  return event as Event;
}

function transcriptionOf(roomId: string, { startedAt, now }: Moments) {
  return {
    transcriptionId: 'tr_sampleSampleSamp',
    kind: 'live',
    roomId,
    language: 'en-US',
    startedAt,
    stoppedAt: now,
  };
}
