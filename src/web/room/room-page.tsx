import { LiveKitRoom, useRoomContext, VideoConference } from '@livekit/components-react';
import { DisconnectReason, RoomEvent } from 'livekit-client';
import { useEffect, useState } from 'react';
import { CaptionSwitch, Captions } from './captions.tsx';
import { People } from './people.tsx';
import { type Invitation, keepInvitation, requestToken } from './session.ts';

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
