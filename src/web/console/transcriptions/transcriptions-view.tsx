import { type UseInfiniteQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { POST_STATUSES, type PostStatus } from '../../../contract/choices.ts';
import type { PostTranscription } from '../../../contract/transcription.ts';
import type { TranscriptHit } from '../../../contract/words.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { writeCommand } from '../parts/command-line.tsx';
import { CellLink, DataTable, type TableColumn } from '../parts/data-table.tsx';
import { describePosition } from '../parts/position.ts';
import { Problem } from '../parts/problem.tsx';
import { isUnderWay, TranscriptionStatus } from '../parts/status.tsx';
import { Clock } from '../parts/time.tsx';
import { useAddress } from '../parts/use-address.ts';
import { useDebounced } from '../parts/use-pages.ts';
import { Empty, Loading, View } from '../parts/view.tsx';

const PAGE_SIZE = 100;

const PROGRESS_MS = 2_000;

/** The transcriptions of recordings, and a link to the live captions of a room. */
export function Transcriptions() {
  const { read, change } = useAddress();
  const status = POST_STATUSES.find((state) => state === read('status'));
  const typed = read('words');
  const words = useDebounced(typed).trim();
  const found = useTranscriptions(status);
  const { data, hasNextPage } = found;
  const rows = useMemo(() => data?.pages.flatMap((page) => page.transcriptions) ?? [], [data]);
  return (
    <View
      title="Transcriptions"
      note={
        data === undefined || words !== ''
          ? undefined
          : `${rows.length.toLocaleString()}${hasNextPage ? '+' : ''} of recordings`
      }
      command={
        words === ''
          ? writeCommand('transcriptions', 'list', ...(status === undefined ? [] : ['--status', status]))
          : writeCommand('transcriptions', 'search', words)
      }
      actions={<LiveLink />}
      isFilled
    >
      <div className="filters">
        <input
          type="search"
          placeholder="What was said"
          aria-label="Search what was said"
          maxLength={256}
          value={typed}
          onChange={({ target }) => change({ words: target.value })}
        />
        <select
          disabled={words !== ''}
          aria-label="Only transcriptions in this state"
          value={status ?? ''}
          onChange={({ target }) => change({ status: target.value })}
        >
          <option value="">All states</option>
          {POST_STATUSES.map((state) => (
            <option key={state}>{state}</option>
          ))}
        </select>
        <LiveRoomForm />
      </div>
      {words === '' ? <Listed found={found} rows={rows} /> : <FoundSegments words={words} />}
    </View>
  );
}

function LiveLink() {
  return (
    <Link className="button" href="/transcriptions/live">
      Live, of all rooms
    </Link>
  );
}

function useTranscriptions(status: PostStatus | undefined) {
  return useInfiniteQuery({
    queryKey: [...KEYS.transcriptions(), status ?? ''],
    queryFn: ({ pageParam }) => client.transcriptions.list({ status, limit: PAGE_SIZE, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ transcriptions }) => transcriptions.some(isUnderWay)) ? PROGRESS_MS : false,
  });
}

type ListedProps = {
  readonly found: Pick<
    UseInfiniteQueryResult<unknown>,
    'error' | 'isPending' | 'hasNextPage' | 'isFetchingNextPage' | 'refetch' | 'fetchNextPage'
  >;
  readonly rows: readonly PostTranscription[];
};

/** The transcriptions of recordings. */
function Listed({ found, rows }: ListedProps) {
  const [, navigate] = useLocation();
  const { error, isPending, hasNextPage, isFetchingNextPage } = found;
  return (
    <>
      {error !== null && <Problem error={error} onRetry={() => void found.refetch()} />}
      {isPending && <Loading />}
      {!isPending && error === null && rows.length === 0 && (
        <Empty title="No recording was transcribed yet">
          <p>Open a recording and press Transcribe. For what is being said now, name a room above.</p>
        </Empty>
      )}
      {rows.length > 0 && (
        <DataTable
          label="Transcriptions"
          columns={COLUMNS}
          rows={rows}
          getId={({ transcriptionId }) => transcriptionId}
          onEnd={hasNextPage && !isFetchingNextPage ? () => void found.fetchNextPage() : undefined}
          onSelect={({ transcriptionId }) => navigate(`/transcriptions/${transcriptionId}`)}
        />
      )}
    </>
  );
}

/** Leads to the captions of a room. */
function LiveRoomForm() {
  const [, navigate] = useLocation();
  const [room, setRoom] = useState('');
  const { data } = useQuery({ queryKey: KEYS.rooms(), queryFn: () => client.rooms.list() });
  return (
    <form
      className="filters"
      onSubmit={(event) => {
        event.preventDefault();
        if (room !== '') navigate(`/transcriptions/live/${encodeURIComponent(room)}`);
      }}
    >
      <input
        type="search"
        list="open-rooms"
        placeholder="Name of a room"
        aria-label="Room to follow live"
        value={room}
        onChange={(event) => setRoom(event.target.value)}
      />
      <datalist id="open-rooms">
        {data?.rooms.map(({ sid, name }) => (
          <option key={sid} value={name} />
        ))}
      </datalist>
      <button type="submit">Follow live</button>
    </form>
  );
}

const COLUMNS: readonly TableColumn<PostTranscription>[] = [
  {
    id: 'room',
    heading: 'Room',
    width: 'minmax(7rem, 2fr)',
    cell: ({ transcriptionId, roomId }) => (
      <CellLink href={`/transcriptions/${transcriptionId}`}>{roomId}</CellLink>
    ),
  },
  {
    id: 'status',
    heading: 'State',
    width: 'minmax(7.5rem, 1fr)',
    cell: (transcription) => <TranscriptionStatus {...transcription} />,
  },
  {
    id: 'queued',
    heading: 'Queued',
    width: 'minmax(6rem, 1fr)',
    cell: ({ queuedAt }) => <Clock at={queuedAt} />,
  },
  {
    id: 'language',
    heading: 'Language',
    width: 'minmax(5rem, 0.6fr)',
    isSecondary: true,
    cell: ({ language }) => language,
  },
  {
    id: 'duration',
    heading: 'Length',
    width: 'minmax(4rem, 0.5fr)',
    isSecondary: true,
    cell: ({ durationMs }) => (durationMs === null ? '—' : describePosition(durationMs / 1000)),
  },
  {
    id: 'error',
    heading: 'Error',
    width: 'minmax(8rem, 2fr)',
    isSecondary: true,
    cell: ({ error }) => error?.message ?? <span className="faint">—</span>,
  },
];

const FOUND_AT_ONCE = 50;

/** Segments of all rooms with all of the words, each with a link to its place in the transcript. */
export function FoundSegments({ words }: { readonly words: string }) {
  const found = useInfiniteQuery({
    queryKey: [...KEYS.transcriptions(), 'search', words],
    queryFn: ({ pageParam }) =>
      client.transcriptions.search(words, { limit: FOUND_AT_ONCE, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const { data, error, hasNextPage, isFetchingNextPage } = found;
  if (error !== null) return <Problem error={error} onRetry={() => void found.refetch()} />;
  if (data === undefined) return <Loading />;
  const hits = data.pages.flatMap((page) => page.hits);
  if (hits.length === 0 && !hasNextPage) {
    return (
      <Empty title="Nobody said that">
        <p>A segment must have all of the words.</p>
      </Empty>
    );
  }
  return (
    <section className="transcript-card" aria-label="Found segments">
      <ol className="found">
        {hits.map((hit) => (
          <Found key={hit.segment.id} hit={hit} />
        ))}
      </ol>
      {hits.length === 0 && <p>Nothing among the newest segments.</p>}
      {hasNextPage && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          {hits.length === 0 ? 'Search older ones' : 'Show more'}
        </button>
      )}
    </section>
  );
}

function Found({ hit: { roomId, segment, highlighted } }: { readonly hit: TranscriptHit }) {
  const { transcriptionId, start, startedAt, speaker, language } = segment;
  return (
    <li className="segment">
      <span className="segment-head">
        <span>
          <Link href={`/transcriptions/${transcriptionId}?at=${start}`}>
            {roomId}, {describePosition(start)}
          </Link>
          {speaker === null ? '' : ` · ${speaker}`}
        </span>
        <Clock at={startedAt} />
      </span>
      <p lang={language}>
        {highlighted.map(({ text, match }, index) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text have no other name, and never move
          match ? <mark key={index}>{text}</mark> : <span key={index}>{text}</span>,
        )}
      </p>
    </li>
  );
}
