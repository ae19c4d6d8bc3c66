import { useLocation } from 'wouter';
import { SESSION_STATUSES } from '../../../contract/choices.ts';
import type { Session } from '../../../contract/sessions.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { writeCommand } from '../parts/command-line.tsx';
import { CellLink, type TableColumn } from '../parts/data-table.tsx';
import { FileLink } from '../parts/file-link.tsx';
import { ChoiceFilter, RoomFilter } from '../parts/find-and-save.tsx';
import { Rows } from '../parts/list-view.tsx';
import { DayFilter } from '../parts/period.tsx';
import { describePosition } from '../parts/position.ts';
import { SessionStatus } from '../parts/status.tsx';
import { Clock } from '../parts/time.tsx';
import { useAddress } from '../parts/use-address.ts';
import { useDebounced, usePages } from '../parts/use-pages.ts';
import { View } from '../parts/view.tsx';

const PAGE_SIZE = 100;

type Filter = ReturnType<typeof useFilter>;

/** Rooms from their opening to their end, newest first. */
export function Sessions() {
  const filter = useFilter();
  const [, navigate] = useLocation();
  const query = toQuery(filter);
  const { items, count, error, refetch, loadMore } = usePages({
    queryKey: [...KEYS.sessions(), 'list', JSON.stringify(filter)],
    read: (cursor) => client.sessions.list({ ...query, limit: PAGE_SIZE, cursor }),
    items: ({ sessions }) => sessions,
  });
  return (
    <View
      title="Sessions"
      note={count}
      command={listCommand(filter)}
      isFilled
      actions={
        <FileLink path={csvPath(query)} name="sessions.csv">
          Save as CSV
        </FileLink>
      }
    >
      <Filters />
      <Rows
        label="Sessions"
        columns={COLUMNS}
        rows={items}
        error={error}
        onRetry={refetch}
        empty={Object.values(filter).some((value) => value !== undefined) ? NONE_ALIKE : NO_SESSIONS}
        getId={({ sessionId }) => sessionId}
        onEnd={loadMore}
        onSelect={({ sessionId }) => navigate(`/sessions/${sessionId}`)}
      />
    </View>
  );
}

/** The days are in UTC, like the options of the command. */
function useFilter() {
  const { read } = useAddress();
  return {
    roomId: useDebounced(read('room').trim()) || undefined,
    status: SESSION_STATUSES.find((state) => state === read('status')),
    since: read('since') || undefined,
    until: read('until') || undefined,
  };
}

function Filters() {
  return (
    <div className="filters">
      <RoomFilter what="sessions" />
      <ChoiceFilter
        name="status"
        label="Only sessions in this state"
        all="Open and ended"
        choices={SESSION_STATUSES}
      />
      <DayFilter name="since" label="Opened from (UTC)" />
      <DayFilter name="until" label="before (UTC)" />
    </div>
  );
}

const NONE_ALIKE = { title: 'No session is like that', text: 'Try other filters.' };

const NO_SESSIONS = {
  title: 'No room has been open yet',
  text: 'A session is a room from its opening to its end. It appears here by itself.',
};

/** Converts the days of the filter to the instants at which they begin. */
function toQuery({ since, until, ...filter }: Filter): Filter {
  return { ...filter, since: toInstant(since), until: toInstant(until) };
}

function toInstant(day: string | undefined): string | undefined {
  return day === undefined ? undefined : `${day}T00:00:00.000Z`;
}

function listCommand({ roomId, status, since, until }: Filter): string {
  const options = { '--room': roomId, '--status': status, '--since': since, '--until': until };
  return writeCommand('sessions', 'list', options);
}

/** The command line writes the file, as `rtc sessions list --csv` does. */
function csvPath(query: Filter): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return `/console/sessions.csv?${new URLSearchParams(Object.fromEntries(given))}`;
}

const COLUMNS: readonly TableColumn<Session>[] = [
  {
    heading: 'Room',
    width: 'minmax(6rem, 2fr)',
    cell: ({ sessionId, roomId }) => <CellLink href={`/sessions/${sessionId}`}>{roomId}</CellLink>,
  },
  {
    heading: 'State',
    width: 'minmax(4.5rem, 0.7fr)',
    cell: ({ status }) => <SessionStatus status={status} />,
  },
  {
    heading: 'Opened',
    width: 'minmax(5rem, 1fr)',
    cell: ({ createdAt }) => <Clock at={createdAt} />,
  },
  {
    heading: 'Duration',
    width: 'minmax(4.5rem, 0.7fr)',
    isSecondary: true,
    cell: ({ durationMs }) => describePosition(durationMs / 1000),
  },
  {
    heading: 'People',
    width: 'minmax(3rem, 0.5fr)',
    cell: ({ totalParticipants }) => totalParticipants,
  },
  {
    heading: 'At once',
    width: 'minmax(4rem, 0.5fr)',
    isSecondary: true,
    cell: ({ peakParticipants }) => peakParticipants,
  },
  {
    heading: 'Participant minutes',
    width: 'minmax(9rem, 0.9fr)',
    isSecondary: true,
    cell: ({ participantMinutes }) => participantMinutes.toLocaleString(),
  },
  {
    heading: 'Session',
    width: 'minmax(13.25rem, 1.2fr)',
    isSecondary: true,
    cell: ({ sessionId }) => <code className="faint">{sessionId}</code>,
  },
];
