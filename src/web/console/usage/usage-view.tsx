import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { USAGE_GROUPS, type UsageGroup } from '../../../contract/choices.ts';
import { USAGE_ROLES, type UsageLine } from '../../../contract/usage.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { type Bar, Bars } from '../parts/bars.tsx';
import { writeCommand } from '../parts/command-line.tsx';
import { DataTable, type TableColumn } from '../parts/data-table.tsx';
import { type Cells, RoomFilter, SearchFilter, saveCsv } from '../parts/find-and-save.tsx';
import { DAY_MS, DayFilter } from '../parts/period.tsx';
import { Problem } from '../parts/problem.tsx';
import { useAddress } from '../parts/use-address.ts';
import { useDebounced, usePages } from '../parts/use-pages.ts';
import { Empty, FactList, Loading, View } from '../parts/view.tsx';
import { describeBytes } from '../recordings/recording-status.tsx';

const PAGE_SIZE = 1_000;
/** Open rooms are included, and their time causes no event. */
const REFRESH_MS = 60_000;
/** Groups of a chart that does not go over time: the largest ones. */
const MOST_BARS = 12;

const FIGURES = [
  ['participantMinutes', 'Participant minutes', 'People, min'],
  ['roomMinutes', 'Room minutes', 'Rooms, min'],
  ['recordedMinutes', 'Recorded minutes', 'Recorded'],
  ['transcribedMinutes', 'Transcribed minutes', 'Transcribed'],
  ['broadcastMinutes', 'Broadcast minutes', 'Broadcast'],
  ['ingressMinutes', 'Ingress minutes', 'Ingress'],
  ['peakParticipants', 'People at once in the largest room', 'Largest room'],
  ['recordingBytes', 'Bytes of recordings', 'Recordings'],
] as const satisfies readonly (readonly [name: keyof UsageLine, words: string, heading: string])[];

type Figure = (typeof FIGURES)[number][0];

function writeFigure(figure: Figure, value: number): string {
  if (figure === 'recordingBytes') return describeBytes(value);
  return value.toLocaleString(undefined, { maximumFractionDigits: figure === 'peakParticipants' ? 0 : 1 });
}

/** Exact times of a period by day, month, room, beginning of names or API key, as a chart and a table. */
export function UsageView() {
  const { query, figure } = useFilter();
  const queryKey = [...KEYS.usage(), JSON.stringify(query)];
  const { items, count, error, refetch, loadMore } = usePages({
    queryKey,
    read: (cursor) => client.usage.get({ ...query, limit: PAGE_SIZE, cursor }),
    items: ({ usage }) => usage,
    refreshMs: REFRESH_MS,
  });
  const whole = useQuery({
    queryKey: [...queryKey, 'total'],
    queryFn: () => client.usage.get({ ...query, limit: 1 }),
    refetchInterval: REFRESH_MS,
  });
  const columns = useMemo(() => createColumns(query.by), [query.by]);
  return (
    <View title="Usage" note={count} command={listCommand(query)} actions={<SaveButton query={query} />}>
      <Filters by={query.by} figure={figure} />
      {error !== null && <Problem error={error} onRetry={refetch} />}
      <Totals total={whole.data?.total} />
      {items === undefined && error === null && <Loading />}
      {items !== undefined && items.length === 0 && (
        <Empty title="Nothing was used in this period">
          <p>Minutes are counted from the first join of a room. Choose other days, or fewer filters.</p>
        </Empty>
      )}
      {items !== undefined && items.length > 0 && (
        <>
          <Chart by={query.by} figure={figure} lines={items} period={whole.data} />
          <div className="table-bounded">
            <DataTable
              key={query.by}
              label="Usage"
              columns={columns}
              rows={items}
              getId={({ group }) => group}
              onEnd={loadMore}
            />
          </div>
        </>
      )}
    </View>
  );
}

type Query = ReturnType<typeof useFilter>['query'];

function useFilter() {
  const { read } = useAddress();
  const query = {
    from: read('from') || undefined,
    to: read('to') || undefined,
    by: USAGE_GROUPS.find((group) => group === read('by')) ?? 'day',
    roomId: useDebounced(read('room').trim()) || undefined,
    prefix: useDebounced(read('prefix').trim()) || undefined,
  };
  const figure = FIGURES.find(([name]) => name === read('figure'))?.[0] ?? 'participantMinutes';
  return { query, figure };
}

function listCommand({ from, to, by, roomId, prefix }: Query): string {
  const options = { '--from': from, '--to': to, '--by': by, '--room': roomId, '--prefix': prefix };
  return writeCommand('usage', options);
}

const BY_WORDS: Readonly<Record<UsageGroup, string>> = {
  day: 'By day',
  month: 'By month',
  room: 'By room',
  prefix: 'By beginning of names',
  key: 'By API key',
};

type FiltersProps = { readonly by: UsageGroup; readonly figure: Figure };

function Filters({ by, figure }: FiltersProps) {
  const { change } = useAddress();
  return (
    <div className="filters">
      <select
        aria-label="What each line is"
        value={by}
        onChange={({ target }) => change({ by: target.value })}
      >
        {USAGE_GROUPS.map((group) => (
          <option key={group} value={group}>
            {BY_WORDS[group]}
          </option>
        ))}
      </select>
      <select
        aria-label="Figure of the chart"
        value={figure}
        onChange={({ target }) => change({ figure: target.value })}
      >
        {FIGURES.map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
      <DayFilter name="from" label="From (UTC)" />
      <DayFilter name="to" label="before (UTC)" />
      <RoomFilter what="usage" />
      <SearchFilter name="prefix" placeholder="Beginning of names" label="Only rooms whose names begin so" />
    </div>
  );
}

function SaveButton({ query }: { readonly query: Query }) {
  const [state, setState] = useState<{ readonly isSaving: boolean; readonly error?: unknown }>();
  const save = async (): Promise<void> => {
    setState({ isSaving: true });
    try {
      const lines: UsageLine[] = [];
      for await (const line of client.usage.all(query)) lines.push(line);
      saveCsv(`usage-by-${query.by}`, lines, CELLS);
      setState(undefined);
    } catch (error) {
      setState({ isSaving: false, error });
    }
  };
  return (
    <>
      {state?.error !== undefined && <Problem error={state.error} />}
      <button type="button" disabled={state?.isSaving === true} onClick={() => void save()}>
        <Download aria-hidden /> Save as CSV
      </button>
    </>
  );
}

/** The sums of the period. */
function Totals({ total }: { readonly total: Omit<UsageLine, 'group'> | undefined }) {
  return (
    <FactList
      className="figures"
      rows={Object.fromEntries(
        FIGURES.map(([name, words]) => [words, total === undefined ? '…' : writeFigure(name, total[name])]),
      )}
    />
  );
}

type ChartProps = {
  readonly by: UsageGroup;
  readonly figure: Figure;
  readonly lines: readonly UsageLine[];
  /** The days that the service took; undefined until it is known. */
  readonly period: { readonly from: string; readonly to: string } | undefined;
};

/** Bars over time, or a bar for each of the largest groups. */
function Chart({ by, figure, lines, period }: ChartProps) {
  const words = FIGURES.find(([name]) => name === figure)?.[1] ?? '';
  const isOverTime = by === 'day' || by === 'month';
  return (
    <section className="card" aria-labelledby="usage-chart">
      <h2 id="usage-chart">
        {words} {BY_WORDS[by].toLowerCase()}
      </h2>
      {isOverTime ? (
        <Bars
          label={words}
          dates={by}
          bars={period === undefined ? [] : listBars({ by, figure, lines, period })}
          format={(value) => writeFigure(figure, value)}
        />
      ) : (
        <Largest figure={figure} lines={lines} by={by} />
      )}
    </section>
  );
}

type Timed = ChartProps & { readonly period: { readonly from: string; readonly to: string } };

/** One bar for each day or month of the period, also for those without usage. */
function listBars({ by, figure, lines, period }: Timed): readonly Bar[] {
  const values = new Map(lines.map((line) => [line.group, line[figure]]));
  const end = Date.parse(period.to);
  const groups = new Set<string>();
  for (let at = Date.parse(period.from); at < end; at += DAY_MS) {
    groups.add(new Date(at).toISOString().slice(0, by === 'month' ? 7 : 10));
  }
  return [...groups].map((group) => ({
    startedAt: by === 'month' ? `${group}-01T00:00:00.000Z` : `${group}T00:00:00.000Z`,
    parts: [{ tone: 'active', name: group, value: values.get(group) ?? 0 }],
  }));
}

type LargestProps = Pick<ChartProps, 'by' | 'figure' | 'lines'>;

function Largest({ by, figure, lines }: LargestProps) {
  const sorted = lines.toSorted((one, other) => other[figure] - one[figure]).slice(0, MOST_BARS);
  const highest = Math.max(1, ...sorted.map((line) => line[figure]));
  return (
    <ol className="ranks">
      {sorted.map((line) => (
        <li key={line.group}>
          <span className="rank-name">
            <GroupName by={by} group={line.group} />
          </span>
          <span className="rank-bar" style={{ width: `${(line[figure] / highest) * 100}%` }} />
          <span className="rank-value">{writeFigure(figure, line[figure])}</span>
        </li>
      ))}
    </ol>
  );
}

function GroupName({ by, group }: { readonly by: UsageGroup; readonly group: string }) {
  if (by === 'room') return <Link href={`/usage?room=${encodeURIComponent(group)}`}>{group}</Link>;
  if (by === 'prefix')
    return <Link href={`/usage?by=room&prefix=${encodeURIComponent(group)}`}>{group}</Link>;
  return by === 'key' ? <Link href={`/keys?open=${encodeURIComponent(group)}`}>{group}</Link> : group;
}

function createColumns(by: UsageGroup): readonly TableColumn<UsageLine>[] {
  return [
    {
      heading: BY_WORDS[by].replace('By ', '').replace(/^./, (letter) => letter.toUpperCase()),
      width: 'minmax(6.5rem, 1.6fr)',
      sortBy: ({ group }) => group,
      cell: ({ group }) => <GroupName by={by} group={group} />,
    },
    ...FIGURES.map(
      ([name, , heading], index): TableColumn<UsageLine> => ({
        heading,
        width: 'minmax(6.5rem, 1fr)',
        isSecondary: index > 3,
        sortBy: (line) => line[name],
        cell: (line) => writeFigure(name, line[name]),
      }),
    ),
    {
      heading: 'State',
      width: 'minmax(4.5rem, 0.6fr)',
      isSecondary: true,
      cell: ({ isFinal }) => (isFinal ? 'Final' : 'So far'),
    },
  ];
}

const CELLS: Cells<UsageLine> = {
  group: ({ group }) => group,
  ...Object.fromEntries(FIGURES.map(([name]) => [name, (line: UsageLine) => line[name]])),
  ...Object.fromEntries(
    USAGE_ROLES.map((role) => [`${role}Minutes`, (line: UsageLine) => line.participantMinutesByRole[role]]),
  ),
  isFinal: ({ isFinal }) => String(isFinal),
};
