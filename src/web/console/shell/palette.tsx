import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { useDebounced } from '../parts/use-pages.ts';
import { roomLink } from '../rooms/room-facts.ts';
import { useConsole } from './console-state.tsx';

/** Open rooms whose people are searched: each takes a request. */
const MOST_ROOMS = 20;
/** Entries that are shown of one kind. */
const MOST_SHOWN = 8;

type View = { readonly path: string; readonly name: string };

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

type Props = { readonly views: readonly View[]; readonly onClose: () => void };

/** Finds views, commands, rooms, people and ids by what is typed, and opens them. */
export function Palette({ views, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  const entries = useEntries(views, typed);
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
  const onKeyDown = (event: KeyboardEvent): void => {
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

function useEntries(views: readonly View[], typed: string): readonly Entry[] {
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
      people,
    ].flatMap((entries) => entries.filter(isWanted).slice(0, wanted === '' ? undefined : MOST_SHOWN));
    const ids = IDS.filter(([beginning]) => beginning.test(id)).map(
      ([, text, toPath]): Entry => ({
        kind: 'Id',
        text: `${text} ${id}`,
        path: toPath(encodeURIComponent(id)),
      }),
    );
    return [...shown, ...ids];
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

const NOBODY: readonly Entry[] = [];

/** People who are in a room now, once two letters are typed. */
function usePeople(rooms: readonly string[], wanted: string): readonly Entry[] {
  const names = rooms.slice(0, MOST_ROOMS);
  const { data } = useQuery({
    queryKey: ['people', ...names],
    queryFn: async () => {
      const lists = await Promise.all(
        names.map(async (room) => {
          const { participants } = await client.participants.list(room).catch(() => ({ participants: [] }));
          return participants.map(({ identity, name }): Entry => {
            const called = name === '' || name === identity ? identity : `${name} (${identity})`;
            return { kind: 'Person', text: `${called} in ${room}`, path: roomLink(room) };
          });
        }),
      );
      return lists.flat();
    },
    enabled: wanted.length >= 2 && names.length > 0,
  });
  return data ?? NOBODY;
}
