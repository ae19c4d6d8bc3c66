import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { RtcError } from '../../../client/rtc-error.ts';
import type { Room } from '../../../contract/rooms.ts';
import type { Usage } from '../../../contract/usage.ts';
import { client } from '../api/client.ts';
import { CHECKS } from '../api/console-calls.ts';
import { KEYS } from '../api/query-keys.ts';
import { type Bar, Bars } from '../parts/bars.tsx';
import { DAY_MS, findBegin, PERIODS, PeriodSelect, usePeriod } from '../parts/period.tsx';
import { Problem } from '../parts/problem.tsx';
import { FactList, View } from '../parts/view.tsx';
import { countParticipants, useRecordedRooms } from '../rooms/room-facts.ts';
import { useConsole } from '../shell/console-state.tsx';
import { DeliveryBars, statsQuery, sumPeriods } from '../webhooks/webhook-health.tsx';
import { LastErrors, type TroubleFacts, Workers, WrongNow } from './troubles.tsx';

/** Maximum webhooks whose deliveries are counted. */
const MOST_WEBHOOKS = 20;
/** The minutes of open rooms grow without an event that would tell it, so they are read again. */
const REFRESH_MS = 30_000;
/** A plot by day has a week at least. */
const LEAST_DAYS = 7;

/** The view shows what runs now, what is wrong, and the figures of a period. */
export function Overview() {
  const [period, setPeriod] = usePeriod();
  const facts = useFacts(period.ms);
  return (
    <View
      title="Overview"
      command="rtc top"
      actions={<PeriodSelect periods={PERIODS} value={period} onChange={setPeriod} />}
    >
      {facts.errors.map((error) => (
        <Problem key={String(error)} error={error} />
      ))}
      <NowFigures rooms={facts.rooms} usage={facts.usage} />
      <WrongNow {...facts} />
      <div className="cards">
        <section className="card" aria-labelledby="deliveries-now">
          <h2 id="deliveries-now">
            <Link href="/webhooks">Deliveries</Link>
          </h2>
          <DeliveryFigures stats={facts.stats} isCounting={facts.isCounting} />
        </section>
        <section className="card" aria-labelledby="minutes-title">
          <h2 id="minutes-title">
            <Link href="/usage">Participant minutes by day</Link>
          </h2>
          <MinutesByDay usage={facts.usage} />
        </section>
        <Workers checks={facts.checks} />
        <LastErrors />
      </div>
    </View>
  );
}

type Facts = TroubleFacts & {
  readonly rooms: readonly Room[] | undefined;
  readonly usage: Usage | undefined;
  /** Whether the deliveries of a webhook are still being counted. */
  readonly isCounting: boolean;
  readonly errors: readonly unknown[];
};

function useFacts(periodMs: number): Facts {
  const rooms = useQuery({ queryKey: KEYS.rooms(), queryFn: () => client.rooms.list() });
  const days = Math.max(LEAST_DAYS, Math.round(periodMs / DAY_MS));
  const usage = useQuery({
    queryKey: [...KEYS.usage(), 'overview', days],
    queryFn: () => client.usage.get({ by: 'day', from: findBegin((days - 1) * DAY_MS).slice(0, 10) }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const webhooks = useQuery({
    queryKey: [...KEYS.webhooks(), 'first'],
    queryFn: () => client.webhooks.list({ limit: MOST_WEBHOOKS }),
  });
  const registered = webhooks.data?.webhooks ?? [];
  const counts = useQueries({ queries: registered.map(({ id }) => statsQuery(id, periodMs)) });
  const recordings = useQuery({
    queryKey: [...KEYS.recordings(), 'newest'],
    queryFn: () => client.recordings.list({ limit: 50 }),
  });
  const checks = useQuery(CHECKS);
  const begin = findBegin(periodMs);
  return {
    rooms: rooms.data?.rooms,
    usage: usage.data,
    stats: registered.flatMap((webhook, index) => {
      const stats = counts[index]?.data;
      return stats === undefined ? [] : [{ webhook, stats }];
    }),
    isCounting: webhooks.data === undefined || counts.some(({ isPending }) => isPending),
    failedRecordings: (recordings.data?.recordings ?? []).filter(
      ({ status, endedAt }) => (status === 'failed' || status === 'aborted') && (endedAt ?? '') >= begin,
    ),
    checks: checks.data,
    // One fault of the service fails several requests alike, and is told once.
    errors: [
      ...new Map(
        [rooms, usage, webhooks, recordings].flatMap(({ error }) =>
          error === null ? [] : [[toReason(error), error]],
        ),
      ).values(),
    ],
  };
}

function toReason(error: Error): string {
  return error instanceof RtcError ? error.reason : error.message;
}

type NowProps = Pick<Facts, 'rooms' | 'usage'>;

function NowFigures({ rooms, usage }: NowProps) {
  const { facts } = useConsole();
  const recorded = useRecordedRooms();
  const people = rooms?.reduce((sum, room) => sum + countParticipants(room, facts), 0);
  const today = new Date().toISOString().slice(0, 10);
  const line = usage?.usage.find(({ group }) => group === today);
  return (
    <FactList
      className="figures"
      rows={{
        'People now': <Figure href="/rooms" value={people} />,
        'Open rooms': <Figure href="/rooms" value={rooms?.length} />,
        'Recorded rooms': (
          <Figure
            href="/recordings?status=recording"
            value={rooms?.filter(({ name }) => recorded.has(name)).length}
          />
        ),
        'Participant minutes today (UTC)': (
          <Figure href="/usage" value={usage && Math.round(line?.participantMinutes ?? 0)} />
        ),
      }}
    />
  );
}

type FigureProps = { readonly href: string; readonly value: number | undefined };

function Figure({ href, value }: FigureProps) {
  return <Link href={href}>{value?.toLocaleString() ?? '…'}</Link>;
}

/** The space of the plot is kept while it is being read, so that nothing below moves. */
function DeliveryFigures({ stats, isCounting }: Pick<Facts, 'stats' | 'isCounting'>) {
  if (stats.length === 0 && !isCounting)
    return <p className="faint">No webhook is registered, or none has been counted.</p>;
  return <DeliveryBars periods={sumPeriods(stats.map((each) => each.stats))} />;
}

/** Each minute counts for the UTC day on which it was. */
function MinutesByDay({ usage }: Pick<Facts, 'usage'>) {
  const minutes = new Map(usage?.usage.map(({ group, participantMinutes }) => [group, participantMinutes]));
  const bars: Bar[] = [];
  const end = Date.parse(usage?.to ?? '');
  for (let at = Date.parse(usage?.from ?? ''); at < end; at += DAY_MS) {
    const day = new Date(at).toISOString();
    const value = minutes.get(day.slice(0, 10)) ?? 0;
    bars.push({ startedAt: day, parts: [{ tone: 'active', name: 'minutes', value }] });
  }
  return (
    <Bars
      label="Participant minutes"
      dates="day"
      bars={bars}
      format={(value) => Math.round(value).toLocaleString()}
    />
  );
}
