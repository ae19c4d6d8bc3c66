import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useMemo } from 'react';
import { useLocation } from 'wouter';
import type { Room } from '../../../contract/rooms.ts';
import { client } from '../api/client.ts';
import { KEYS, type LiveFacts } from '../api/query-keys.ts';
import { askForDraft, ChangeButton } from '../parts/changes.tsx';
import { writeCommand } from '../parts/command-line.tsx';
import { CellLink, DataTable, type TableColumn } from '../parts/data-table.tsx';
import { TextField } from '../parts/fields.tsx';
import { SearchFilter } from '../parts/find-and-save.tsx';
import { Problem } from '../parts/problem.tsx';
import { Status } from '../parts/status.tsx';
import { Ago } from '../parts/time.tsx';
import { useAddress } from '../parts/use-address.ts';
import { Empty, Loading, View } from '../parts/view.tsx';
import { readSettings, type SettingsDraft, toSettingsDraft, writeOptions } from '../plans/room-settings.ts';
import { SettingsFields } from '../plans/settings-fields.tsx';
import { useConsole } from '../shell/console-state.tsx';
import { countParticipants, createdAtMs, roomLink, useRecordedRooms } from './room-facts.ts';

const NONE: readonly Room[] = [];

/** Shows the rooms that are open now. */
export function Rooms() {
  const { facts } = useConsole();
  const [, navigate] = useLocation();
  const { read } = useAddress();
  const wanted = read('text');
  const { data, error, refetch } = useQuery({ queryKey: KEYS.rooms(), queryFn: () => client.rooms.list() });
  const rooms = data?.rooms ?? NONE;
  const recorded = useRecordedRooms();
  const columns = useMemo(() => createColumns(facts, recorded), [facts, recorded]);
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
          <div className="filters">
            <SearchFilter name="text" placeholder="Find a room" label="Find a room" />
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

/** Returns the rooms whose names have the text, the newest first. */
function findRooms(rooms: readonly Room[], wanted: string): readonly Room[] {
  const text = wanted.trim().toLowerCase();
  return rooms
    .filter(({ name }) => name.toLowerCase().includes(text))
    .toSorted((one, other) => createdAtMs(other) - createdAtMs(one));
}

function createColumns(facts: LiveFacts, recorded: ReadonlySet<string>): readonly TableColumn<Room>[] {
  return [
    {
      heading: 'Room',
      width: 'minmax(7rem, 2fr)',
      sortBy: ({ name }) => name,
      cell: ({ name }) => <CellLink href={roomLink(name)}>{name}</CellLink>,
    },
    {
      heading: 'Participants',
      width: 'minmax(5.5rem, 1fr)',
      sortBy: (room) => countParticipants(room, facts),
      cell: (room) => {
        const count = countParticipants(room, facts);
        return room.maxParticipants === 0 ? count : `${count} of ${room.maxParticipants}`;
      },
    },
    {
      heading: 'Recording',
      width: 'minmax(6.5rem, 1fr)',
      sortBy: ({ name }) => (recorded.has(name) ? 1 : 0),
      cell: ({ name }) =>
        recorded.has(name) ? <Status tone="active">Recording</Status> : <span className="faint">—</span>,
    },
    {
      heading: 'Broadcast',
      width: 'minmax(6.5rem, 1fr)',
      isSecondary: true,
      sortBy: ({ activeBroadcast }) => (activeBroadcast ? 1 : 0),
      cell: ({ activeBroadcast }) =>
        activeBroadcast ? <Status tone="active">On air</Status> : <span className="faint">—</span>,
    },
    {
      heading: 'Opened',
      width: 'minmax(7rem, 1fr)',
      isSecondary: true,
      sortBy: createdAtMs,
      cell: (room) => <Ago at={createdAtMs(room)} />,
    },
  ];
}

type Draft = SettingsDraft & { readonly name: string };

function CreateRoom() {
  const [, navigate] = useLocation();
  return (
    <ChangeButton
      className="primary"
      action="create"
      question="Create a room"
      verb="Create"
      {...askForDraft<Draft>({
        initial: { name: '', ...toSettingsDraft({}) },
        writeCommand: (draft) =>
          writeCommand(
            ...['rooms', 'create', draft.name === '' ? 'NAME' : draft.name],
            ...writeOptions(readSettings(draft)),
          ),
        fields: (draft, change) => (
          <>
            <TextField
              label="Name"
              value={draft.name}
              required
              maxLength={256}
              placeholder="demo"
              onChange={(name) => change({ name })}
            />
            <SettingsFields draft={draft} onChange={change} />
          </>
        ),
        run: async (draft) => {
          const { room } = await client.rooms.create({ name: draft.name, ...readSettings(draft) });
          navigate(roomLink(room.name));
        },
      })}
    >
      <Plus aria-hidden /> Create a room
    </ChangeButton>
  );
}
