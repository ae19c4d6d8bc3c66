import { useParticipants } from '@livekit/components-react';
import { type Participant, RoomEvent } from 'livekit-client';
import { Hand, MicOff } from 'lucide-react';
import { useState } from 'react';
import { INVITABLE_ROLES, ROLES, type Role } from '../../contract/choices.ts';
import { createInvite, type Invitation, type InviteLink, muteTrack, removeParticipant } from './session.ts';
import { describeFailure } from './words.ts';

/** The attribute in which the service signs a participant's role. */
const ROLE_ATTRIBUTE = 'rtc.role';

export function showName({ name, identity }: Participant): string {
  return name === undefined || name === '' ? identity : name;
}

export function hasRaisedHand({ attributes }: Participant): boolean {
  return attributes.hand === 'raised';
}

/** At most two letters: of the first and the last word of a name. */
export function initials(name: string): string {
  const words = name.split(/\s+/).filter((word) => word !== '');
  const chosen = words.length > 1 ? [words[0], words.at(-1)] : words;
  return chosen
    .map((word = '') => [...word][0] ?? '')
    .join('')
    .toUpperCase();
}

/** Degrees on the circle of colours, without those in which white letters are hard to read. */
const HUES = [212, 262, 312, 342, 22, 152, 182, 232];

/** A colour that stays the same for an identity, dark enough for white letters. */
export function personColour(identity: string): string {
  const hash = [...identity].reduce((total, letter) => (total * 31 + (letter.codePointAt(0) ?? 0)) % 9973, 7);
  return `hsl(${HUES[hash % HUES.length]} 45% 34%)`;
}

type Props = {
  readonly invitation: Invitation;
  readonly onError: (error: string | undefined) => void;
};

/** The participants of the room with their roles. A host can mute and remove, a moderator can mute. */
export function People({ invitation, onError }: Props) {
  const participants = useParticipants({ updateOnlyOn: SHOWN_EVENTS });
  const run = (act: Promise<void>): void => {
    onError(undefined);
    act.catch((reason: unknown) => onError(describeFailure(reason)));
  };
  const isHost = invitation.role === 'host';
  const roles = INVITABLE_ROLES[ROLES.find((role) => role === invitation.role) ?? 'viewer'];
  const canMute = isHost || invitation.role === 'moderator';
  const raisedFirst = participants.toSorted(
    (one, other) => Number(hasRaisedHand(other)) - Number(hasRaisedHand(one)),
  );
  return (
    <>
      {roles.length > 0 && <Invite {...{ invitation, roles, onError }} />}
      <ul className="people">
        {raisedFirst.map((participant) => (
          <Person
            key={participant.identity}
            participant={participant}
            onMute={
              canMute && !participant.isLocal ? () => run(muteMicrophone(invitation, participant)) : undefined
            }
            onRemove={
              isHost && !participant.isLocal
                ? () => run(removeParticipant(invitation, participant.identity))
                : undefined
            }
          />
        ))}
      </ul>
    </>
  );
}

/** Events that change the faces and the list of people. */
export const SHOWN_EVENTS = [
  RoomEvent.ParticipantConnected,
  RoomEvent.ParticipantDisconnected,
  RoomEvent.ParticipantPermissionsChanged,
  RoomEvent.ParticipantAttributesChanged,
  RoomEvent.ParticipantNameChanged,
  RoomEvent.ConnectionStateChanged,
  RoomEvent.TrackPublished,
  RoomEvent.TrackUnpublished,
  RoomEvent.TrackSubscribed,
  RoomEvent.TrackUnsubscribed,
  RoomEvent.TrackMuted,
  RoomEvent.TrackUnmuted,
  RoomEvent.LocalTrackPublished,
  RoomEvent.LocalTrackUnpublished,
  RoomEvent.ActiveSpeakersChanged,
];

type PersonProps = {
  readonly participant: Participant;
  readonly onMute: (() => void) | undefined;
  readonly onRemove: (() => void) | undefined;
};

function Person({ participant, onMute, onRemove }: PersonProps) {
  const { identity, isLocal, attributes, isMicrophoneEnabled, isSpeaking } = participant;
  const name = showName(participant);
  const role = attributes[ROLE_ATTRIBUTE];
  return (
    <li>
      <span className="avatar" style={{ background: personColour(identity) }} aria-hidden="true">
        {initials(name)}
      </span>
      <span className="name" title={identity}>
        {name}
        {isLocal && <span className="faint"> (you)</span>}
        {isSpeaking && <span className="sr-only"> speaks</span>}
      </span>
      {hasRaisedHand(participant) && <Hand size={16} aria-label="hand raised" className="hand" />}
      {!isMicrophoneEnabled && <MicOff size={16} aria-label="muted" className="faint" />}
      {role !== undefined && <span className={`role role-${role}`}>{role}</span>}
      {(onMute !== undefined || onRemove !== undefined) && (
        <span className="actions">
          {onMute !== undefined && (
            <button
              type="button"
              className="button small"
              onClick={onMute}
              disabled={!isMicrophoneEnabled}
              aria-label={isMicrophoneEnabled ? `Mute ${name}` : `Muted ${name}`}
            >
              {isMicrophoneEnabled ? 'Mute' : 'Muted'}
            </button>
          )}
          {onRemove !== undefined && <RemoveButton name={name} onRemove={onRemove} />}
        </span>
      )}
    </li>
  );
}

/** Confirms by its own label: the first press asks, the second one removes. */
function RemoveButton({ name, onRemove }: { readonly name: string; readonly onRemove: () => void }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <button
      type="button"
      className={isAsking ? 'button small danger' : 'button small'}
      aria-label={isAsking ? `Really remove ${name}` : `Remove ${name}`}
      onBlur={() => setAsking(false)}
      onClick={() => {
        if (isAsking) onRemove();
        setAsking(!isAsking);
      }}
    >
      {isAsking ? 'Really?' : 'Remove'}
    </button>
  );
}

async function muteMicrophone(invitation: Invitation, { identity, audioTrackPublications }: Participant) {
  for (const { trackSid, isMuted } of audioTrackPublications.values()) {
    if (!isMuted) await muteTrack(invitation, { identity, trackSid });
  }
}

/** A link for another person, with a QR code for a phone. */
function Invite({ invitation, roles, onError }: Props & { readonly roles: readonly Role[] }) {
  const [role, setRole] = useState<string>(roles[0] ?? '');
  const [invite, setInvite] = useState<InviteLink & { readonly role: string; readonly picture: string }>();
  const [isCopied, setCopied] = useState(false);
  const make = async (): Promise<void> => {
    onError(undefined);
    try {
      const [made, { renderSVG }] = await Promise.all([createInvite(invitation, role), import('uqr')]);
      setCopied(await copyText(made.link));
      setInvite({ ...made, role, picture: `data:image/svg+xml,${encodeURIComponent(renderSVG(made.link))}` });
    } catch (reason) {
      onError(describeFailure(reason));
    }
  };
  return (
    <section className="invite" aria-label="Invite">
      <label className="field">
        Invite a
        <select value={role} onChange={(event) => setRole(event.target.value)}>
          {roles.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <button type="button" className="button" onClick={() => void make()}>
        Copy link
      </button>
      {invite?.role === role && (
        <div className="link">
          <p role="status">
            {isCopied ? 'Copied. ' : ''}
            {invite.isPublic
              ? 'It is for one person, once, within ten minutes.'
              : 'It works on this machine only: rtc rooms open --public-url makes links for others.'}
          </p>
          <input readOnly value={invite.link} aria-label="Link" onFocus={(event) => event.target.select()} />
          {invite.isPublic && (
            <img src={invite.picture} alt="The link as a QR code" width="168" height="168" />
          )}
        </div>
      )}
    </section>
  );
}

/** A browser without permission to write the clipboard shows the link, which can be copied by hand. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
