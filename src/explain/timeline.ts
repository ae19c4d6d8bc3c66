import { RtcError } from '../client/rtc-error.ts';
import { formatBytes, formatDuration } from '../contract/amounts.ts';
import type { AuditEntry, AuditListQuery } from '../contract/audit.ts';
import type { EventName } from '../contract/event-names.ts';
import type { Event } from '../contract/events.ts';
import type { Reading } from './explain-deliveries.ts';
import { type Moment, type Person, showPerson } from './explanation.ts';

/** Maximum events that are read; a busy room has more in a day than anybody reads. */
const MOST = 10_000;
/** Events are listed in the order in which they were stored, some time after they happened. */
const STORED_LATER_MS = 3_600_000;

type WantedEvents = {
  readonly room?: string;
  readonly types?: readonly EventName[];
  readonly sinceMs: number;
  readonly untilMs?: number | undefined;
};

/** Reads the room's events of a period, the oldest first; of very many only the last ones. */
export async function readEvents(
  { client, signal }: Reading,
  { room, types, sinceMs, untilMs = Number.POSITIVE_INFINITY }: WantedEvents,
): Promise<readonly Event[]> {
  const since = new Date(Math.max(0, sinceMs)).toISOString();
  const events: Event[] = [];
  for await (const event of client.events.all({ roomId: room, types, since, signal })) {
    if (Date.parse(event.timestamp) > untilMs + STORED_LATER_MS) break;
    events.push(event);
    if (events.length > MOST) events.shift();
  }
  return events;
}

/** Returns the moment that a timeline shows for an event. An event that repeats another, or of an unknown type, has none. */
export function momentOfEvent(event: Event): Moment | undefined {
  const sentence = describeEvent(event);
  if (sentence === undefined) return undefined;
  const { text, isTrouble = false } = typeof sentence === 'string' ? { text: sentence } : sentence;
  const found = event.reconciled === true ? ' (found afterwards: LiveKit could not report it)' : '';
  return { at: event.timestamp, text: text + found, source: 'event', id: event.id, isTrouble };
}

type Sentence = string | { readonly text: string; readonly isTrouble?: boolean };

function describeEvent(event: Event): Sentence | undefined {
  switch (event.event) {
    case 'room_created':
      return 'the room was opened';
    case 'participant_joined': {
      const { role } = event.participant;
      return `${showPerson(event.participant)} joined${role === undefined ? '' : ` as ${role}`}`;
    }
    case 'participant_left':
      return sentenceOfLeave(event.participant);
    case 'room_join_refused':
      return `${showPerson(event.participant)} came with an older token, although the room is kept closed, and was removed`;
    case 'track_published':
    case 'track_unpublished': {
      const verb = event.event === 'track_published' ? 'published' : 'unpublished';
      return `${showPerson(event.participant)} ${verb} ${trackKind(event.track)}`;
    }
    case 'egress_started':
      return `recording ${event.recording.egressId} was started`;
    case 'egress_ended':
      return sentenceOfRecordingEnd(event.recording);
    case 'broadcast_started':
      return `broadcast ${event.broadcast.broadcastId} was started`;
    case 'broadcast_url_failed': {
      const { url = 'a URL', error } = event.broadcast.failedUrl ?? {};
      return { text: `the broadcast to ${url} failed${error == null ? '' : `: ${error}`}`, isTrouble: true };
    }
    case 'broadcast_ended': {
      const { broadcastId, status, error } = event.broadcast;
      const why = error === undefined ? '' : `: ${error}`;
      return { text: `broadcast ${broadcastId} ended as ${status}${why}`, isTrouble: status !== 'stopped' };
    }
    case 'ingress_started':
    case 'ingress_ended':
      return `stream ${event.ingress.ingressId} ${event.event === 'ingress_started' ? 'began' : 'ended'}`;
    case 'transcription_completed':
      return `transcription ${event.transcription.transcriptionId} was completed`;
    case 'transcription_failed':
      return {
        text: `transcription ${event.transcription.transcriptionId} failed: ${event.transcription.error?.message ?? 'no reason is known'}`,
        isTrouble: true,
      };
    default:
      return describeEntryOrEnd(event);
  }
}

/** Describes what happens to people who wait, to a plan, and at the end of a room. */
function describeEntryOrEnd(event: Event): Sentence | undefined {
  switch (event.event) {
    case 'participant_waiting':
      return `${showPerson(event.participant)} waits to be admitted`;
    case 'participant_admitted':
      return `${showPerson(event.participant)} was admitted`;
    case 'participant_denied':
      return `${showPerson(event.participant)} was denied`;
    case 'room_closing':
      return describeClosing(event.closing);
    case 'planned_start_failed': {
      const { starts, error } = event.planned;
      return { text: `the plan could not start the ${starts} yet: ${error.message}`, isTrouble: true };
    }
    case 'room_finished':
      return event.closeReason === undefined
        ? 'the room was closed'
        : `the room was closed by its plan: ${CLOSE_REASONS[event.closeReason]}`;
    default:
      return undefined;
  }
}

const CLOSE_REASONS = {
  closes_at: 'its time was over',
  max_duration: 'it has lasted as long as it may',
  solo_timeout: 'somebody was alone for too long',
} as const;

type Closing = { readonly reason: keyof typeof CLOSE_REASONS; readonly secondsLeft: number };

/** The end itself is told by room_finished. */
function describeClosing({ reason, secondsLeft }: Closing): Sentence | undefined {
  if (secondsLeft === 0) return undefined;
  return `everyone was told that the room closes in ${formatDuration(secondsLeft)}: ${CLOSE_REASONS[reason]}`;
}

const LEAVES = {
  left: 'left',
  removed: 'was removed by the API',
  lost: 'was lost: the connection broke',
  room_closed: 'was disconnected, as the room was closed',
  duplicate_identity: 'was replaced: the same identity joined again',
} as const;

type Leaving = Person & { readonly leaveReason: keyof typeof LEAVES };

function sentenceOfLeave({ leaveReason, ...person }: Leaving): Sentence {
  return { text: `${showPerson(person)} ${LEAVES[leaveReason]}`, isTrouble: leaveReason === 'lost' };
}

function sentenceOfRecordingEnd(recording: NonNullable<Event['recording']>): Sentence {
  const { egressId, status, durationMs, sizeBytes, error, corrected } = recording;
  if (status === 'stopped') {
    const length = durationMs === undefined ? [] : [formatDuration(durationMs / 1000)];
    const size = sizeBytes === undefined ? [] : [formatBytes(sizeBytes)];
    const file = [...length, ...size].join(', ');
    const late = corrected === true ? ', which was reported as failed before,' : '';
    const text = `recording ${egressId}${late} is complete${file === '' ? '' : `: ${file}`}`;
    return error === undefined ? text : { text: `${text}; its recorder ended it: ${error}`, isTrouble: true };
  }
  const why = error === undefined ? '' : `: ${error}`;
  const end = status === 'aborted' ? 'was aborted: no media arrived' : `ended as ${status}`;
  return { text: `recording ${egressId} ${end}${why}`, isTrouble: true };
}

/** The kind in LiveKit's TrackInfo: a microphone is more precise than audio. */
function trackKind({ source, type }: NonNullable<Event['track']>): string {
  const kind = source === undefined || source === 'UNKNOWN' ? type : source;
  return kind === undefined ? 'a track' : `the ${kind.toLowerCase().replaceAll('_', ' ')}`;
}

const PAGE = 200;

type WantedRequests = Pick<AuditListQuery, 'roomId' | 'since' | 'requestId'>;

/**
 * Reads requests that changed something, the oldest first; of very many only the last ones. Returns undefined when the key
 * may not read the audit log, or when the service's version has none.
 */
export async function readAudit(
  { client, signal }: Reading,
  wanted: WantedRequests,
): Promise<readonly AuditEntry[] | undefined> {
  try {
    const { entries } = await client.audit.list({ ...wanted, limit: PAGE, signal });
    return entries.toReversed();
  } catch (error) {
    if (error instanceof RtcError && (error.status === 404 || error.status === 403)) return undefined;
    throw error;
  }
}

/** Describes a request that changed something, or tried to. */
export function momentOfRequest(request: AuditEntry): Moment {
  const { occurredAt, requestId, status } = request;
  return {
    at: occurredAt,
    text: describeRequest(request),
    source: 'request',
    id: requestId,
    isTrouble: status >= 400,
  };
}

/** Formats `DELETE /v1/rooms/demo by key root was refused: 404 room-not-found`. */
export function describeRequest({ method, path, ids, keyId, status, problem }: AuditEntry): string {
  const named = path.replaceAll(/:(\w+)/g, (parameter, name: string) => ids[name] ?? parameter);
  const outcome = `${status}${problem === null ? '' : ` ${problem}`}`;
  return `${method} ${named} by key ${keyId} ${describeEnd(status)}: ${outcome}`;
}

function describeEnd(status: number): string {
  if (status >= 500) return 'failed';
  return status >= 400 ? 'was refused' : 'was done';
}

/** Returns undefined when the service responds with a not-found error. */
export async function ifFound<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RtcError && error.status === 404) return undefined;
    throw error;
  }
}
