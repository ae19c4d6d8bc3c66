import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useMemo } from 'react';
import { useLocation } from 'wouter';
import type { Room } from '../../../contract/rooms.ts';
import { client } from '../api/client.ts';
import type { LiveFacts } from '../api/live-facts.ts';
import { KEYS } from '../api/query-keys.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { writeCommand } from '../parts/command-line.tsx';
import { CellLink, DataTable, type TableColumn } from '../parts/data-table.tsx';
import { askForDraft } from '../parts/draft-fields.tsx';
import { Problem } from '../parts/problem.tsx';
import { Status } from '../parts/status.tsx';
import { Ago } from '../parts/time.tsx';
import { useAddress } from '../parts/use-address.ts';
import { Empty, Loading, View } from '../parts/view.tsx';
import { useConsole } from '../shell/console-state.tsx';
import { countParticipants, createdAtMs, isRecorded, roomLink } from './room-facts.ts';

const NONE: readonly Room[] = [];

/** The currently open rooms. */
type FilterProps = { readonly wanted: string; readonly onChange: (text: string) => void };

function RoomFilter({ wanted, onChange }: FilterProps) {
  return (
    <div className="filters">
      <input
        type="search"
        placeholder="Find a room"
        aria-label="Find a room"
        value={wanted}
        onChange={({ target }) => onChange(target.value)}
      />
    </div>
  );
}

export function Rooms() {
  const { facts } = useConsole();
  const [, navigate] = useLocation();
  const { read, change } = useAddress();
  const wanted = read('text');
  const { data, error, refetch } = useQuery({ queryKey: KEYS.rooms(), queryFn: () => client.rooms.list() });
  const rooms = data?.rooms ?? NONE;
  const columns = useMemo(() => createColumns(facts), [facts]);
  const shown = useMemo(() => findRooms(rooms, wanted), [rooms, wanted]);
  return (
    <View
      title="Rooms"
      note={data === undefined ? undefined : `${rooms.length} open`}
      command="rtc rooms list"
      actions={<CreateRoom />}
      isFilled
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && rooms.length === 0 && (
        <Empty title="No room is open">
          <p>A room opens when somebody joins it, or when you create it. It appears here by itself.</p>
        </Empty>
      )}
      {rooms.length > 0 && (
        <>
          <RoomFilter wanted={wanted} onChange={(text) => change({ text })} />
          <DataTable
            label="Open rooms"
            columns={columns}
            rows={shown}
            getId={(room) => room.sid}
            onSelect={(room) => navigate(roomLink(room.name))}
          />
        </>
      )}
    </View>
  );
}

/** Returns the rooms whose names have the text, the newest first. */
function findRooms(rooms: readonly Room[], wanted: string): readonly Room[] {
  const text = wanted.trim().toLowerCase();
  return rooms
    .filter(({ name }) => name.toLowerCase().includes(text))
    .toSorted((one, other) => createdAtMs(other) - createdAtMs(one));
}

function createColumns(facts: LiveFacts): readonly TableColumn<Room>[] {
  return [
    {
      id: 'name',
      heading: 'Room',
      width: 'minmax(7rem, 2fr)',
      sortBy: ({ name }) => name,
      cell: ({ name }) => <CellLink href={roomLink(name)}>{name}</CellLink>,
    },
    {
      id: 'participants',
      heading: 'Participants',
      width: 'minmax(5.5rem, 1fr)',
      sortBy: (room) => countParticipants(room, facts),
      cell: (room) => {
        const count = countParticipants(room, facts);
        return room.maxParticipants === 0 ? count : `${count} of ${room.maxParticipants}`;
      },
    },
    {
      id: 'recording',
      heading: 'Recording',
      width: 'minmax(6.5rem, 1fr)',
      sortBy: (room) => (isRecorded(room, facts) ? 1 : 0),
      cell: (room) =>
        isRecorded(room, facts) ? <Status tone="active">Recording</Status> : <span className="faint">—</span>,
    },
    {
      id: 'created',
      heading: 'Opened',
      width: 'minmax(7rem, 1fr)',
      isSecondary: true,
      sortBy: createdAtMs,
      cell: (room) => <Ago at={createdAtMs(room)} />,
    },
  ];
}

/** The texts in the fields of a new room. An empty one is left to the service. */
type Draft = {
  readonly name: string;
  readonly maxParticipants: string;
  readonly emptyMinutes: string;
  readonly metadata: string;
};

const EMPTY: Draft = { name: '', maxParticipants: '', emptyMinutes: '', metadata: '' };

function CreateRoom() {
  const [, navigate] = useLocation();
  return (
    <ChangeButton
      className="primary"
      action="create"
      change={() => ({
        question: 'Create a room',
        verb: 'Create',
        ...askForDraft({
          initial: EMPTY,
          writeCommand: toCommand,
          fields: (draft, change) => <RoomFields draft={draft} onChange={change} />,
          run: async ({ name, maxParticipants, emptyMinutes, metadata }) => {
            const { room } = await client.rooms.create({
              name,
              ...(maxParticipants === '' ? {} : { maxParticipants: Number(maxParticipants) }),
              ...(emptyMinutes === '' ? {} : { emptyTimeout: Number(emptyMinutes) * 60 }),
              ...(metadata === '' ? {} : { metadata }),
            });
            navigate(roomLink(room.name));
          },
        }),
      })}
    >
      <Plus aria-hidden /> Create a room
    </ChangeButton>
  );
}

function toCommand({ name, maxParticipants, emptyMinutes, metadata }: Draft): string {
  return writeCommand(
    ...['rooms', 'create', name === '' ? 'NAME' : name],
    ...(maxParticipants === '' ? [] : ['--max-participants', maxParticipants]),
    ...(emptyMinutes === '' ? [] : ['--empty-timeout', `${emptyMinutes}m`]),
    ...(metadata === '' ? [] : ['--metadata', metadata]),
  );
}

type FieldsProps = { readonly draft: Draft; readonly onChange: (changed: Partial<Draft>) => void };

function RoomFields({ draft, onChange }: FieldsProps) {
  return (
    <>
      <label className="field">
        Name
        <input
          value={draft.name}
          required
          maxLength={256}
          placeholder="demo"
          onChange={(event) => onChange({ name: event.target.value })}
        />
      </label>
      <div className="fields">
        <NumberField
          label="People at most"
          value={draft.maxParticipants}
          placeholder="no limit"
          onChange={(maxParticipants) => onChange({ maxParticipants })}
        />
        <NumberField
          label="Closed when empty, minutes"
          value={draft.emptyMinutes}
          placeholder="as LiveKit is set"
          onChange={(emptyMinutes) => onChange({ emptyMinutes })}
        />
      </div>
      <label className="field">
        Metadata
        <textarea
          className="mono"
          value={draft.metadata}
          rows={3}
          spellCheck={false}
          placeholder='{"appointment":"A-1042"}'
          aria-describedby="metadata-note"
          onChange={(event) => onChange({ metadata: event.target.value })}
        />
        <span className="faint" id="metadata-note">
          A text for everybody in the room, and for each of its events
        </span>
      </label>
    </>
  );
}

type NumberFieldProps = {
  readonly label: string;
  readonly value: string;
  readonly placeholder: string;
  readonly onChange: (value: string) => void;
};

function NumberField({ label, value, placeholder, onChange }: NumberFieldProps) {
  return (
    <label className="field">
      {label}
      <input
        type="number"
        value={value}
        min={1}
        placeholder={placeholder}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}
