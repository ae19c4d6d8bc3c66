import { randomUUID } from 'node:crypto';
import manifest from '../../../../package.json' with { type: 'json' };
import { EVENT_NAMES, type EventName, type EventType, findEventType } from '../../../contract/event-names.ts';
import type { Event } from '../../../contract/events.ts';
import { EXIT, usageError } from '../../errors/cli-error.ts';
import type { Context } from '../../framework/context.ts';
import { argument, defineCommand, option } from '../../framework/parameters.ts';
import { type Column, record } from '../../terminal/result.ts';
import { printHint } from '../../terminal/terminal.ts';
import { KNOWN_EVENTS } from '../events/event-view.ts';
import { readSigner, receiverUrl, SECRET_VARIABLE, secretOfEnvironment } from '../events/forward.ts';
import type { PostOutcome } from '../events/forwarder.ts';
import { readGivenSecret, SECRET_STDIN } from './webhook-arguments.ts';

const DEFAULT_ROOM = 'demo';

type Triggered = {
  readonly delivered: boolean;
  /** 0 without a response. */
  readonly statusCode: number;
  readonly error: string | null;
  readonly url: string;
  readonly event: Event;
};

const COLUMNS: readonly Column<Triggered>[] = [
  { heading: 'EVENT', value: ({ event }) => event.event, paint: 'name' },
  { heading: 'EVENT-ID', value: ({ event }) => event.id },
  {
    heading: 'DELIVERED',
    value: ({ delivered }) => delivered,
    paint: ({ delivered }) => (delivered ? 'good' : 'bad'),
  },
  {
    heading: 'STATUS-CODE',
    value: ({ statusCode }) => statusCode,
    display: ({ statusCode }) => (statusCode === 0 ? 'no response' : `${statusCode}`),
  },
  { heading: 'ERROR', value: ({ error }) => error ?? undefined },
];

export const trigger = defineCommand({
  verb: 'trigger',
  summary: 'Send a signed sample event to a receiver',
  description: `For testing a receiver: nothing happens in a room, and nothing is registered, logged or retried. The event is sent once, from this machine. With --to it is signed with $${SECRET_VARIABLE}, or with the secret of rtc webhooks listen. With --webhook it needs the secret of that webhook, in $${SECRET_VARIABLE} or with --secret-stdin, since the service does not reveal it. The exit code is 7 if the receiver does not respond with 2xx.`,
  fields: ['delivered', 'statusCode', 'error', 'url', 'event'] satisfies (keyof Triggered)[],
  arguments: { event: argument('name of the event', { choices: KNOWN_EVENTS, completes: 'events' }) },
  options: {
    to: option('--to <url>', 'receiver, such as http://localhost:4000/hook or 4000', receiverUrl),
    webhook: option('--webhook <id>', 'address of this registered webhook', { completes: 'webhooks' }),
    room: option('--room <room>', `room of the event; default ${DEFAULT_ROOM}`),
    secretStdin: SECRET_STDIN,
  },
  examples: [
    { line: 'rtc webhooks trigger participant_joined --to 4000', does: 'To a port of this machine' },
    {
      line: 'rtc webhooks trigger egress_ended --room demo --to http://localhost:4000/hook --json event',
      does: 'Show what was sent',
    },
    {
      line: 'pass show hook | rtc webhooks trigger room_finished --webhook wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C --secret-stdin',
      does: 'To a registered webhook',
    },
  ],
  async run(context, { event: name, to, webhook, room = DEFAULT_ROOM, secretStdin }) {
    const url = await chooseUrl(context, to, webhook);
    const given = (await readGivenSecret(context, { secretStdin })) ?? secretOfEnvironment(context);
    if (given === undefined && webhook !== undefined) {
      throw usageError(
        'the signing secret of the webhook is missing',
        `set ${SECRET_VARIABLE}, or pipe it in with --secret-stdin`,
      );
    }
    const secret = given ?? (await readSigner(context)).secret;
    const nowMs = context.io.clock();
    const event = sampleEvent({ ...readEventType(name), room, nowMs, id: randomUUID().replaceAll('-', '') });
    if (given === undefined) {
      printHint(context.terminal, 'Signed with the secret that rtc webhooks listen --print-secret prints.');
    }
    const triggered = toTriggered(url, event, await post(context, { url, secret, event, nowMs }));
    return record(triggered, COLUMNS, { exitCode: triggered.delivered ? EXIT.success : EXIT.negative });
  },
});

async function chooseUrl(context: Context, to: URL | undefined, webhook: string | undefined): Promise<URL> {
  if (to !== undefined && webhook !== undefined) {
    throw usageError('--to and --webhook exclude each other', 'leave one of them out');
  }
  if (to !== undefined) return to;
  if (webhook !== undefined) {
    const client = await context.client();
    return new URL((await client.webhooks.get(webhook, { signal: context.io.signal })).url);
  }
  if (context.prompter.isInteractive) {
    return receiverUrl(await context.prompter.text('Address of the receiver:'));
  }
  throw usageError('missing --to or --webhook', 'add one, such as --to http://localhost:4000/hook');
}

function readEventType(word: string) {
  const type = findEventType(word);
  const name = EVENT_NAMES.find((known) => known === word);
  if (type !== undefined && name !== undefined) return { type, name };
  throw usageError(`${JSON.stringify(word)} is not one event`, `choose from ${KNOWN_EVENTS.join(', ')}`);
}

type Sending = { readonly url: URL; readonly secret: string; readonly event: Event; readonly nowMs: number };

async function post({ io }: Context, sending: Sending): Promise<PostOutcome> {
  const { createEventPoster } = await import('../events/forwarder.ts');
  const poster = createEventPoster({ userAgent: `rtc/${manifest.version}` });
  try {
    return await poster.post(sending, io.signal);
  } finally {
    await poster.close();
  }
}

function toTriggered(url: URL, event: Event, outcome: PostOutcome): Triggered {
  const sent = { url: url.href, event };
  if (outcome.kind !== 'responded') {
    return { delivered: false, statusCode: 0, error: outcome.reason, ...sent };
  }
  const { statusCode, redirect } = outcome;
  const delivered = statusCode >= 200 && statusCode < 300;
  return { delivered, statusCode, error: redirect, ...sent };
}

type SampleRequest = {
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
const waiting = ({ startedAt }: Moments) => ({
  participant: { ...ADA_WITH_ACCESS, role: 'participant', waitingSince: startedAt },
});
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

const STREAM = {
  urlId: 'bu_sampleSampleSamp',
  url: 'rtmps://live.example.org/app/***',
  state: 'connecting',
  error: null,
};

const FAILED_URL = { ...STREAM, state: 'failed', error: 'streaming failed: connection refused' };

const BROADCAST = {
  broadcastId: 'bc_sampleSampleSamp',
  egressId: EGRESS_ID,
  status: 'broadcasting',
  startedAt: '2026-11-01T09:30:00.000Z',
  urls: [STREAM],
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
  room_closing: {
    numParticipants: 1,
    subject: ({ now }) => ({ closing: { reason: 'closes_at', closesAt: now, secondsLeft: 0 } }),
  },
  participant_waiting: { numParticipants: 1, subject: waiting },
  participant_admitted: { numParticipants: 1, subject: waiting },
  participant_denied: { numParticipants: 1, subject: waiting },
  planned_start_failed: {
    numParticipants: 1,
    subject: () => ({
      planned: {
        starts: 'recording',
        error: { code: 'media-worker-unavailable', message: 'No recorder is connected.' },
      },
    }),
  },
  room_join_refused: { numParticipants: 0, subject: () => ({ participant: ADA, closedUntil: null }) },
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
  broadcast_started: { numParticipants: 1, subject: () => ({ broadcast: BROADCAST }) },
  broadcast_url_failed: {
    numParticipants: 1,
    subject: () => ({ broadcast: { ...BROADCAST, urls: [FAILED_URL], failedUrl: FAILED_URL } }),
  },
  broadcast_ended: {
    numParticipants: 1,
    subject: () => ({
      broadcast: { ...BROADCAST, status: 'stopped', urls: [{ ...STREAM, state: 'ended' }] },
    }),
  },
  ingress_started: { numParticipants: 1, subject: () => ({ ingress: CAMERA }) },
  ingress_ended: { numParticipants: 1, subject: () => ({ ingress: CAMERA }) },
  transcription_completed: {
    numParticipants: 1,
    subject: ({ startedAt, now }, room) => ({
      transcription: { ...buildTranscription(room, { startedAt, now }), status: 'stopped', segmentCount: 12 },
    }),
  },
  transcription_failed: {
    numParticipants: 1,
    subject: ({ startedAt, now }, room) => ({
      transcription: {
        ...buildTranscription(room, { startedAt, now }),
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
      metadata: '',
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

function buildTranscription(roomId: string, { startedAt, now }: Moments) {
  return {
    transcriptionId: 'tr_sampleSampleSamp',
    kind: 'live',
    roomId,
    language: 'en-US',
    startedAt,
    stoppedAt: now,
  };
}
