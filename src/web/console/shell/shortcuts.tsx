import { useQuery } from '@tanstack/react-query';
import { Search } from 'lucide-react';
import { type KeyboardEvent as ReactKeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { type Person, showPerson } from '../../../explain/explanation.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { useDebounced } from '../parts/use-pages.ts';
import { roomLink } from '../rooms/room-facts.ts';
import { useConsole } from './console-state.tsx';

type View = { readonly path: string; readonly name: string };

const SHORTCUTS = [
  ['Ctrl K', 'Search views, commands, rooms, people and ids'],
  ['/', 'Go to the search field of the view'],
  ['?', 'Show these keys'],
  ['Escape', 'Close what is open'],
] as const;

/** The search over everything, its button, and the keys of the page. */
export function Shortcuts({ views }: { readonly views: readonly View[] }) {
  const [opened, setOpened] = useState<'palette' | 'keys'>();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, target } = event;
      if (document.querySelector('dialog[open]') !== null) return;
      const isPalette = (ctrlKey || metaKey) && key.toLowerCase() === 'k';
      const isTyping = target instanceof HTMLElement && target.matches('input, select, textarea');
      if (!isPalette && (isTyping || ctrlKey || metaKey || altKey)) return;
      if (isPalette) setOpened('palette');
      else if (key === '?') setOpened('keys');
      else if (key === '/') document.querySelector<HTMLElement>('#view input[type="search"]')?.focus();
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
  const close = (): void => setOpened(undefined);
  return (
    <>
      <button
        type="button"
        className="search-all"
        aria-keyshortcuts="Control+K"
        onClick={() => setOpened('palette')}
      >
        <Search aria-hidden /> <span className="search-words">Search</span> <kbd>Ctrl K</kbd>
      </button>
      {opened === 'palette' && <Palette views={views} onClose={close} />}
      {opened === 'keys' && <KeyList onClose={close} />}
    </>
  );
}

function KeyList({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="dialog" onClose={onClose} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl className="details">
        {SHORTCUTS.flatMap(([key, does]) => [
          <dt key={key}>
            <kbd>{key}</kbd>
          </dt>,
          <dd key={does}>{does}</dd>,
        ])}
      </dl>
      <div className="dialog-actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}

/** Open rooms whose people are listed: each takes a request. */
const MOST_LISTED = 20;
/** Pages of events in which the people of the other rooms are searched. */
const MOST_PAGES = 5;
const EVENTS_OF_PAGE = 1_000;
/** Entries that are shown of one kind. */
const MOST_SHOWN = 8;

type Entry = {
  readonly kind: 'View' | 'Command' | 'Room' | 'Person' | 'Id';
  readonly text: string;
  readonly path: string;
};

/** Changes that a view offers, each with the address that opens its dialog. */
const COMMANDS: readonly Entry[] = [
  { kind: 'Command', text: 'Create a room', path: '/rooms?do=create' },
  { kind: 'Command', text: 'Make a plan', path: '/plans?do=create' },
  { kind: 'Command', text: 'Register a webhook', path: '/webhooks?do=create' },
  { kind: 'Command', text: 'Create an API key', path: '/keys?do=create' },
];

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The views in which ids are shown, by the beginning of the id. */
const IDS: readonly (readonly [beginning: RegExp, text: string, path: (id: string) => string])[] = [
  [/^wh_/, 'Webhook', (id) => `/webhooks/${id}`],
  [/^dlv_/, 'What happened to delivery', (id) => `/explain/delivery/${id}`],
  [/^(?:EG_|rec_)/, 'Recording', (id) => `/recordings/${id}`],
  [/^(?:EG_|rec_)/, 'What happened to recording', (id) => `/explain/recording/${id}`],
  [/^tr_/, 'Transcription', (id) => `/transcriptions/${id}`],
  [/^RM_/, 'Session', (id) => `/sessions/${id}`],
  [/^key_/, 'API key', (id) => `/keys?open=${id}`],
  [/^key_/, 'Requests of API key', (id) => `/audit?key=${id}`],
  [/^bc_/, 'Broadcast', (id) => `/broadcasts?open=${id}`],
  [UUID, 'Request', (id) => `/audit?request=${id}`],
  [UUID, 'What happened to request', (id) => `/explain/request/${id}`],
];

const MOVES: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

type PaletteProps = { readonly views: readonly View[]; readonly onClose: () => void };

/** Finds views, commands, rooms, people and ids by what is typed, and opens them. */
function Palette({ views, onClose }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  const { entries, isWhole } = useEntries(views, typed);
  const type = (text: string): void => {
    setTyped(text);
    setChosen(0);
  };
  useEffect(() => dialog.current?.showModal(), []);
  const open = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    dialog.current?.close();
    navigate(entry.path);
  };
  const onKeyDown = (event: ReactKeyboardEvent): void => {
    const move = MOVES[event.key];
    if (event.key === 'Enter') open(entries[chosen]);
    else if (move === undefined || entries.length === 0) return;
    else setChosen((before) => (before + move + entries.length) % entries.length);
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} className="dialog palette" onClose={onClose} aria-label="Search everything">
      <input
        type="text"
        role="combobox"
        aria-label="Search everything"
        aria-expanded={entries.length > 0}
        aria-controls="palette-entries"
        aria-activedescendant={entries.length === 0 ? undefined : `palette-${chosen}`}
        placeholder="A view, a command, a room, a person or an id"
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={({ target }) => type(target.value)}
        onKeyDown={onKeyDown}
      />
      <EntryList entries={entries} chosen={chosen} onOpen={open} />
      {entries.length === 0 && <p className="faint">Nothing is called so.</p>}
      {!isWhole && <p className="faint">Who joined a smaller room long ago is not searched.</p>}
    </dialog>
  );
}

type ListProps = {
  readonly entries: readonly Entry[];
  readonly chosen: number;
  readonly onOpen: (entry: Entry) => void;
};

function EntryList({ entries, chosen, onOpen }: ListProps) {
  return (
    <div role="listbox" id="palette-entries" aria-label="Found" className="palette-entries">
      {entries.map((entry, index) => (
        <PaletteEntry
          key={`${entry.kind} ${entry.path} ${entry.text}`}
          id={`palette-${index}`}
          entry={entry}
          isChosen={index === chosen}
          onOpen={() => onOpen(entry)}
        />
      ))}
    </div>
  );
}

type EntryProps = {
  readonly id: string;
  readonly entry: Entry;
  readonly isChosen: boolean;
  readonly onOpen: () => void;
};

function PaletteEntry({ id, entry: { kind, text }, isChosen, onOpen }: EntryProps) {
  const option = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isChosen) option.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, and its keys choose and open
    <div
      ref={option}
      role="option"
      id={id}
      tabIndex={-1}
      className="place"
      aria-selected={isChosen}
      onClick={onOpen}
    >
      <span>{text}</span>
      <span className="faint">{kind}</span>
    </div>
  );
}

function useEntries(views: readonly View[], typed: string) {
  const { isReadOnly } = useConsole().info;
  const id = typed.trim();
  const wanted = id.toLowerCase();
  const rooms = useRooms();
  const people = usePeople(rooms, useDebounced(wanted));
  return useMemo(() => {
    const isWanted = ({ text }: Pick<Entry, 'text'>): boolean => text.toLowerCase().includes(wanted);
    const shown = [
      views.map(({ path, name }): Entry => ({ kind: 'View', text: name, path })),
      isReadOnly ? [] : COMMANDS,
      wanted === '' ? [] : rooms.map((text): Entry => ({ kind: 'Room', text, path: roomLink(text) })),
      people.entries,
    ].flatMap((entries) => entries.filter(isWanted).slice(0, wanted === '' ? undefined : MOST_SHOWN));
    const ids = IDS.filter(([beginning]) => beginning.test(id)).map(
      ([, text, toPath]): Entry => ({
        kind: 'Id',
        text: `${text} ${id}`,
        path: toPath(encodeURIComponent(id)),
      }),
    );
    return { entries: [...shown, ...ids], isWhole: people.isWhole };
  }, [views, isReadOnly, wanted, id, rooms, people]);
}

const NO_ROOMS: readonly string[] = [];

/** The names of the open rooms, those with most people first. */
function useRooms(): readonly string[] {
  const { data } = useQuery({ queryKey: KEYS.rooms(), queryFn: () => client.rooms.list() });
  return useMemo(() => {
    const sorted = data?.rooms.toSorted((one, other) => other.numParticipants - one.numParticipants);
    return sorted?.map(({ name }) => name) ?? NO_ROOMS;
  }, [data]);
}

type People = { readonly entries: readonly Entry[]; readonly isWhole: boolean };

const NOBODY: People = { entries: [], isWhole: true };

/** People who are in a room now, once two letters are typed. */
function usePeople(rooms: readonly string[], wanted: string): People {
  const { data } = useQuery({
    queryKey: ['people', ...rooms],
    queryFn: () => findPeople(rooms),
    enabled: wanted.length >= 2 && rooms.length > 0,
  });
  return data ?? NOBODY;
}

/**
 * Finds the people of the fullest rooms by their lists, and those of the others by the newest events: whoever has joined and
 * not left. So as many rooms as there are take a few requests.
 */
async function findPeople(rooms: readonly string[]): Promise<People> {
  const listed = rooms.slice(0, MOST_LISTED);
  const lists = await Promise.all(
    listed.map(async (room) => {
      const { participants } = await client.participants.list(room).catch(() => ({ participants: [] }));
      return participants.map((person) => describePerson(person, room));
    }),
  );
  if (rooms.length === listed.length) return { entries: lists.flat(), isWhole: true };
  const others = new Set(rooms.slice(MOST_LISTED));
  const seen = new Set<string>();
  const entries = lists.flat();
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const types = ['participant_joined', 'participant_left'] as const;
    const { events, nextCursor } = await client.events.list({
      types,
      order: 'newest',
      limit: EVENTS_OF_PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const event of events) {
      if (event.event !== 'participant_joined' && event.event !== 'participant_left') continue;
      const key = `${event.room.name} ${event.participant.identity}`;
      if (seen.has(key) || !others.has(event.room.name)) continue;
      seen.add(key);
      if (event.event === 'participant_joined')
        entries.push(describePerson(event.participant, event.room.name));
    }
    if (events.length < EVENTS_OF_PAGE) return { entries, isWhole: true };
    cursor = nextCursor;
  }
  return { entries, isWhole: false };
}

function describePerson(person: Person, room: string): Entry {
  return { kind: 'Person', text: `${showPerson(person)} in ${room}`, path: roomLink(room) };
}
