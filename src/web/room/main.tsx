import { useCallback, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import '../shared.css';
import './room.css';
import { type Choices, forgetChoices, keepChoices, PreJoin, readChoices } from './pre-join.tsx';
import {
  forgetInvitation,
  type Invitation,
  keepInvitation,
  readCode,
  readInvitation,
  redeemCode,
  requestToken,
} from './session.ts';
import { BROKEN_LINK, DENIED, describeRefusal, type Notice } from './words.ts';

/** The code of the call is loaded while the pre-join page is shown. */
const loadCall = () => import('./call.tsx');
const loadWaiting = () => import('./waiting.tsx');

type View =
  | { readonly kind: 'pre-join'; readonly invitation: Invitation }
  | {
      readonly kind: 'call';
      readonly invitation: Invitation;
      readonly choices: Choices;
      readonly Call: Awaited<ReturnType<typeof loadCall>>['Call'];
    }
  | {
      readonly kind: 'waiting';
      readonly invitation: Invitation;
      readonly choices: Choices;
      readonly Waiting: Awaited<ReturnType<typeof loadWaiting>>['Waiting'];
    }
  | { readonly kind: 'notice'; readonly notice: Notice };

const container = document.getElementById('page');
if (container !== null) {
  const root = createRoot(container);
  takePlace().then((first) => root.render(<Page first={first} />));
}

/** A seat in the room, and after a reload during the call, the call itself. */
async function takePlace(): Promise<View> {
  const code = readCode(location.hash);
  const invitation = readInvitation(location.hash);
  if (code === null && invitation === undefined) return { kind: 'notice', notice: BROKEN_LINK };
  try {
    const seat = invitation === undefined ? await takeNewSeat(code ?? '') : await takeSeat(invitation);
    keepInvitation(seat);
    document.title = `${seat.room} · rtc`;
    const choices = readChoices(seat);
    if (choices !== undefined) return await openCall(seat, choices);
    return { kind: 'pre-join', invitation: seat };
  } catch (error) {
    return { kind: 'notice', notice: describeRefusal(error) };
  }
}

/** Somebody who has to wait comes into the call later. */
async function openCall(invitation: Invitation, choices: Choices): Promise<View> {
  if (invitation.waiting === true) {
    const { Waiting } = await loadWaiting();
    return { kind: 'waiting', invitation, choices, Waiting };
  }
  const { Call } = await loadCall();
  return { kind: 'call', invitation, choices, Call };
}

function Page({ first }: { readonly first: View }) {
  const [view, setView] = useState(first);
  // The code of the call comes while the pre-join page is looked at: after it was painted, so that it is not later for that.
  useEffect(() => {
    if (view.kind === 'pre-join') requestAnimationFrame(() => setTimeout(loadCall));
  }, [view.kind]);
  const end = useCallback((notice: Notice) => {
    forgetChoices();
    if (notice === DENIED) forgetInvitation();
    setView({ kind: 'notice', notice });
  }, []);
  const enter = useCallback((invitation: Invitation) => {
    const choices = readChoices(invitation);
    if (choices !== undefined) void openCall(invitation, choices).then(setView);
  }, []);
  const join = async (invitation: Invitation, name: string, choices: Choices): Promise<void> => {
    try {
      const fresh = await requestToken(invitation, { name });
      keepInvitation(fresh);
      keepChoices(fresh, choices);
      setView(await openCall(fresh, choices));
    } catch (error) {
      end(describeRefusal(error));
    }
  };
  if (view.kind === 'notice') return <NoticePage {...view.notice} />;
  if (view.kind === 'call') return <view.Call {...view} onEnd={end} />;
  if (view.kind === 'waiting') return <view.Waiting {...view} onAdmitted={enter} onEnd={end} />;
  const { invitation } = view;
  return (
    <PreJoin
      invitation={invitation}
      onJoin={async (name, choices) => await join(invitation, name, choices)}
    />
  );
}

/** A page with one sentence, when there is no call to show. */
function NoticePage({ title, advice, action }: Notice) {
  return (
    <main className="notice">
      <div role="status">
        <h1>{title}</h1>
        {advice !== undefined && <p>{advice}</p>}
      </div>
      {action !== undefined && (
        <button type="button" className="button primary" onClick={() => location.reload()}>
          {action}
        </button>
      )}
    </main>
  );
}

async function takeNewSeat(code: string): Promise<Invitation> {
  const invitation = await redeemCode(code);
  await claimIdentity(invitation);
  return invitation;
}

/** Returns a fresh token for this tab: with the same identity, or with another one if another tab has it. */
async function takeSeat(invitation: Invitation): Promise<Invitation> {
  if (await claimIdentity(invitation)) return await requestToken(invitation);
  const fresh = await requestToken(invitation, { asAnotherPerson: true });
  await claimIdentity(fresh);
  return fresh;
}

/**
 * Claims the identity for this tab until it is closed. Returns false when another tab of this browser has it: LiveKit would
 * remove the first tab when a second one joins with the same identity.
 */
async function claimIdentity({ room, identity }: Invitation): Promise<boolean> {
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
