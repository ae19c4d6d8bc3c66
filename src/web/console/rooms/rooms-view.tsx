import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { Room } from '../../../contract/rooms.ts';
import { client } from '../api/client.ts';
import type { LiveFacts } from '../api/live-facts.ts';
import { KEYS } from '../api/query-keys.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { CellLink, DataTable, type TableColumn } from '../parts/data-table.tsx';
import { Problem } from '../parts/problem.tsx';
import { Status } from '../parts/status.tsx';
import { Ago } from '../parts/time.tsx';
import { Empty, Loading, View } from '../parts/view.tsx';
import { useConsole } from '../shell/console-state.tsx';
import { countParticipants, createdAtMs, isRecorded, roomLink } from './room-facts.ts';

const NONE: readonly Room[] = [];

/** The currently open rooms. */
export function Rooms() {
  const { facts } = useConsole();
  const [, navigate] = useLocation();
  const [wanted, setWanted] = useState('');
  const { data, error, refetch } = useQuery({ queryKey: KEYS.rooms(), queryFn: () => client.rooms.list() });
  const rooms = data?.rooms ?? NONE;
  const columns = useMemo(() => createColumns(facts), [facts]);
  const shown = useMemo(() => {
    const text = wanted.trim().toLowerCase();
    const found = text === '' ? rooms : rooms.filter(({ name }) => name.toLowerCase().includes(text));
    return found.toSorted((one, other) => createdAtMs(other) - createdAtMs(one));
  }, [rooms, wanted]);
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
          <div className="filters">
            <input
              type="search"
              placeholder="Find a room"
              aria-label="Find a room"
              value={wanted}
              onChange={(event) => setWanted(event.target.value)}
            />
          </div>
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

function CreateRoom() {
  const name = useRef('');
  const [, navigate] = useLocation();
  return (
    <ChangeButton
      className="primary"
      change={() => ({
        question: 'Create a room',
        fields: <NameField onName={(typed) => (name.current = typed)} />,
        verb: 'Create',
        command: 'rtc rooms create NAME',
        run: async () => {
          const { room } = await client.rooms.create({ name: name.current });
          navigate(roomLink(room.name));
        },
      })}
    >
      <Plus aria-hidden /> Create a room
    </ChangeButton>
  );
}

function NameField({ onName }: { readonly onName: (name: string) => void }) {
  const [name, setName] = useState('');
  return (
    <label className="field">
      Name
      <input
        value={name}
        required
        maxLength={256}
        placeholder="demo"
        onChange={(event) => {
          setName(event.target.value);
          onName(event.target.value);
        }}
      />
    </label>
  );
}
