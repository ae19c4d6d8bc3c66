import { RoomAudioRenderer, RoomContext, useParticipants, useStartAudio } from '@livekit/components-react';
import { RoomEvent } from 'livekit-client';
import { useEffect, useRef, useState } from 'react';
import { CaptionStrip, useCaptions } from './captions.tsx';
import { CallConnection, type CallState } from './connection.ts';
import { Controls } from './controls.tsx';
import type { Choices } from './lobby.tsx';
import { readHand, showName } from './people.tsx';
import type { Invitation } from './session.ts';
import { type PanelTab, SidePanel, useMessages } from './side-panel.tsx';
import { Stage } from './stage.tsx';
import { useWaitingPeople, WaitingBanner } from './waiting-people.tsx';
import { describeDeviceError, type Notice } from './words.ts';

type Props = {
  readonly invitation: Invitation;
  readonly choices: Choices;
  readonly onEnd: (notice: Notice) => void;
};

/** The call: loaded after the lobby is shown. */
export function Call({ invitation, choices, onEnd }: Props) {
  const [state, setState] = useState<CallState>({ kind: 'connecting' });
  const [error, setError] = useState<string>();
  const [connection, setConnection] = useState<CallConnection>();
  useEffect(() => {
    const made = new CallConnection({
      invitation,
      choices,
      onState: setState,
      onEnd,
      onDeviceFailure: (failure) => setError(describeDeviceError(failure.name)),
    });
    setConnection(made);
    return () => made.close();
  }, [invitation, choices, onEnd]);
  if (connection === undefined) return null;
  return (
    <RoomContext.Provider value={connection.room}>
      <CallView {...{ invitation, connection, state, error }} onError={(text) => setError(text)} />
      <RoomAudioRenderer />
    </RoomContext.Provider>
  );
}

type CallViewProps = {
  readonly invitation: Invitation;
  readonly connection: CallConnection;
  readonly state: CallState;
  readonly error: string | undefined;
  readonly onError: (error: string | undefined) => void;
};

function CallView({ invitation, connection, state, error, onError }: CallViewProps) {
  const [tab, setTab] = useState<PanelTab>();
  const captions = useCaptions();
  const messages = useMessages(tab === 'chat');
  const participants = useParticipants();
  const waiting = useWaitingPeople({ invitation, onError });
  return (
    <div className={state.kind === 'connected' ? 'call' : 'call call-waits'} data-panel={tab !== undefined}>
      <header className="bar">
        <h1>{invitation.room}</h1>
        <span className="faint">{participants.length}</span>
        <span className={`role role-${invitation.role}`}>{invitation.role}</span>
      </header>
      <div className="banners">
        <ConnectionBanner state={state} onRetry={() => connection.retry()} />
        <SoundBanner />
        {tab !== 'waiting' && <WaitingBanner people={waiting} onOpen={() => setTab('waiting')} />}
        {error !== undefined && (
          <div className="banner" role="alert">
            <span>{error}</span>
            <button type="button" className="button" onClick={() => onError(undefined)}>
              Close
            </button>
          </div>
        )}
      </div>
      <Stage />
      <CaptionStrip {...captions} />
      <Controls
        {...{ invitation, tab, onError }}
        unread={messages.unread}
        waiting={waiting.list.length}
        isConnected={state.kind === 'connected'}
        onTab={(wanted) => setTab(wanted === tab ? undefined : wanted)}
        onLeave={() => connection.leave()}
      />
      {tab !== undefined && <SidePanel {...{ invitation, tab, messages, waiting, onError }} onTab={setTab} />}
      <Announcements />
    </div>
  );
}

/** How long a lost connection may come back by itself before the page says what to do. */
const PATIENCE_S = 30;

/** The one banner for every state but connected. */
function ConnectionBanner({ state, onRetry }: { readonly state: CallState; readonly onRetry: () => void }) {
  const seconds = useSecondsSince(state.kind === 'lost' ? state.since : undefined);
  useEffect(() => {
    if (state.kind !== 'lost') return;
    const title = document.title;
    document.title = `Connection lost · ${title}`;
    return () => {
      document.title = title;
    };
  }, [state.kind]);
  if (state.kind === 'connected') return null;
  if (state.kind === 'connecting') {
    return (
      <p className="banner" role="status">
        Connecting …
      </p>
    );
  }
  return (
    <div className="banner banner-lost" role="alert">
      <span>
        <b>Connection lost.</b> Trying again <span aria-hidden="true">({seconds}&nbsp;s)</span>
        {seconds >= PATIENCE_S && (
          <span className="advice">
            Check your own connection first. If the others are gone too, the server is down: leave this page
            open, and the call goes on when it is back.
          </span>
        )}
      </span>
      <button type="button" className="button" onClick={onRetry}>
        Try now
      </button>
    </div>
  );
}

function useSecondsSince(since: number | undefined): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    if (since === undefined) return;
    setNow(performance.now());
    const timer = window.setInterval(() => setNow(performance.now()), 1_000);
    return () => window.clearInterval(timer);
  }, [since]);
  return since === undefined ? 0 : Math.max(0, Math.round((now - since) / 1_000));
}

/** Browsers play sound only after the user has touched the page. */
function SoundBanner() {
  const { mergedProps, canPlayAudio } = useStartAudio({ props: {} });
  if (canPlayAudio) return null;
  return (
    <div className="banner" role="status">
      <span>Your browser keeps the sound off.</span>
      <button type="button" className="button" onClick={mergedProps.onClick}>
        Hear the others
      </button>
    </div>
  );
}

/** How long an announcement stays, so that each is read once. */
const ANNOUNCED_MS = 4_000;

/** Tells who comes, goes, speaks and raises a hand, for people who do not see it. */
function Announcements() {
  const participants = useParticipants({
    updateOnlyOn: [
      RoomEvent.ParticipantConnected,
      RoomEvent.ParticipantDisconnected,
      RoomEvent.ActiveSpeakersChanged,
      RoomEvent.ParticipantAttributesChanged,
    ],
  });
  const known = useRef<ReadonlyMap<string, string>>(undefined);
  const raised = useRef<ReadonlySet<string>>(new Set());
  const speaker = useRef<string>(undefined);
  const [text, setText] = useState('');
  useEffect(() => {
    const others = participants.filter(({ isLocal }) => !isLocal);
    const names = new Map(others.map((each) => [each.identity, showName(each)]));
    const hands = new Set(others.filter(readHand).map(({ identity }) => identity));
    const speaking = others.find(({ isSpeaking }) => isSpeaking)?.identity;
    const before = known.current ?? names;
    const said = [
      ...[...names].filter(([identity]) => !before.has(identity)).map(([, name]) => `${name} has joined.`),
      ...[...before].filter(([identity]) => !names.has(identity)).map(([, name]) => `${name} has left.`),
      ...[...hands]
        .filter((identity) => !raised.current.has(identity))
        .map((identity) => `${names.get(identity)} raises a hand.`),
      ...(speaking === undefined || speaking === speaker.current ? [] : [`${names.get(speaking)} speaks.`]),
    ];
    known.current = names;
    raised.current = hands;
    speaker.current = speaking ?? speaker.current;
    if (said.length > 0) setText(said.slice(0, 3).join(' '));
  }, [participants]);
  useEffect(() => {
    if (text === '') return;
    const timer = window.setTimeout(() => setText(''), ANNOUNCED_MS);
    return () => window.clearTimeout(timer);
  }, [text]);
  return (
    <p className="unseen" aria-live="polite">
      {text}
    </p>
  );
}
