import { createRoot, type Root } from 'react-dom/client';
import '@livekit/components-styles';
import './room.css';
import { claimIdentity } from './claim-identity.ts';
import { type Invitation, readCode, readInvitation } from './invitation.ts';
import { Notice, RoomPage } from './room-page.tsx';
import { keepInvitation, redeemCode, requestToken } from './session.ts';

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

/** A fresh token for this tab: under the same identity, or under another one where another tab has it. */
async function takeSeat(invitation: Invitation): Promise<Invitation> {
  const isFree = await claimIdentity(invitation.room, invitation.identity);
  const fresh = await requestToken(invitation, { asAnotherPerson: !isFree });
  if (!isFree) await claimIdentity(fresh.room, fresh.identity);
  return fresh;
}
