import { createRoot, type Root } from 'react-dom/client';
import '@livekit/components-styles';
import './room.css';
import { Notice, RoomPage } from './room-page.tsx';
import {
  type Invitation,
  keepInvitation,
  readCode,
  readInvitation,
  redeemCode,
  requestToken,
} from './session.ts';

const container = document.getElementById('page');
if (container !== null) {
  const root = createRoot(container);
  const code = readCode(location.hash);
  const invitation = readInvitation(location.hash);
  if (code !== null) {
    show(root, takeNewSeat(code));
  } else if (invitation === undefined) {
    root.render(<Notice title="This address is not whole. Use the link that rtc rooms open printed." />);
  } else {
    show(root, takeSeat(invitation));
  }
}

function show(root: Root, seat: Promise<Invitation>): void {
  seat.then(
    (invitation) => {
      document.title = `${invitation.room} · rtc`;
      keepInvitation(invitation);
      root.render(<RoomPage invitation={invitation} />);
    },
    (error: Error) => root.render(<Notice title={error.message} action="Try again" />),
  );
}

async function takeNewSeat(code: string): Promise<Invitation> {
  const invitation = await redeemCode(code);
  await claimIdentity(invitation.room, invitation.identity);
  return invitation;
}

/** Returns a fresh token for this tab: with the same identity, or with another one if another tab has it. */
async function takeSeat(invitation: Invitation): Promise<Invitation> {
  const isFree = await claimIdentity(invitation.room, invitation.identity);
  const fresh = await requestToken(invitation, { asAnotherPerson: !isFree });
  if (!isFree) await claimIdentity(fresh.room, fresh.identity);
  return fresh;
}

/**
 * Claims the identity for this tab until it is closed. Returns false when another tab of this browser has it: LiveKit would
 * remove the first tab when a second one joins with the same identity.
 */
async function claimIdentity(room: string, identity: string): Promise<boolean> {
  // Only pages from https and from loopback have locks; elsewhere a second tab is not recognised.
  if (navigator.locks === undefined) return true;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  void navigator.locks.request(`rtc-room ${room} ${identity}`, { ifAvailable: true }, async (lock) => {
    resolve(lock !== null);
    // The browser releases the lock when the tab is closed.
    if (lock !== null) await new Promise(() => {});
  });
  return promise;
}
