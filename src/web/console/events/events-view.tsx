import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { Delivery } from '../../../contract/deliveries.ts';
import { EVENT_TYPES, type EventType } from '../../../contract/event-names.ts';
import type { Event } from '../../../contract/events.ts';
import type { Webhook } from '../../../contract/webhooks.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { writeCommand } from '../parts/command-line.tsx';
import { CellButton, type TableColumn } from '../parts/data-table.tsx';
import { type Cells, ChoiceFilter, FindAndSave, RoomFilter, useRowsWith } from '../parts/find-and-save.tsx';
import { Panel, Rows } from '../parts/list-view.tsx';
import { findBegin, type Period, PeriodSelect } from '../parts/period.tsx';
import { Problem } from '../parts/problem.tsx';
import { DeliveryStatus } from '../parts/status.tsx';
import { Clock } from '../parts/time.tsx';
import { useAddress } from '../parts/use-address.ts';
import { useDebounced } from '../parts/use-pages.ts';
import { Loading, View } from '../parts/view.tsx';

/** The live stream of events, newest first. */
export function Events() {
  const { read, change } = useAddress();
  const period = PERIODS.find(({ option }) => option === read('period')) ?? LAST_HOUR;
  const typed: Typed = { room: read('room'), type: read('type'), period };
  const filter = useFilter(typed);
  const { events: all, error, isLoaded } = useEventStream(filter);
  const events = useRowsWith(all, read('text'));
  const selectedId = read('event');
  const selected = useMemo(() => all.find(({ id }) => id === selectedId), [all, selectedId]);
  return (
    <View
      title="Events"
      note={isLoaded ? `${events.length.toLocaleString()} in this period` : undefined}
      command={tailCommand(typed)}
      isFilled
    >
      <Filters period={period} events={events} onPeriod={({ option }) => change({ period: option })} />
      <Rows
        label="Events"
        columns={COLUMNS}
        rows={isLoaded ? events : undefined}
        error={error}
        empty={{
          title: all.length > 0 ? 'No event has this text' : 'Nothing has happened in this period',
          text: 'Events appear here as they happen: when a room opens, when somebody joins, when a recording ends.',
        }}
        getId={({ id }) => id}
        onSelect={({ id }) => change({ event: id })}
        selectedId={selected?.id}
        panel={
          selected && <EventPanel key={selected.id} event={selected} onClose={() => change({ event: '' })} />
        }
      />
    </View>
  );
}

/** The fields of the filter. */
type Typed = {
  readonly room: string;
  readonly type: string;
  readonly period: EventPeriod;
};

function useFilter({ room, type, period }: Typed): EventFilter {
  const settled = useDebounced(room.trim());
  return useMemo(
    () => ({
      room: settled === '' ? undefined : settled,
      types: EVENT_TYPES.filter((name) => name === type),
      since: findBegin(period.ms),
    }),
    [settled, type, period],
  );
}

function tailCommand({ room, type, period }: Typed): string {
  return writeCommand('events', 'tail', { '--room': room, '--events': type, '--since': period.option });
}

type FiltersProps = {
  readonly period: EventPeriod;
  readonly events: readonly Event[];
  readonly onPeriod: (period: EventPeriod) => void;
};

const CELLS: Cells<Event> = {
  id: ({ id }) => id,
  time: ({ timestamp }) => timestamp,
  event: ({ event }) => event,
  room: ({ room }) => room?.name,
  participant: ({ participant }) => participant?.identity,
  payload: (event) => JSON.stringify(event),
};

function Filters({ period, events, onPeriod }: FiltersProps) {
  return (
    <div className="filters">
      <RoomFilter what="events" />
      <ChoiceFilter name="type" label="Only events of this kind" all="All kinds" choices={EVENT_TYPES} />
      <PeriodSelect periods={PERIODS} value={period} onChange={onPeriod} />
      <FindAndSave what="events" rows={events} cells={CELLS} />
    </div>
  );
}

const COLUMNS: readonly TableColumn<Event>[] = [
  {
    heading: 'Time',
    width: 'minmax(6rem, 7.5rem)',
    cell: ({ timestamp }) => <Clock at={timestamp} />,
  },
  {
    heading: 'Event',
    width: 'minmax(9.5rem, 1fr)',
    cell: ({ event }) => <CellButton>{event}</CellButton>,
  },
  {
    heading: 'Room',
    width: 'minmax(6rem, 1fr)',
    cell: ({ room }) => room?.name ?? <span className="faint">—</span>,
  },
  {
    heading: 'About',
    width: 'minmax(8rem, 2fr)',
    isSecondary: true,
    cell: describeSubject,
  },
];

/** The subject of an event. */
function describeSubject({ participant, recording, ingress, transcription, track }: Event) {
  const source = track !== undefined && 'source' in track ? ` · ${String(track.source).toLowerCase()}` : '';
  if (participant !== undefined) {
    const reason = 'leaveReason' in participant ? ` · ${participant.leaveReason}` : '';
    return `${participant.name === '' ? participant.identity : participant.name}${source}${reason}`;
  }
  if (recording !== undefined) return `${recording.egressId} · ${recording.status}`;
  if (ingress !== undefined) return ingress.ingressId;
  return transcription?.transcriptionId ?? '';
}

type PanelProps = { readonly event: Event; readonly onClose: () => void };

/** One event: its payload as webhooks get it, and the state of its deliveries. */
function EventPanel({ event, onClose }: PanelProps) {
  const { id, event: name } = event;
  const found = useQuery({
    queryKey: [...KEYS.deliveries(), 'of', id],
    queryFn: () => findDeliveries(event),
  });
  return (
    <Panel title={name} label={`Event ${name}`} onClose={onClose}>
      <h3>Deliveries</h3>
      {found.error !== null && <Problem error={found.error} />}
      {found.data === undefined && found.error === null && <Loading />}
      {found.data?.length === 0 && <p className="faint">No webhook was registered for it.</p>}
      <ul className="plain-list">
        {found.data?.map(({ webhook, delivery }) => (
          <li key={webhook.id}>
            <Link href={`/webhooks/${webhook.id}?delivery=${delivery.id}&event=${id}`}>{webhook.url}</Link>
            <DeliveryStatus delivery={delivery} />
          </li>
        ))}
      </ul>
      <h3>Payload</h3>
      <pre className="code">{JSON.stringify(event, undefined, 2)}</pre>
    </Panel>
  );
}

type Found = { readonly webhook: Webhook; readonly delivery: Delivery };

/** Finds the delivery of the event to each webhook that is registered for it. */
async function findDeliveries(event: Event): Promise<readonly Found[]> {
  const { webhooks } = await client.webhooks.list();
  const found = await Promise.all(
    webhooks.map(async (webhook) => {
      const { deliveries } = await client.deliveries.list(webhook.id, { eventId: event.id });
      return deliveries.map((delivery) => ({ webhook, delivery }));
    }),
  );
  return found.flat();
}

type EventFilter = {
  readonly room: string | undefined;
  /** Empty for all kinds. */
  readonly types: readonly EventType[];
  /** ISO 8601. */
  readonly since: string;
};

type EventStream = {
  /** Newest first. */
  readonly events: readonly Event[];
  readonly error: unknown;
  /** Whether all events until now are loaded. */
  readonly isLoaded: boolean;
};

/** Maximum events in memory; the oldest are dropped. */
const MOST_EVENTS = 20_000;

/** Minimum time between two updates of the view, because a page of events arrives at once. */
const SHOW_EVERY_MS = 100;

/** The stored events since an instant, and each new one. */
function useEventStream(filter: EventFilter): EventStream {
  const [stream, setStream] = useState<EventStream>({ events: [], error: undefined, isLoaded: false });
  useEffect(() => {
    const controller = new AbortController();
    let events: Event[] = [];
    let timer: number | undefined;
    setStream({ events: [], error: undefined, isLoaded: false });
    const show = (): void => {
      timer = undefined;
      events = events.slice(-MOST_EVENTS);
      setStream({ events: events.toReversed(), error: undefined, isLoaded: true });
    };
    const follow = async (): Promise<void> => {
      const { types, room, ...rest } = filter;
      const followed = client.events.follow({
        ...rest,
        roomId: room,
        ...(types.length === 0 ? {} : { types }),
        signal: controller.signal,
        onCursor: () => {
          timer ??= window.setTimeout(show, SHOW_EVERY_MS);
        },
      });
      for await (const event of followed) events.push(event);
    };
    follow().catch((error: unknown) => {
      if (!controller.signal.aborted) setStream((before) => ({ ...before, error }));
    });
    return () => {
      controller.abort();
      window.clearTimeout(timer);
    };
  }, [filter]);
  return stream;
}

type EventPeriod = Period & {
  /** Value of `--since`. */
  readonly option: string;
};

const LAST_HOUR: EventPeriod = { name: 'Last hour', ms: 3_600_000, option: '1h' };

const PERIODS: readonly EventPeriod[] = [
  { name: 'Last 15 minutes', ms: 15 * 60_000, option: '15m' },
  LAST_HOUR,
  { name: 'Last day', ms: 86_400_000, option: '1d' },
  { name: 'Last week', ms: 7 * 86_400_000, option: '7d' },
];
