import { useParticipants } from '@livekit/components-react';
import type { Participant } from 'livekit-client';
import { useState } from 'react';
import { type Invitation, muteTrack, removeParticipant } from './session.ts';

/** The attribute in which the service signs a participant's role. */
const ROLE_ATTRIBUTE = 'rtc.role';

type Props = { readonly invitation: Invitation };

/** The participants of the room with their roles. A host can mute and remove, a moderator can mute. */
export function People({ invitation }: Props) {
  const participants = useParticipants();
  const [error, setError] = useState('');
  const run = (act: Promise<void>): void => {
    setError('');
    act.catch((reason: unknown) => setError(reason instanceof Error ? reason.message : String(reason)));
  };
  const isHost = invitation.role === 'host';
  const canMute = isHost || invitation.role === 'moderator';
  return (
    <aside className="people" aria-label="People">
      <h2>
        People <span className="count">{participants.length}</span>
      </h2>
      <ul>
        {participants.map((participant) => (
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
      {error !== '' && (
        <p role="alert" className="error">
          {error}
        </p>
      )}
    </aside>
  );
}

type PersonProps = {
  readonly participant: Participant;
  readonly onMute: (() => void) | undefined;
  readonly onRemove: (() => void) | undefined;
};

function Person({ participant, onMute, onRemove }: PersonProps) {
  const { identity, name, isLocal, attributes } = participant;
  const shownName = name === undefined || name === '' ? identity : name;
  const role = attributes[ROLE_ATTRIBUTE];
  return (
    <li>
      <span className="name" title={identity}>
        {shownName}
        {isLocal && <span className="faint"> (you)</span>}
      </span>
      {role !== undefined && <span className={`role role-${role}`}>{role}</span>}
      <span className="actions">
        {onMute !== undefined && (
          <button
            type="button"
            onClick={onMute}
            disabled={!participant.isMicrophoneEnabled}
            aria-label={`Mute ${shownName}`}
          >
            {participant.isMicrophoneEnabled ? 'Mute' : 'Muted'}
          </button>
        )}
        {onRemove !== undefined && <RemoveButton name={shownName} onRemove={onRemove} />}
      </span>
    </li>
  );
}

/** Confirms by its own label: the first press asks, the second one removes. */
function RemoveButton({ name, onRemove }: { readonly name: string; readonly onRemove: () => void }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <button
      type="button"
      className={isAsking ? 'danger' : ''}
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
