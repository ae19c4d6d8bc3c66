import { Link, useLocation } from 'wouter';
import { LIVE_STATES, type LiveSummary } from '../../../contract/transcription.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { writeCommand } from '../parts/command-line.tsx';
import { CellLink, DataTable, type TableColumn } from '../parts/data-table.tsx';
import { RoomFilter } from '../parts/find-and-save.tsx';
import { Problem } from '../parts/problem.tsx';
import { Status, type Tone } from '../parts/status.tsx';
import { Clock } from '../parts/time.tsx';
import { useAddress } from '../parts/use-address.ts';
import { useDebounced, usePages } from '../parts/use-pages.ts';
import { Empty, Loading, View } from '../parts/view.tsx';

const PAGE_SIZE = 100;

/** The view lists the live transcriptions of all rooms, the newest first. */
export function LiveTranscriptions() {
  const { read } = useAddress();
  const [, navigate] = useLocation();
  const roomId = useDebounced(read('room').trim()) || undefined;
  const status = LIVE_STATES.find((state) => state === read('status'));
  const { items, count, error, refetch, loadMore } = usePages({
    queryKey: [...KEYS.transcriptions(), 'live', roomId ?? '', status ?? ''],
    read: async (cursor) => {
      const page = await client.transcription.list({ roomId, status, limit: PAGE_SIZE, cursor });
      return { items: page.transcriptions, nextCursor: page.nextCursor };
    },
  });
  const options = [...(roomId ? ['--room', roomId] : []), ...(status ? ['--status', status] : [])];
  return (
    <View
      title="Live transcriptions"
      note={count}
      command={writeCommand('transcription', 'list', ...options)}
      actions={
        <Link className="button" href="/transcriptions">
          Of recordings
        </Link>
      }
      isFilled
    >
      <Filters />
      {error !== null && <Problem error={error} onRetry={refetch} />}
      {items === undefined && error === null && <Loading />}
      {items?.length === 0 && (
        <Empty title="No room has been transcribed">
          <p>Open a room and press Transcribe: what is said appears as captions, and here.</p>
        </Empty>
      )}
      {items !== undefined && items.length > 0 && (
        <DataTable
          label="Live transcriptions"
          columns={COLUMNS}
          rows={items}
          getId={({ transcriptionId }) => transcriptionId}
          onEnd={loadMore}
          onSelect={(transcription) => navigate(toLink(transcription))}
        />
      )}
    </View>
  );
}

function Filters() {
  const { read, change } = useAddress();
  return (
    <div className="filters">
      <RoomFilter what="transcriptions" value={read('room')} onChange={(room) => change({ room })} />
      <select
        aria-label="Only transcriptions in this state"
        value={read('status')}
        onChange={({ target }) => change({ status: target.value })}
      >
        <option value="">All states</option>
        {LIVE_STATES.map((state) => (
          <option key={state}>{state}</option>
        ))}
      </select>
    </div>
  );
}

/** An active one is followed at its room. */
function toLink({ status, roomId, transcriptionId }: LiveSummary): string {
  if (status === 'active') return `/transcriptions/live/${encodeURIComponent(roomId)}`;
  return `/transcriptions/${transcriptionId}`;
}

const TONES: Readonly<Record<LiveSummary['status'], Tone>> = {
  active: 'active',
  stopped: 'neutral',
  failed: 'bad',
};

const COLUMNS: readonly TableColumn<LiveSummary>[] = [
  {
    id: 'room',
    heading: 'Room',
    width: 'minmax(7rem, 2fr)',
    cell: (transcription) => <CellLink href={toLink(transcription)}>{transcription.roomId}</CellLink>,
  },
  {
    id: 'status',
    heading: 'State',
    width: 'minmax(6rem, 1fr)',
    cell: ({ status }) => <Status tone={TONES[status]}>{status}</Status>,
  },
  {
    id: 'started',
    heading: 'Started',
    width: 'minmax(7rem, 1fr)',
    cell: ({ startedAt }) => <Clock at={startedAt} />,
  },
  {
    id: 'stopped',
    heading: 'Stopped',
    width: 'minmax(7rem, 1fr)',
    isSecondary: true,
    cell: ({ stoppedAt }) => <Clock at={stoppedAt} />,
  },
  {
    id: 'language',
    heading: 'Language',
    width: 'minmax(5rem, 0.6fr)',
    isSecondary: true,
    cell: ({ language }) => language,
  },
  {
    id: 'error',
    heading: 'Error',
    width: 'minmax(8rem, 2fr)',
    isSecondary: true,
    cell: ({ error }) => error?.message ?? <span className="faint">—</span>,
  },
];
