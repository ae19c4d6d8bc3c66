import { Mic, MicOff, ScreenShare, Video, VideoOff } from 'lucide-react';
import type { Participant } from '../../../contract/participants.ts';
import { client } from '../api/client.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { commandOf } from '../parts/command-line.tsx';
import { Ago } from '../parts/time.tsx';
import { Empty } from '../parts/view.tsx';
import { EditButton } from './edit-participant.tsx';
import { RemoveButton } from './remove-participant.tsx';
import { MuteAllButton, SendButton } from './room-buttons.tsx';
import { nameOf, roleOf } from './room-facts.ts';

type Props = { readonly room: string; readonly participants: readonly Participant[] };

/** The participants of the room, with their tracks. */
export function Participants({ room, participants }: Props) {
  if (participants.length === 0) {
    return (
      <Empty title="Nobody is in this room">
        <p>Open it in the browser to be the first, or let somebody in with a token.</p>
      </Empty>
    );
  }
  return (
    <section aria-labelledby="participants-title">
      <div className="section-head">
        <h2 id="participants-title">
          Participants <span className="count">{participants.length}</span>
        </h2>
        <MuteAllButton room={room} />
        <SendButton room={room} />
      </div>
      <div className="plain-scroll">
        <table className="plain people-table">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Role</th>
              <th scope="col">Tracks</th>
              <th scope="col">Since</th>
              <th scope="col">
                <span className="sr-only">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {participants.map((participant) => (
              <ParticipantRow key={participant.sid} room={room} participant={participant} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

type RowProps = { readonly room: string; readonly participant: Participant };

function ParticipantRow({ room, participant }: RowProps) {
  const { identity, joinedAt, kind, tracks } = participant;
  const name = nameOf(participant);
  const role = roleOf(participant);
  return (
    <tr>
      <th scope="row">
        <span className="name">{name}</span>
        {name !== identity && <code className="faint">{identity}</code>}
      </th>
      <td className="cell-role">
        {role !== undefined && <span className={`role role-${role}`}>{role}</span>}
        {role === undefined && kind !== 'STANDARD' && <span className="role">{kind.toLowerCase()}</span>}
        {role === undefined && kind === 'STANDARD' && <span className="faint">—</span>}
      </td>
      <td className="cell-tracks">
        <span className="tracks">
          {tracks.length === 0 && <span className="faint">None</span>}
          {tracks.map((track) => (
            <TrackButton key={track.sid} room={room} participant={participant} track={track} />
          ))}
        </span>
      </td>
      <td className="cell-since">
        <Ago at={Number(joinedAt) * 1000} />
      </td>
      <td className="cell-actions">
        <span className="actions">
          <EditButton room={room} participant={participant} />
          <RemoveButton room={room} participant={participant} />
        </span>
      </td>
    </tr>
  );
}

type Track = Participant['tracks'][number];

/** A track, whether it is muted, and the button that mutes it. */
function TrackButton({ room, participant, track }: RowProps & { readonly track: Track }) {
  const { Icon, word } = describeTrack(track);
  const name = nameOf(participant);
  if (track.muted) {
    return (
      <span className="track track-muted">
        <Icon aria-hidden />
        {word}, muted
      </span>
    );
  }
  return (
    <ChangeButton
      className="track"
      label={`Mute the ${word.toLowerCase()} of ${name}`}
      change={() => ({
        question: `Mute the ${word.toLowerCase()} of ${name}?`,
        consequence: 'Only they can unmute it.',
        verb: 'Mute',
        command: commandOf('participants', 'mute', room, participant.identity, '--track', track.sid),
        run: () => client.participants.mute({ room, identity: participant.identity, trackSid: track.sid }),
      })}
    >
      <Icon aria-hidden />
      {word}
    </ChangeButton>
  );
}

function describeTrack({ source, type, muted }: Track) {
  if (source.startsWith('SCREEN')) {
    return { Icon: ScreenShare, word: source.endsWith('AUDIO') ? 'Screen sound' : 'Screen' };
  }
  if (type === 'AUDIO') return { Icon: muted ? MicOff : Mic, word: 'Microphone' };
  return { Icon: muted ? VideoOff : Video, word: 'Camera' };
}
