import {
  RoomAudioRenderer,
  RoomContext,
  useParticipants,
  useRoomContext,
  useStartAudio,
} from '@livekit/components-react';
import { type RemoteParticipant, type Room, RoomEvent } from 'livekit-client';
import { useEffect, useRef, useState } from 'react';
import { plural } from '../../contract/amounts.ts';
import { CallConnection, type CallState } from './connection.ts';
import { Controls } from './controls.tsx';
import { hasRaisedHand, SHOWN_EVENTS, showName } from './people.tsx';
import type { Choices } from './pre-join.tsx';
import type { Invitation } from './session.ts';
import { SidePanel, useMessages, useSidePanel } from './side-panel.tsx';
import { Stage } from './stage.tsx';
import { useWaitingPeople, WaitingBanner } from './waiting-people.tsx';
import { describeDeviceError, type Notice } from './words.ts';

type Props = {
  readonly invitation: Invitation;
  readonly choices: Choices;
  readonly onEnd: (notice: Notice) => void;
};

/** The call: loaded after the pre-join page is shown. */
export function Call({ invitation, choices, onEnd }: Props) {
  const [state, setState] = useState<CallState>({ kind: 'connecting' });
  const [error, setError] = useState<string>();
  const [closesAt, setClosesAt] = useState<number>();
  const [connection, setConnection] = useState<CallConnection>();
  useEffect(() => {
    const made = new CallConnection({
      invitation,
      choices,
      onState: setState,
      onClosing: setClosesAt,
      onEnd,
      onDeviceFailure: (failure) => setError(describeDeviceError(failure.name)),
    });
    setConnection(made);
    return () => made.close();
  }, [invitation, choices, onEnd]);
  if (connection === undefined) return null;
  return (
    <RoomContext.Provider value={connection.room}>
      <CallView {...{ invitation, connection, state, closesAt, error }} onError={(text) => setError(text)} />
      <RoomAudioRenderer />
    </RoomContext.Provider>
  );
}

type CallViewProps = {
  readonly invitation: Invitation;
  readonly connection: CallConnection;
  readonly state: CallState;
  readonly closesAt: number | undefined;
  readonly error: string | undefined;
  readonly onError: (error: string | undefined) => void;
};

function CallView({ invitation, connection, state, closesAt, error, onError }: CallViewProps) {
  const { tab, show, toggle, close } = useSidePanel();
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
        {closesAt !== undefined && <ClosingBanner closesAt={closesAt} />}
        <SoundBanner />
        {tab !== 'waiting' && <WaitingBanner people={waiting} onOpen={() => show('waiting')} />}
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
        onTab={toggle}
        onLeave={() => connection.leave()}
      />
      {tab !== undefined && (
        <SidePanel {...{ invitation, tab, messages, waiting, onError }} onTab={show} onClose={close} />
      )}
      <Announcements />
    </div>
  );
}

/** How long a lost connection may come back by itself before the page says what to do. */
const PATIENCE_S = 30;

/** The one banner for every state but connected. */
function ConnectionBanner({ state, onRetry }: { readonly state: CallState; readonly onRetry: () => void }) {
  const now = useNow(state.kind === 'lost' ? state.since : undefined);
  const seconds = state.kind === 'lost' ? Math.max(0, Math.round((now - state.since) / 1_000)) : 0;
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

/** Returns performance.now() every second, while there is an instant to count from or to. */
function useNow(instant: number | undefined): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    if (instant === undefined) return;
    setNow(performance.now());
    const timer = window.setInterval(() => setNow(performance.now()), 1_000);
    return () => window.clearInterval(timer);
  }, [instant]);
  return now;
}

/** When the end has been taken away, nobody tells. */
const LATE_S = 10;

/** The end of the room, by its plan. A screen reader says it each minute. */
function ClosingBanner({ closesAt }: { readonly closesAt: number }) {
  const seconds = Math.round((closesAt - useNow(closesAt)) / 1_000);
  if (seconds < -LATE_S) return null;
  return (
    <p className="banner" role="status">
      <span>
        This call ends {seconds > 0 ? `in ${plural(Math.ceil(seconds / 60), 'minute')}` : 'now'}.
        {seconds > 0 && seconds < 60 && <span aria-hidden="true"> ({seconds}&nbsp;s)</span>}
      </span>
    </p>
  );
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
  const participants = useParticipants({ updateOnlyOn: SHOWN_EVENTS });
  const known = useRef<ReadonlyMap<string, string>>(undefined);
  const raised = useRef<ReadonlySet<string>>(new Set());
  const speaker = useRef<string>(undefined);
  const [text, setText] = useState('');
  useEffect(() => {
    const others = participants.filter(({ isLocal }) => !isLocal);
    const names = new Map(others.map((each) => [each.identity, showName(each)]));
    const hands = new Set(others.filter(hasRaisedHand).map(({ identity }) => identity));
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
    <p className="sr-only" aria-live="polite">
      {text}
    </p>
  );
}

/** LiveKit's topic of transcriptions: https://docs.livekit.io/agents/build/text/ */
const TOPIC = 'lk.transcription';

/** Captions that are kept: the strip shows the newest two lines of them. */
const KEPT = 4;

/** How long a finished caption stays. */
const VISIBLE_MS = 8_000;

type Caption = {
  readonly segmentId: string;
  readonly speaker: string;
  readonly text: string;
  readonly language: string;
  readonly isFinal: boolean;
};

type ReceivedCaptions = {
  readonly captions: readonly Caption[];
  /** Languages that were heard, such as `en`. */
  readonly languages: readonly string[];
};

/** The live transcription of the room. */
export function useCaptions(): ReceivedCaptions {
  const room = useRoomContext();
  const [captions, setCaptions] = useState<readonly Caption[]>([]);
  const [languages, setLanguages] = useState<readonly string[]>([]);
  useEffect(() => {
    const timers = new Set<number>();
    const show = (caption: Caption): void => {
      setCaptions((before) => replace(before, caption));
      setLanguages((before) =>
        caption.language === '' || before.includes(caption.language) ? before : [...before, caption.language],
      );
      if (!caption.isFinal) return;
      const timer = window.setTimeout(() => {
        timers.delete(timer);
        setCaptions((before) => before.filter(({ segmentId }) => segmentId !== caption.segmentId));
      }, VISIBLE_MS);
      timers.add(timer);
    };
    const stop = receiveCaptions(room, show);
    return () => {
      stop();
      for (const timer of timers) window.clearTimeout(timer);
    };
  }, [room]);
  return { captions, languages };
}

const SIZES = ['small', 'medium', 'large'] as const;

/** Two lines below the faces, as long as somebody's words were received in this call. */
export function CaptionStrip({ captions, languages }: ReceivedCaptions) {
  const [size, setSize] = useState<(typeof SIZES)[number]>('medium');
  const [language, setLanguage] = useState('');
  const [wasShown, setShown] = useState(false);
  useEffect(() => {
    if (captions.length > 0) setShown(true);
  }, [captions.length]);
  const read = captions.filter((caption) => language === '' || caption.language === language).slice(-2);
  return (
    <section className={wasShown ? `captions captions-${size}` : 'sr-only'} aria-label="Captions">
      <div className="lines" aria-live="polite">
        {read.map(({ segmentId, speaker, text, language: spoken, isFinal }) => (
          <p key={segmentId} lang={spoken} className={isFinal ? 'caption' : 'caption caption-interim'}>
            <b>{speaker}</b> {text}
          </p>
        ))}
      </div>
      {wasShown && (
        <div className="caption-settings">
          <select
            aria-label="Size of the captions"
            value={size}
            onChange={(event) => setSize(SIZES.find((each) => each === event.target.value) ?? 'medium')}
          >
            {SIZES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
          {languages.length > 1 && (
            <select
              aria-label="Language of the captions"
              value={language}
              onChange={(event) => setLanguage(event.target.value)}
            >
              <option value="">all languages</option>
              {languages.map((each) => (
                <option key={each} value={each}>
                  {nameLanguage(each)}
                </option>
              ))}
            </select>
          )}
        </div>
      )}
    </section>
  );
}

function nameLanguage(code: string): string {
  try {
    return new Intl.DisplayNames(undefined, { type: 'language' }).of(code) ?? code;
  } catch {
    return code;
  }
}

function replace(captions: readonly Caption[], caption: Caption): readonly Caption[] {
  const others = captions.filter(({ segmentId }) => segmentId !== caption.segmentId);
  return [...others, caption].slice(-KEPT);
}

function receiveCaptions(room: Room, show: (caption: Caption) => void): () => void {
  // Keeps names of participants who left, because the caption of a last sentence may arrive after the speaker has left.
  const namesOfLeft = new Map<string, string>();
  const keepName = ({ identity, name }: RemoteParticipant): void => {
    if (name !== undefined) namesOfLeft.set(identity, name);
  };
  room.on(RoomEvent.ParticipantDisconnected, keepName);
  room.registerTextStreamHandler(TOPIC, (reader, { identity }) => {
    const attributes = reader.info.attributes ?? {};
    readBeginning(reader)
      .then((text) =>
        show({
          // Everybody can send captions as themselves, also with the segment of somebody else, whose words stay.
          segmentId: `${identity} ${attributes['lk.segment_id'] ?? reader.info.id}`,
          speaker: room.getParticipantByIdentity(identity)?.name || namesOfLeft.get(identity) || identity,
          text,
          language: attributes['lk.language'] ?? '',
          isFinal: attributes['lk.transcription_final'] === 'true',
        }),
      )
      .catch(() => undefined);
  });
  return () => {
    room.off(RoomEvent.ParticipantDisconnected, keepName);
    room.unregisterTextStreamHandler(TOPIC);
  };
}

/** More than anybody says in one segment. Whoever sends captions without end does not fill the memory of others. */
const MAX_LENGTH = 2_000;

async function readBeginning(parts: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const part of parts) {
    text += part;
    if (text.length > MAX_LENGTH) return text.slice(0, MAX_LENGTH);
  }
  return text;
}
