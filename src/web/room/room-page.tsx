import { LiveKitRoom, useParticipants, useRoomContext, VideoConference } from '@livekit/components-react';
import { DisconnectReason, type Participant, RoomEvent } from 'livekit-client';
import { useEffect, useState } from 'react';
import { CaptionSwitch, Captions } from './captions.tsx';
import { type Invitation, keepInvitation, muteTrack, removeParticipant, requestToken } from './session.ts';

/** Tokens last an hour by default; a fresh one is fetched long before that, for a reload. */
const REFRESH_MS = 10 * 60_000;

type Props = { readonly invitation: Invitation };

/** The call: tiles, devices, screen share and chat are LiveKit's own prefab; captions and people are beside it. */
export function RoomPage({ invitation }: Props) {
  const [ending, setEnding] = useState<string>();
  const [deviceError, setDeviceError] = useState<string>();
  const { room, role, url, token } = invitation;
  useRefreshedToken(invitation);
  if (ending !== undefined) return <Notice title={ending} action="Join again" />;
  const isViewer = role === 'viewer';
  return (
    <LiveKitRoom
      className="room"
      data-lk-theme="default"
      serverUrl={url}
      token={token}
      audio={!isViewer}
      video={!isViewer}
      onMediaDeviceFailure={(failure) => setDeviceError(describeDeviceFailure(failure))}
      onError={(error) => setDeviceError(error.message)}
    >
      <EndOfCall onEnd={(reason) => setEnding(describeEnd(reason))} />
      <header className="bar">
        <h1>{room}</h1>
        <span className={`role role-${role}`}>{role}</span>
        {role === 'host' && <CaptionSwitch invitation={invitation} onError={setDeviceError} />}
      </header>
      {deviceError !== undefined && (
        <p role="alert" className="banner">
          {deviceError}
        </p>
      )}
      <main>
        <VideoConference />
        <Captions />
      </main>
      <People invitation={invitation} />
    </LiveKitRoom>
  );
}

/** Shows why the call ended, which the component of the room does not pass on. */
function EndOfCall({ onEnd }: { readonly onEnd: (reason: DisconnectReason | undefined) => void }) {
  const room = useRoomContext();
  useEffect(() => {
    room.on(RoomEvent.Disconnected, onEnd);
    return () => {
      room.off(RoomEvent.Disconnected, onEnd);
    };
  });
  return null;
}

/** LiveKit renews the token of a connection by itself; this one is for a reload of the page. */
function useRefreshedToken(invitation: Invitation): void {
  useEffect(() => {
    let newest = invitation;
    const timer = window.setInterval(() => {
      requestToken(newest, { asAnotherPerson: false })
        .then((fresh) => {
          newest = fresh;
          keepInvitation(fresh);
        })
        .catch(() => undefined);
    }, REFRESH_MS);
    return () => window.clearInterval(timer);
  }, [invitation]);
}

/** A page with one sentence, when there is no call to show. */
export function Notice({ title, action }: { readonly title: string; readonly action?: string }) {
  return (
    <div className="notice" role="status">
      <p>{title}</p>
      {action !== undefined && (
        <button type="button" onClick={() => location.reload()}>
          {action}
        </button>
      )}
    </div>
  );
}

function describeEnd(reason: DisconnectReason | undefined): string {
  switch (reason) {
    case DisconnectReason.PARTICIPANT_REMOVED:
      return 'A host removed you from the room.';
    case DisconnectReason.ROOM_DELETED:
      return 'The room was closed.';
    case DisconnectReason.DUPLICATE_IDENTITY:
      return 'Somebody joined with your identity, which ends this connection.';
    case DisconnectReason.JOIN_FAILURE:
      return 'The media server refused the connection.';
    case DisconnectReason.CLIENT_INITIATED:
      return 'You left the room.';
    default:
      return 'The connection to the media server was lost.';
  }
}

/** `failure` is LiveKit's MediaDeviceFailure. */
function describeDeviceFailure(failure: string | undefined): string {
  switch (failure) {
    case 'PermissionDenied':
      return 'The browser does not give this page your camera or microphone. Allow them for this address, then reload.';
    case 'NotFound':
      return 'This machine has no camera or no microphone. You can watch and listen.';
    case 'DeviceInUse':
      return 'Another program is using the camera or the microphone. Close it, then reload.';
    default:
      return 'The camera or the microphone could not be started.';
  }
}

/** The attribute in which the service signs a participant's role. */
const ROLE_ATTRIBUTE = 'rtc.role';

type PeopleProps = { readonly invitation: Invitation };

/** The participants of the room with their roles. A host can mute and remove, a moderator can mute. */
function People({ invitation }: PeopleProps) {
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
