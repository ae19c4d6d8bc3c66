import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Recording } from '../../../contract/recordings.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { writeCommand } from '../parts/command-line.tsx';
import { DataTable, type TableColumn } from '../parts/data-table.tsx';
import { Problem } from '../parts/problem.tsx';
import { RoomFilter } from '../parts/room-filter.tsx';
import { Clock, describePosition } from '../parts/time.tsx';
import { useDebounced, usePages } from '../parts/use-pages.ts';
import { Empty, Loading, View } from '../parts/view.tsx';
import { describeBytes, RECORDING_STATES, RecordingStatus } from './recording-status.tsx';

const PAGE_SIZE = 100;

/** The fields of the filter. */
type Typed = { readonly room: string; readonly status: Recording['status'] | undefined };

/** The library of recordings, newest first. */
export function Recordings() {
  const [typed, setTyped] = useState<Typed>({ room: '', status: undefined });
  const [, navigate] = useLocation();
  const roomId = useDebounced(typed.room.trim()) || undefined;
  const { status } = typed;
  const { items, count, error, refetch, loadMore } = usePages({
    queryKey: [...KEYS.recordings(), roomId ?? '', status ?? ''],
    read: async (cursor) => {
      const { recordings, nextCursor } = await client.recordings.list({
        roomId,
        status,
        limit: PAGE_SIZE,
        cursor,
      });
      return { items: recordings, nextCursor };
    },
  });
  return (
    <View
      title="Recordings"
      note={count}
      command={writeCommand(
        'recordings',
        'list',
        ...(roomId === undefined ? [] : ['--room', roomId]),
        ...(status === undefined ? [] : ['--status', status]),
      )}
      isFilled
    >
      <Filters typed={typed} onChange={(changed) => setTyped((before) => ({ ...before, ...changed }))} />
      {error !== null && <Problem error={error} onRetry={refetch} />}
      {items === undefined && error === null && <Loading />}
      {items?.length === 0 && <NoRecordings isFiltered={roomId !== undefined || status !== undefined} />}
      {items !== undefined && items.length > 0 && (
        <DataTable
          label="Recordings"
          columns={COLUMNS}
          rows={items}
          getId={({ recordingId }) => recordingId}
          onEnd={loadMore}
          onSelect={({ recordingId }) => navigate(toLink(recordingId))}
        />
      )}
    </View>
  );
}

type FiltersProps = { readonly typed: Typed; readonly onChange: (changed: Partial<Typed>) => void };

function Filters({ typed, onChange }: FiltersProps) {
  return (
    <div className="filters">
      <RoomFilter what="recordings" value={typed.room} onChange={(room) => onChange({ room })} />
      <select
        aria-label="Only recordings in this state"
        value={typed.status ?? ''}
        onChange={(event) =>
          onChange({ status: RECORDING_STATES.find((state) => state === event.target.value) })
        }
      >
        <option value="">All states</option>
        {RECORDING_STATES.map((state) => (
          <option key={state}>{state}</option>
        ))}
      </select>
    </div>
  );
}

function NoRecordings({ isFiltered }: { readonly isFiltered: boolean }) {
  return (
    <Empty title={isFiltered ? 'No recording is like that' : 'Nothing was recorded yet'}>
      <p>{isFiltered ? 'Try other filters.' : 'Open a room and press Record: its recording appears here.'}</p>
    </Empty>
  );
}

function toLink(recordingId: string): string {
  return `/recordings/${encodeURIComponent(recordingId)}`;
}

const COLUMNS: readonly TableColumn<Recording>[] = [
  {
    id: 'room',
    heading: 'Room',
    width: 'minmax(7rem, 2fr)',
    cell: ({ recordingId, roomId }) => (
      <Link href={toLink(recordingId)} className="cell-link" onClick={(event) => event.stopPropagation()}>
        {roomId}
      </Link>
    ),
  },
  {
    id: 'status',
    heading: 'State',
    width: 'minmax(6.5rem, 1fr)',
    cell: ({ status }) => <RecordingStatus status={status} />,
  },
  {
    id: 'started',
    heading: 'Started',
    width: 'minmax(6rem, 1fr)',
    cell: ({ startedAt }) => <Clock at={startedAt} />,
  },
  {
    id: 'duration',
    heading: 'Duration',
    width: 'minmax(5rem, 0.6fr)',
    isSecondary: true,
    cell: ({ durationMs }) => (durationMs === null ? '—' : describePosition(durationMs / 1000)),
  },
  {
    id: 'size',
    heading: 'Size',
    width: 'minmax(5rem, 0.6fr)',
    isSecondary: true,
    cell: ({ sizeBytes }) => (sizeBytes === null ? '—' : describeBytes(sizeBytes)),
  },
  {
    id: 'id',
    heading: 'Recording',
    width: 'minmax(8rem, 1.4fr)',
    isSecondary: true,
    cell: ({ recordingId }) => <code className="faint">{recordingId}</code>,
  },
];
