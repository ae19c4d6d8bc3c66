import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Recording } from '../../../contract/recordings.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { writeCommand } from '../parts/command-line.tsx';
import { DataTable, type TableColumn } from '../parts/data-table.tsx';
import { Problem } from '../parts/problem.tsx';
import { Clock, describePosition } from '../parts/time.tsx';
import { useDebounced, usePages } from '../parts/use-pages.ts';
import { Empty, Loading, View } from '../parts/view.tsx';
import { describeBytes, RECORDING_STATES, RecordingStatus } from './recording-status.tsx';

const PAGE_SIZE = 100;

/** The library of recordings, newest first. */
export function Recordings() {
  const [room, setRoom] = useState('');
  const [status, setStatus] = useState<Recording['status']>();
  const [, navigate] = useLocation();
  const roomId = useDebounced(room.trim()) || undefined;
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
  const isFiltered = roomId !== undefined || status !== undefined;
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
      <div className="filters">
        <input
          type="search"
          placeholder="Name of a room"
          aria-label="Only recordings of this room"
          value={room}
          onChange={(event) => setRoom(event.target.value)}
        />
        <select
          aria-label="Only recordings in this state"
          value={status ?? ''}
          onChange={(event) => setStatus(RECORDING_STATES.find((state) => state === event.target.value))}
        >
          <option value="">All states</option>
          {RECORDING_STATES.map((state) => (
            <option key={state}>{state}</option>
          ))}
        </select>
      </div>
      {error !== null && <Problem error={error} onRetry={refetch} />}
      {items === undefined && error === null && <Loading />}
      {items?.length === 0 && (
        <Empty title={isFiltered ? 'No recording is like that' : 'Nothing was recorded yet'}>
          <p>
            {isFiltered ? 'Try other filters.' : 'Open a room and press Record: its recording appears here.'}
          </p>
        </Empty>
      )}
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
