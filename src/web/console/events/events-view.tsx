import { useMemo, useState } from 'react';
import { EVENT_TYPES } from '../../../contract/event-names.ts';
import type { Event } from '../../../contract/events.ts';
import { commandOf } from '../parts/command-line.tsx';
import { DataTable, type TableColumn } from '../parts/data-table.tsx';
import { LAST_HOUR, type Period, PeriodSelect } from '../parts/period-select.tsx';
import { Problem } from '../parts/problem.tsx';
import { Clock } from '../parts/time.tsx';
import { useDebounced } from '../parts/use-debounced.ts';
import { Empty, Loading, View } from '../parts/view.tsx';
import { EventPanel } from './event-panel.tsx';
import { type EventFilter, useEventStream } from './use-event-stream.ts';

/** The live stream of events, newest first. */
export function Events() {
  const [room, setRoom] = useState('');
  const [type, setType] = useState('');
  const [period, setPeriod] = useState<Period>(LAST_HOUR);
  const [selected, setSelected] = useState<Event>();
  const filter = useFilter(room, type, period);
  const { events, error, isLoaded } = useEventStream(filter);
  const command = commandOf(
    'events',
    'tail',
    ...(room === '' ? [] : ['--room', room]),
    ...(type === '' ? [] : ['--events', type]),
    '--since',
    period.option,
  );
  return (
    <View
      title="Events"
      note={isLoaded ? `${events.length.toLocaleString()} in this period` : undefined}
      command={command}
      isFilled
    >
      <div className="filters">
        <input
          type="search"
          placeholder="Name of a room"
          aria-label="Only events of this room"
          value={room}
          onChange={(event) => setRoom(event.target.value)}
        />
        <select
          aria-label="Only events of this kind"
          value={type}
          onChange={(event) => setType(event.target.value)}
        >
          <option value="">All kinds</option>
          {EVENT_TYPES.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <PeriodSelect value={period} onChange={setPeriod} />
      </div>
      {error !== undefined && <Problem error={error} />}
      {!isLoaded && error === undefined && <Loading />}
      {isLoaded && events.length === 0 && (
        <Empty title="Nothing has happened in this period">
          <p>
            Events appear here as they happen: when a room opens, when somebody joins, when a recording ends.
          </p>
        </Empty>
      )}
      {events.length > 0 && (
        <div className={selected === undefined ? 'split' : 'split split-open'}>
          <DataTable
            label="Events"
            columns={COLUMNS}
            rows={events}
            idOf={({ id }) => id}
            onSelect={setSelected}
            selectedId={selected?.id}
          />
          {selected !== undefined && (
            <EventPanel key={selected.id} event={selected} onClose={() => setSelected(undefined)} />
          )}
        </div>
      )}
    </View>
  );
}

function useFilter(room: string, type: string, period: Period): EventFilter {
  const settled = useDebounced(room.trim());
  return useMemo(
    () => ({
      room: settled === '' ? undefined : settled,
      types: EVENT_TYPES.filter((name) => name === type),
      since: new Date(Date.now() - period.ms).toISOString(),
    }),
    [settled, type, period],
  );
}

const COLUMNS: readonly TableColumn<Event>[] = [
  {
    id: 'time',
    heading: 'Time',
    width: 'minmax(6rem, 7.5rem)',
    cell: ({ timestamp }) => <Clock at={timestamp} />,
  },
  {
    id: 'event',
    heading: 'Event',
    width: 'minmax(9.5rem, 1fr)',
    cell: ({ event }) => (
      <button type="button" className="cell-link">
        {event}
      </button>
    ),
  },
  {
    id: 'room',
    heading: 'Room',
    width: 'minmax(6rem, 1fr)',
    cell: ({ room }) => room?.name ?? <span className="faint">—</span>,
  },
  {
    id: 'about',
    heading: 'About',
    width: 'minmax(8rem, 2fr)',
    isSecondary: true,
    cell: aboutOf,
  },
];

/** The subject of an event. */
function aboutOf({ participant, recording, ingress, transcription, track }: Event) {
  const source = track !== undefined && 'source' in track ? ` · ${String(track.source).toLowerCase()}` : '';
  if (participant !== undefined) {
    const reason = 'leaveReason' in participant ? ` · ${participant.leaveReason}` : '';
    return `${participant.name === '' ? participant.identity : participant.name}${source}${reason}`;
  }
  if (recording !== undefined) return `${recording.egressId} · ${recording.status}`;
  if (ingress !== undefined) return ingress.ingressId;
  return transcription?.transcriptionId ?? '';
}
