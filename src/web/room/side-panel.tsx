import { type ReceivedChatMessage, useChat } from '@livekit/components-react';
import { X } from 'lucide-react';
import { type FormEvent, useCallback, useEffect, useRef, useState } from 'react';
import { People, showName } from './people.tsx';
import type { Invitation } from './session.ts';
import { WaitingList, type WaitingPeople } from './waiting-people.tsx';
import { describeFailure } from './words.ts';

export type PanelTab = 'people' | 'chat' | 'waiting';

type Messages = {
  readonly list: readonly ReceivedChatMessage[];
  readonly unread: number;
  readonly send: ((text: string) => Promise<unknown>) | undefined;
};

/** The chat is received while its tab is closed, too; what came since then is unread. */
export function useMessages(isOpen: boolean): Messages {
  const { chatMessages, send } = useChat();
  const [seen, setSeen] = useState(0);
  useEffect(() => {
    if (isOpen) setSeen(chatMessages.length);
  }, [isOpen, chatMessages.length]);
  return { list: chatMessages, unread: Math.max(0, chatMessages.length - seen), send };
}

/** The names of the buttons of the controls that open the panel. */
export const PANEL_BUTTONS = { people: 'open-people', chat: 'open-chat', waiting: 'open-people' } as const;

/** Escape closes this first. */
const ABOVE = ':popover-open, dialog[open]';

/** Which tab is open. Escape closes the panel from anywhere in the page; the focus goes back to the button that opened it. */
export function useSidePanel() {
  const [tab, setTab] = useState<PanelTab>();
  const opener = useRef<Element>(null);
  const show = (wanted: PanelTab): void => {
    if (tab === undefined) opener.current = document.activeElement;
    setTab(wanted);
  };
  const close = useCallback((): void => {
    setTab(undefined);
    // A banner's button is another one when the banner comes back, and some browsers focus no button that is pressed.
    const isThere = opener.current?.isConnected === true && opener.current !== document.body;
    const button = isThere ? opener.current : document.getElementById(PANEL_BUTTONS[tab ?? 'people']);
    if (button instanceof HTMLElement) button.focus();
  }, [tab]);
  useEffect(() => {
    if (tab === undefined) return undefined;
    const closeAtEscape = ({ key, isComposing, defaultPrevented }: KeyboardEvent): void => {
      if (key !== 'Escape' || isComposing || defaultPrevented) return;
      if (document.querySelector(ABOVE) === null) close();
    };
    document.addEventListener('keydown', closeAtEscape);
    return () => document.removeEventListener('keydown', closeAtEscape);
  }, [tab, close]);
  const toggle = (wanted: PanelTab): void => {
    opener.current = document.activeElement;
    if (wanted === tab) close();
    else setTab(wanted);
  };
  return { tab, show, toggle, close };
}

type Props = {
  readonly invitation: Invitation;
  readonly tab: PanelTab;
  readonly messages: Messages;
  readonly waiting: WaitingPeople;
  readonly onTab: (tab: PanelTab) => void;
  readonly onClose: () => void;
  readonly onError: (error: string | undefined) => void;
};

const TABS: readonly (readonly [tab: PanelTab, label: string])[] = [
  ['people', 'People'],
  ['chat', 'Chat'],
  ['waiting', 'Waiting'],
];

/** The one panel beside the stage; on a phone, a sheet over it. */
export function SidePanel({ invitation, tab, messages, waiting, onTab, onClose, onError }: Props) {
  return (
    <aside className="panel" aria-label={TABS.find(([each]) => each === tab)?.[1]}>
      <div className="panel-head">
        <Tabs {...{ tab, messages, waiting, onTab }} />
        <button type="button" className="icon" aria-label="Close the side panel" onClick={onClose}>
          <X size={18} aria-hidden="true" />
        </button>
      </div>
      <div className="panel-content" role="tabpanel" id="panel-content" aria-labelledby={`tab-${tab}`}>
        {tab === 'people' && <People invitation={invitation} onError={onError} />}
        {tab === 'chat' && (
          <Chat messages={messages} canWrite={invitation.role !== 'viewer'} onError={onError} />
        )}
        {tab === 'waiting' && <WaitingList people={waiting} />}
      </div>
    </aside>
  );
}

function Tabs({ tab, messages, waiting, onTab }: Pick<Props, 'tab' | 'messages' | 'waiting' | 'onTab'>) {
  const badges: Partial<Record<PanelTab, number>> = { chat: messages.unread, waiting: waiting.list.length };
  return (
    <div className="tabs" role="tablist" aria-label="Side panel">
      {TABS.filter(([each]) => each !== 'waiting' || waiting.isOn || tab === each).map(([each, label]) => (
        <button
          key={each}
          type="button"
          role="tab"
          id={`tab-${each}`}
          aria-selected={each === tab}
          aria-controls="panel-content"
          onClick={() => onTab(each)}
        >
          {label}
          {(badges[each] ?? 0) > 0 && <span className="badge">{badges[each]}</span>}
        </button>
      ))}
    </div>
  );
}

/** Characters of one message. */
const MAX_LENGTH = 2_000;
/** Other programs can send any number of messages, of any length. A page that showed them all would no longer respond. */
const MOST_SHOWN = 200;

type ChatProps = Pick<Props, 'messages' | 'onError'> & { readonly canWrite: boolean };

function Chat({ messages, canWrite, onError }: ChatProps) {
  const end = useRef<HTMLLIElement>(null);
  const [text, setText] = useState('');
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the newest message
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'end' });
  }, [messages.list.length]);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim() === '' || messages.send === undefined) return;
    onError(undefined);
    setText('');
    messages.send(text).catch((reason: unknown) => {
      onError(describeFailure(reason));
      // The message can be sent again, unless another one was begun meanwhile.
      setText((begun) => (begun === '' ? text : begun));
    });
  };
  return (
    <div className="chat">
      <ol aria-live="polite" aria-label="Messages">
        {messages.list.length === 0 && <li className="faint">Messages are seen by everybody in the room.</li>}
        {messages.list.slice(-MOST_SHOWN).map(({ id, message, from, timestamp }) => (
          <li key={id ?? timestamp}>
            <b>{from === undefined ? 'Somebody' : showName(from)}</b>{' '}
            <time className="faint">
              {new Date(timestamp).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })}
            </time>
            <p>{message.slice(0, MAX_LENGTH)}</p>
          </li>
        ))}
        <li ref={end} aria-hidden="true" />
      </ol>
      {canWrite && (
        <form onSubmit={send}>
          <input
            value={text}
            onChange={(event) => setText(event.target.value)}
            placeholder="Write a message"
            aria-label="Message"
            maxLength={MAX_LENGTH}
          />
          <button type="submit" className="button" disabled={text.trim() === ''}>
            Send
          </button>
        </form>
      )}
    </div>
  );
}
