import { DisconnectReason, Room, RoomEvent } from 'livekit-client';
import { useEffect, useState } from 'react';
import { readAdmission } from '../../contract/read-service-data.ts';
import { type Invitation, keepInvitation, PageError, requestToken } from './session.ts';
import { DENIED, describeRefusal, type Notice } from './words.ts';

/*
 * A guest waits until a host or a moderator admits or denies. The connection is to a room of the media server in which
 * nobody sees anybody. It is loaded when somebody waits, with LiveKit's client.
 */

type Props = {
  readonly invitation: Invitation;
  readonly onAdmitted: (invitation: Invitation) => void;
  readonly onEnd: (notice: Notice) => void;
};

const RETRY_MS = 3_000;

export function Waiting({ invitation, onAdmitted, onEnd }: Props) {
  const [isConnected, setConnected] = useState(false);
  useEffect(() => {
    const ended = new AbortController();
    void wait(invitation, setConnected, ended.signal).then(
      (outcome) => {
        if (ended.signal.aborted) return;
        if ('title' in outcome) onEnd(outcome);
        else onAdmitted(outcome);
      },
      (error: unknown) => !ended.signal.aborted && onEnd(describeRefusal(error)),
    );
    return () => ended.abort();
  }, [invitation, onAdmitted, onEnd]);
  const { room, name } = invitation;
  return (
    <main className="notice waiting">
      <span className="pulse" aria-hidden="true" />
      <div role="status">
        <h1>{isConnected ? 'The host will let you in' : 'Connecting …'}</h1>
        <p>
          You are waiting for <strong>{room}</strong> as <strong>{name}</strong>. Keep this page open: the
          call begins by itself.
        </p>
      </div>
      <button
        type="button"
        className="button"
        onClick={() => onEnd({ title: 'You left.', action: 'Ask again' })}
      >
        Leave
      </button>
    </main>
  );
}

/** Waits through lost connections. Returns the seat in the room, or why there is none. */
async function wait(
  invitation: Invitation,
  onConnected: (isConnected: boolean) => void,
  signal: AbortSignal,
): Promise<Invitation | Notice> {
  for (let seat = invitation; ; ) {
    const end = await stay(seat, onConnected, signal);
    if (signal.aborted) return seat;
    onConnected(false);
    if (typeof end === 'object') return end;
    if (end === 'lost') await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    // The service knows whether the person was admitted, denied, or may not come any more.
    const next = await requestToken(seat).catch((error: unknown) => {
      if (end === 'removed' && error instanceof PageError && error.code === 'link-used') return undefined;
      throw error;
    });
    if (next === undefined || (next.waiting === true && end === 'removed')) return DENIED;
    keepInvitation(next);
    if (next.waiting !== true) return next;
    seat = next;
  }
}

type End = 'admitted' | 'removed' | 'lost' | Notice;

async function stay(
  { url, token }: Invitation,
  onConnected: (isConnected: boolean) => void,
  signal: AbortSignal,
): Promise<End> {
  const { promise, resolve } = Promise.withResolvers<End>();
  const room = new Room();
  room
    .on(RoomEvent.DataReceived, (...[payload, participant, , topic, , identity]) => {
      if (readAdmission(payload, { topic, participant, identity }) !== undefined) resolve('admitted');
    })
    .on(RoomEvent.Reconnecting, () => onConnected(false))
    .on(RoomEvent.Reconnected, () => onConnected(true))
    .on(RoomEvent.Disconnected, (reason) => resolve(toEnd(reason)));
  const leave = (): void => resolve('lost');
  signal.addEventListener('abort', leave, { once: true });
  try {
    await room.connect(url, token, { maxRetries: 0 });
    onConnected(true);
  } catch {
    resolve('lost');
  }
  const end = await promise;
  room.removeAllListeners();
  await room.disconnect();
  return end;
}

function toEnd(reason: DisconnectReason | undefined): End {
  switch (reason) {
    case DisconnectReason.PARTICIPANT_REMOVED:
      return 'removed';
    case DisconnectReason.ROOM_DELETED:
      return { title: 'The room was closed.', action: 'Ask again' };
    case DisconnectReason.DUPLICATE_IDENTITY:
      return { title: 'You wait in another tab or on another device.', action: 'Wait here' };
    default:
      return 'lost';
  }
}
