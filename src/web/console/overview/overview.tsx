import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { RtcError } from '../../../client/rtc-error.ts';
import type { WebhookStats } from '../../../contract/deliveries.ts';
import type { Recording } from '../../../contract/recordings.ts';
import type { Room } from '../../../contract/rooms.ts';
import type { Session } from '../../../contract/sessions.ts';
import type { Webhook } from '../../../contract/webhooks.ts';
import { client } from '../api/client.ts';
import { type Check, runChecks } from '../api/console-calls.ts';
import { KEYS } from '../api/query-keys.ts';
import { type Bar, Bars } from '../parts/bars.tsx';
import { DAY_MS, findBegin, PERIODS, PeriodSelect, usePeriod } from '../parts/period.tsx';
import { Problem } from '../parts/problem.tsx';
import { Status } from '../parts/status.tsx';
import { Ago } from '../parts/time.tsx';
import { View } from '../parts/view.tsx';
import { countParticipants } from '../rooms/room-facts.ts';
import { useConsole } from '../shell/console-state.tsx';
import { DeliveryBars, statsQuery, sumPeriods, WebhookHealth } from '../webhooks/webhook-health.tsx';

/** Maximum webhooks whose deliveries are counted. */
const MOST_WEBHOOKS = 20;
/** Maximum sessions that are added up. */
const MOST_SESSIONS = 1_000;
/** A session that goes on causes no event. */
const REFRESH_MS = 30_000;

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
      <NowFigures rooms={facts.rooms} sessions={facts.sessions} />
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
            <Link href="/sessions">Participant minutes by day</Link>
          </h2>
          <MinutesByDay sessions={facts.sessions} periodMs={period.ms} />
          {facts.sessions?.isCut === true && (
            <p className="faint">Only the newest {MOST_SESSIONS.toLocaleString()} sessions are added up.</p>
          )}
        </section>
      </div>
    </View>
  );
}

type Sessions = { readonly sessions: readonly Session[]; readonly isCut: boolean };
type Counted = { readonly webhook: Webhook; readonly stats: WebhookStats };

type Facts = {
  readonly rooms: readonly Room[] | undefined;
  readonly sessions: Sessions | undefined;
  readonly stats: readonly Counted[];
  /** Whether the deliveries of a webhook are still being counted. */
  readonly isCounting: boolean;
  readonly failedRecordings: readonly Recording[];
  readonly checks: readonly Check[] | undefined;
  readonly errors: readonly unknown[];
};

function useFacts(periodMs: number): Facts {
  const rooms = useQuery({ queryKey: KEYS.rooms(), queryFn: () => client.rooms.list() });
  const sessions = useQuery({
    queryKey: [...KEYS.sessions(), 'period', periodMs],
    queryFn: () => readSessions(findBegin(Math.max(periodMs, 7 * DAY_MS))),
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
  // The checks of the doctor take seconds, and are run again in its own view.
  const checks = useQuery({
    queryKey: ['checks'],
    queryFn: () => runChecks('checks'),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const begin = findBegin(periodMs);
  return {
    rooms: rooms.data?.rooms,
    sessions: sessions.data,
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
        [rooms, sessions, webhooks, recordings].flatMap(({ error }) =>
          error === null ? [] : [[toReason(error), error]],
        ),
      ).values(),
    ],
  };
}

async function readSessions(since: string): Promise<Sessions> {
  const sessions: Session[] = [];
  for await (const session of client.sessions.all({ since })) {
    if (sessions.length === MOST_SESSIONS) return { sessions, isCut: true };
    sessions.push(session);
  }
  return { sessions, isCut: false };
}

type NowProps = Pick<Facts, 'rooms' | 'sessions'>;

function NowFigures({ rooms, sessions }: NowProps) {
  const { facts } = useConsole();
  const people = rooms?.reduce((sum, room) => sum + countParticipants(room, facts), 0);
  const recorded = rooms?.filter(({ activeRecording }) => activeRecording).length;
  const today = new Date().toISOString().slice(0, 10);
  const minutes = sessions?.sessions
    .filter(({ createdAt }) => createdAt.startsWith(today))
    .reduce((sum, { participantMinutes }) => sum + participantMinutes, 0);
  return (
    <dl className="figures">
      <Figure name="People now" href="/rooms" value={people} />
      <Figure name="Open rooms" href="/rooms" value={rooms?.length} />
      <Figure name="Recorded rooms" href="/recordings" value={recorded} />
      <Figure
        name="Participant minutes, rooms of today"
        href="/sessions"
        value={minutes === undefined ? undefined : Math.round(minutes)}
      />
    </dl>
  );
}

type FigureProps = { readonly name: string; readonly href: string; readonly value: number | undefined };

function Figure({ name, href, value }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <Link href={href}>{value?.toLocaleString() ?? '…'}</Link>
      </dd>
    </div>
  );
}

/** Receivers that refuse, recordings without a file, and faults of the set-up, each with the way to its reason. */
function WrongNow({ stats, failedRecordings, checks }: Facts) {
  const receivers = stats.filter(
    ({ webhook, stats: { health } }) =>
      webhook.pausedAt !== null || health === 'failing' || health === 'unsteady',
  );
  const faults = (checks ?? []).filter(({ status }) => status === 'fault');
  const isAllWell = receivers.length + failedRecordings.length + faults.length === 0;
  return (
    <section className="card" aria-labelledby="wrong-title">
      <h2 id="wrong-title">What is wrong now</h2>
      {isAllWell && (
        <Status tone={checks === undefined ? 'neutral' : 'good'}>
          {checks === undefined ? 'Checking the set-up…' : 'Nothing that the service knows of'}
        </Status>
      )}
      {!isAllWell && (
        <ul className="wrong">
          {receivers.map(({ webhook, stats: { health, retrying, failed } }) => (
            <Wrong
              key={webhook.id}
              mark={<WebhookHealth health={health} pausedAt={webhook.pausedAt} />}
              href={`/webhooks/${webhook.id}`}
            >
              {webhook.url}: {failed.toLocaleString()} failed, {retrying.toLocaleString()} retried
            </Wrong>
          ))}
          {failedRecordings.map(({ recordingId, roomId, status, error, endedAt }) => (
            <Wrong
              key={recordingId}
              mark={<Status tone="bad">Recording {status}</Status>}
              href={`/explain/recording/${encodeURIComponent(recordingId)}`}
            >
              {roomId}, <Ago at={endedAt} />: {error ?? 'no reason is known'}
            </Wrong>
          ))}
          {faults.map(({ check, detail, next }) => (
            <Wrong key={check} mark={<Status tone="bad">{check}</Status>} href="/doctor">
              {detail}
              {next === '' ? '' : `. ${next}`}
            </Wrong>
          ))}
        </ul>
      )}
    </section>
  );
}

type WrongProps = { readonly mark: ReactNode; readonly href: string; readonly children: ReactNode };

function Wrong({ mark, href, children }: WrongProps) {
  return (
    <li>
      {mark}
      <span>{children}</span>
      <Link className="button" href={href}>
        Why?
      </Link>
    </li>
  );
}

function toReason(error: Error): string {
  return error instanceof RtcError ? error.reason : error.message;
}

/** The space of the plot is kept while it is being read, so that nothing below moves. */
function DeliveryFigures({ stats, isCounting }: Pick<Facts, 'stats' | 'isCounting'>) {
  if (stats.length === 0 && !isCounting)
    return <p className="faint">No webhook is registered, or none has been counted.</p>;
  const all = stats.map((each) => each.stats);
  const sum = (name: 'delivered' | 'failed' | 'pending') =>
    all.reduce((total, each) => total + each[name], 0).toLocaleString();
  return (
    <>
      <p>
        {sum('delivered')} delivered, {sum('failed')} failed, {sum('pending')} waiting
      </p>
      <DeliveryBars periods={sumPeriods(all)} />
    </>
  );
}

type MinutesProps = { readonly sessions: Sessions | undefined; readonly periodMs: number };

/** Each session counts for the UTC day on which its room was opened. */
function MinutesByDay({ sessions, periodMs }: MinutesProps) {
  const days = Math.max(7, Math.round(periodMs / DAY_MS));
  const byDay = new Map<string, number>();
  for (const { createdAt, participantMinutes } of sessions?.sessions ?? []) {
    const day = createdAt.slice(0, 10);
    byDay.set(day, (byDay.get(day) ?? 0) + participantMinutes);
  }
  const bars = Array.from({ length: days }, (_, index): Bar => {
    const day = new Date(Date.now() - (days - 1 - index) * DAY_MS).toISOString().slice(0, 10);
    const value = Math.round((byDay.get(day) ?? 0) * 100) / 100;
    return {
      startedAt: `${day}T00:00:00.000Z`,
      parts: [{ tone: 'active', name: 'minutes', value }],
    };
  });
  return (
    <Bars label="Participant minutes" bars={bars} format={(value) => Math.round(value).toLocaleString()} />
  );
}
