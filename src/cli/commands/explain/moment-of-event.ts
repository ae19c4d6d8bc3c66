import type { Event } from '../../../contract/events.ts';
import { formatBytes } from '../../terminal/byte-size.ts';
import { formatDuration } from '../../terminal/time.ts';
import type { Moment } from './explanation.ts';

/** Returns the moment that a timeline shows for an event; undefined for one that repeats another event. */
export function momentOfEvent(event: Event): Moment | undefined {
  const sentence = sentenceOf(event);
  if (sentence === undefined) return undefined;
  const { text, isTrouble = false } = typeof sentence === 'string' ? { text: sentence } : sentence;
  const found = event.reconciled === true ? ' (found afterwards: LiveKit could not report it)' : '';
  return { at: event.timestamp, text: text + found, source: 'event', id: event.id, isTrouble };
}

type Sentence = string | { readonly text: string; readonly isTrouble?: boolean };

function sentenceOf(event: Event): Sentence | undefined {
  switch (event.event) {
    case 'room_created':
      return 'the room was opened';
    case 'room_finished':
      return 'the room was closed';
    case 'participant_joined': {
      const { identity, role } = event.participant;
      return `${identity} joined${role === undefined ? '' : ` as ${role}`}`;
    }
    case 'participant_left':
      return sentenceOfLeave(event.participant);
    case 'track_published':
    case 'track_unpublished': {
      const verb = event.event === 'track_published' ? 'published' : 'unpublished';
      return `${event.participant.identity} ${verb} ${trackKind(event.track)}`;
    }
    case 'egress_started':
      return `recording ${event.recording.egressId} was started`;
    case 'egress_ended':
      return sentenceOfRecordingEnd(event.recording);
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
      return undefined;
  }
}

const LEAVES = {
  left: 'left',
  removed: 'was removed by the API',
  lost: 'was lost: the connection broke',
  room_closed: 'was disconnected, as the room was closed',
  duplicate_identity: 'was replaced: the same identity joined again',
} as const;

type Leaving = { readonly identity: string; readonly leaveReason: keyof typeof LEAVES };

function sentenceOfLeave({ identity, leaveReason }: Leaving): Sentence {
  return { text: `${identity} ${LEAVES[leaveReason]}`, isTrouble: leaveReason === 'lost' };
}

function sentenceOfRecordingEnd(recording: NonNullable<Event['recording']>): Sentence {
  const { egressId, status, durationMs, sizeBytes, error, corrected } = recording;
  if (status === 'stopped') {
    const length = durationMs === undefined ? [] : [formatDuration(durationMs / 1000)];
    const size = sizeBytes === undefined ? [] : [formatBytes(sizeBytes)];
    const file = [...length, ...size].join(', ');
    const late = corrected === true ? ', which was reported as failed before,' : '';
    return `recording ${egressId}${late} is complete${file === '' ? '' : `: ${file}`}`;
  }
  const why = error === undefined ? '' : `: ${error}`;
  const end = status === 'aborted' ? 'was aborted: no media arrived' : `ended as ${status}`;
  return { text: `recording ${egressId} ${end}${why}`, isTrouble: true };
}

/** The kind in LiveKit's TrackInfo: a microphone is more precise than audio. */
function trackKind({ source, type }: NonNullable<Event['track']>): string {
  const kind = source === undefined || source === 'UNKNOWN' ? type : source;
  return kind === undefined ? 'a track' : `its ${kind.toLowerCase().replaceAll('_', ' ')}`;
}
