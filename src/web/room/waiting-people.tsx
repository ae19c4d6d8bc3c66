import { useCallback, useEffect, useState } from 'react';
import { initials, personColour } from './people.tsx';
import {
  admit,
  admitAll,
  deny,
  type FoundWaiting,
  type Invitation,
  readWaiting,
  type WaitingPerson,
} from './session.ts';
import { describeFailure } from './words.ts';

/* People who wait, as a host or moderator sees them. */

/** A hidden page polls instead of keeping a request open, because a browser has six connections for all pages of this origin. */
const HIDDEN_MS = 5_000;
/** A room without a lobby may get one. */
const SELDOM_MS = 30_000;

export type WaitingPeople = {
  /** Whether the room has a lobby, or somebody waits. */
  readonly isOn: boolean;
  readonly list: readonly WaitingPerson[];
  readonly admit: (identity: string) => void;
  readonly deny: (identity: string) => void;
  readonly admitAll: () => void;
};

type Options = { readonly invitation: Invitation; readonly onError: (error: string | undefined) => void };

export function useWaitingPeople({ invitation, onError }: Options): WaitingPeople {
  const [found, setFound] = useState(NOBODY);
  const decides = invitation.role === 'host' || invitation.role === 'moderator';
  useEffect(() => {
    if (!decides) return undefined;
    const stopping = new AbortController();
    void followWaiting(invitation, { onFound: setFound, signal: stopping.signal });
    return () => stopping.abort();
  }, [invitation, decides]);
  const act = useCallback(
    (decision: Promise<void>, isDecided: (person: WaitingPerson) => boolean) => {
      onError(undefined);
      // The people of the decision leave the list at once, and come back if it fails.
      setFound((before) => ({ ...before, waiting: before.waiting.filter((one) => !isDecided(one)) }));
      decision.catch((reason: unknown) => {
        onError(describeFailure(reason));
        readWaiting(invitation).then(setFound, () => undefined);
      });
    },
    [invitation, onError],
  );
  return {
    isOn: isWaitedFor(found),
    list: found.waiting,
    admit: (identity) => act(admit(invitation, identity), (one) => one.identity === identity),
    deny: (identity) => act(deny(invitation, identity), (one) => one.identity === identity),
    admitAll: () => act(admitAll(invitation), () => true),
  };
}

const NOBODY: FoundWaiting = { lobby: false, waiting: [], cursor: '' };

/** Returns whether the room has a lobby, or had one and somebody still waits. */
function isWaitedFor({ lobby, waiting }: FoundWaiting): boolean {
  return lobby || waiting.length > 0;
}

type Following = { readonly onFound: (found: FoundWaiting) => void; readonly signal: AbortSignal };

/** Tells who waits, at each change. */
async function followWaiting(invitation: Invitation, { onFound, signal }: Following): Promise<void> {
  let cursor = '';
  while (!signal.aborted) {
    const found = await readWaiting(invitation, cursor).catch(() => undefined);
    if (signal.aborted) return;
    if (found !== undefined) onFound(found);
    const isOn = found !== undefined && isWaitedFor(found);
    cursor = isOn && document.visibilityState === 'visible' ? found.cursor : '';
    if (cursor === '') await pause(isOn ? HIDDEN_MS : SELDOM_MS, signal);
  }
}

/** Ends early when the page is looked at again. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      window.clearTimeout(timer);
      document.removeEventListener('visibilitychange', end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = window.setTimeout(end, ms);
    document.addEventListener('visibilitychange', end);
    signal.addEventListener('abort', end);
  });
}

/** Tells that somebody waits, wherever the host looks. */
export function WaitingBanner({
  people,
  onOpen,
}: {
  readonly people: WaitingPeople;
  readonly onOpen: () => void;
}) {
  const [first, ...others] = people.list;
  if (first === undefined) return null;
  return (
    <div className="banner banner-waiting" role="status">
      <span>
        {others.length === 0 ? (
          <>
            <b>{first.name}</b> waits to be let in.
          </>
        ) : (
          <>
            <b>{first.name}</b> and {others.length === 1 ? 'one other' : `${others.length} others`} wait to be
            let in.
          </>
        )}
      </span>
      <span className="choices">
        {others.length === 0 && (
          <button
            type="button"
            className="button primary"
            aria-label={`Admit ${first.name}`}
            onClick={() => people.admit(first.identity)}
          >
            Admit
          </button>
        )}
        <button type="button" className="button" onClick={onOpen}>
          See who
        </button>
      </span>
    </div>
  );
}

/** The tab of the side panel. */
export function WaitingList({ people }: { readonly people: WaitingPeople }) {
  const { list } = people;
  if (list.length === 0)
    return <p className="faint">Nobody waits. Guests appear here before they come in.</p>;
  return (
    <>
      {list.length > 1 && (
        <button type="button" className="button primary wide" onClick={people.admitAll}>
          Admit all
        </button>
      )}
      <ul className="people">
        {list.map(({ identity, name, role, waitingSince }) => (
          <li key={identity}>
            <span className="avatar" style={{ background: personColour(identity) }} aria-hidden="true">
              {initials(name)}
            </span>
            <span className="name" title={identity}>
              {name}
              <span className="faint since">{describeSince(waitingSince)}</span>
            </span>
            <span className={`role role-${role}`}>{role}</span>
            <span className="actions">
              <button
                type="button"
                className="button small primary"
                aria-label={`Admit ${name}`}
                onClick={() => people.admit(identity)}
              >
                Admit
              </button>
              <button
                type="button"
                className="button small"
                aria-label={`Deny ${name}`}
                onClick={() => people.deny(identity)}
              >
                Deny
              </button>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The list is read again every few seconds, so that the text stays true. */
function describeSince(instant: string): string {
  const minutes = Math.floor((Date.now() - Date.parse(instant)) / 60_000);
  return minutes < 1 ? 'just now' : `for ${minutes} min`;
}
