import { Hand, Mic, MicOff, ScreenShare, UserPen, UserX, Video, VideoOff } from 'lucide-react';
import type { BlockDuration } from '../../../contract/blocks.ts';
import { ROLES, type Role } from '../../../contract/choices.ts';
import type { Participant, ParticipantPatch } from '../../../contract/participants.ts';
import { isObject, parseJson } from '../../../contract/unknown-value.ts';
import { client } from '../api/client.ts';
import { askForDraft, ChangeButton } from '../parts/changes.tsx';
import { writeCommand } from '../parts/command-line.tsx';
import { LongField, SelectField, TextField } from '../parts/fields.tsx';
import { Ago } from '../parts/time.tsx';
import { Empty } from '../parts/view.tsx';
import { MuteAllButton, SendButton } from './room-buttons.tsx';
import { displayName, readRole } from './room-facts.ts';

type Props = {
  readonly room: string;
  /** Those that were loaded so far, by identity. */
  readonly participants: readonly Participant[];
  /** Their number, `200+` if there are more. */
  readonly count: string;
  readonly loadMore: (() => void) | undefined;
};

/** The participants of the room, with their tracks. */
export function Participants({ room, participants, count, loadMore }: Props) {
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
          Participants <span className="count">{count}</span>
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
      {loadMore !== undefined && (
        <button type="button" onClick={loadMore}>
          Show more participants
        </button>
      )}
    </section>
  );
}

/** The page of a room sets this attribute while somebody has raised a hand. */
const HAND_ATTRIBUTE = 'hand';

type RowProps = { readonly room: string; readonly participant: Participant };

function ParticipantRow({ room, participant }: RowProps) {
  const { attributes, identity, joinedAt, kind, tracks } = participant;
  const name = displayName(participant);
  const role = readRole(participant);
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
        {attributes[HAND_ATTRIBUTE] === 'raised' && (
          <span className="role">
            <Hand aria-hidden /> hand raised
          </span>
        )}
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
  const name = displayName(participant);
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
      question={`Mute the ${word.toLowerCase()} of ${name}?`}
      consequence="Only they can unmute it."
      verb="Mute"
      command={writeCommand('participants', 'mute', room, participant.identity, '--track', track.sid)}
      run={() => client.participants.mute({ room, identity: participant.identity, trackSid: track.sid })}
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

type Draft = { readonly name: string; readonly role: string; readonly metadata: string };

type EditProps = { readonly room: string; readonly participant: Participant };

/** Changes the name, the role or the metadata of a participant in the room. */
function EditButton({ room, participant }: EditProps) {
  const { identity } = participant;
  const initial = toDraft(participant);
  return (
    <ChangeButton
      label={`Change ${displayName(participant)}`}
      question={`Change ${displayName(participant)} in ${room}`}
      consequence="Everyone in the room sees the change at once. The role lasts until they leave."
      verb="Change"
      {...askForDraft({
        initial,
        writeCommand: (draft) =>
          writeCommand('participants', 'update', room, identity, ...listOptions(initial, draft)),
        fields: (draft, change) => <EditFields draft={draft} change={change} />,
        run: (draft) => client.participants.update({ room, identity }, toPatch(initial, draft)),
      })}
    >
      <UserPen aria-hidden /> Change
    </ChangeButton>
  );
}

type FieldsProps = { readonly draft: Draft; readonly change: (changed: Partial<Draft>) => void };

function EditFields({ draft: { name, role, metadata }, change }: FieldsProps) {
  return (
    <>
      <TextField label="Name" value={name} maxLength={256} onChange={(text) => change({ name: text })} />
      <SelectField
        label="Role"
        choices={role === '' ? ['', ...ROLES] : ROLES}
        words={(one) => one || 'None'}
        chosen={role}
        onChange={(one) => change({ role: one })}
      />
      <LongField
        label="Metadata, a JSON object"
        className="mono"
        rows={3}
        value={metadata}
        spellCheck={false}
        onChange={(text) => change({ metadata: text })}
      />
    </>
  );
}

function toDraft(participant: Participant): Draft {
  const { name, metadata } = participant;
  return { name, role: readRole(participant) ?? '', metadata };
}

function listOptions(initial: Draft, { name, role, metadata }: Draft): readonly string[] {
  return [
    ...(role === initial.role ? [] : ['--role', role]),
    ...(name === initial.name ? [] : ['--name', name]),
    ...(metadata === initial.metadata ? [] : ['--metadata', metadata]),
  ];
}

function toPatch(initial: Draft, { name, role, metadata }: Draft): ParticipantPatch {
  const patch: ParticipantPatch = {
    ...(name === initial.name ? {} : { name }),
    ...(isRole(role) && role !== initial.role ? { role } : {}),
    ...(metadata === initial.metadata ? {} : { metadata: readObject(metadata) }),
  };
  if (Object.keys(patch).length === 0) throw new Error('Nothing is changed yet.');
  return patch;
}

function isRole(text: string): text is Role {
  return ROLES.some((role) => role === text);
}

function readObject(text: string): Record<string, unknown> {
  const value = parseJson(text);
  if (isObject(value)) return { ...value };
  throw new Error('The metadata is not a JSON object, such as {"team":"red"}.');
}

type Choice = {
  readonly name: string;
  readonly block: BlockDuration | undefined;
  /** Value of `rtc participants remove --block`. */
  readonly option: string | undefined;
};

const AT_ONCE: Choice = {
  name: 'At once, with a token that is still valid',
  block: undefined,
  option: undefined,
};

const CHOICES: readonly Choice[] = [
  AT_ONCE,
  { name: 'After an hour', block: 3_600, option: '1h' },
  { name: 'After a day', block: 86_400, option: '24h' },
  { name: 'Never', block: 'forever', option: 'forever' },
];

type RemoveProps = { readonly room: string; readonly participant: Participant };

/** Disconnects a participant, and optionally blocks the identity. */
function RemoveButton({ room, participant }: RemoveProps) {
  const { identity } = participant;
  const name = displayName(participant);
  return (
    <ChangeButton
      label={`Remove ${name}`}
      question={`Remove ${name} from ${room}?`}
      consequence="They are disconnected."
      verb="Remove"
      isDestructive
      {...askForDraft({
        initial: AT_ONCE,
        writeCommand: ({ option }) =>
          writeCommand('participants', 'remove', room, identity, { '--block': option }),
        fields: (choice, change) => (
          <SelectField
            label="They may come back"
            choices={CHOICES}
            words={(one) => one.name}
            chosen={choice}
            onChange={change}
          />
        ),
        run: ({ block }) => client.participants.remove(room, identity, { block }),
      })}
    >
      <UserX aria-hidden /> Remove
    </ChangeButton>
  );
}
