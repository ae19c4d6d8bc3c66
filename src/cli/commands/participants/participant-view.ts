import type { Participant } from '../../../contract/participants.ts';
import { existing } from '../../framework/parameters.ts';
import type { Column } from '../../terminal/result.ts';

type Track = Participant['tracks'][number];

export const PARTICIPANT_FIELDS = [
  'sid',
  'identity',
  'name',
  'state',
  'kind',
  'metadata',
  'joinedAt',
  'isPublisher',
  'attributes',
  'tracks',
] as const satisfies readonly (keyof Participant)[];

export const PARTICIPANT_COLUMNS: readonly Column<Participant>[] = [
  { heading: 'IDENTITY', value: (participant) => participant.identity, paint: 'name' },
  { heading: 'NAME', value: (participant) => participant.name },
  { heading: 'ROLE', value: (participant) => participant.attributes['rtc.role'] },
  {
    heading: 'STATE',
    value: (participant) => participant.state,
    display: (participant) => participant.state.toLowerCase(),
    paint: (participant) => (participant.state === 'ACTIVE' ? 'good' : 'faint'),
  },
  {
    heading: 'TRACKS',
    value: (participant) => participant.tracks.map((track) => track.sid).join(','),
    display: (participant) => participant.tracks.map(describeTrack).join(', '),
  },
  { heading: 'JOINED', value: joinedAt },
];

export const ROOM = existing('name of the room', 'rooms');
export const IDENTITY = existing('identity of the participant', 'participants');

/** Describes a track, such as `microphone` or `screen share (muted)`. */
export function describeTrack(track: Track): string {
  const source = track.source === 'UNKNOWN' ? track.type : track.source;
  const words = source.toLowerCase().replaceAll('_', ' ');
  return track.muted ? `${words} (muted)` : words;
}

function joinedAt(participant: Participant): { instantMs: number } | undefined {
  const seconds = Number(participant.joinedAt);
  return seconds > 0 ? { instantMs: seconds * 1000 } : undefined;
}
