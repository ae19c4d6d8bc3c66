import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { POST_STATUSES, type PostStatus } from '../../../contract/choices.ts';
import { LIVE_STATES, type LiveSummary, type PostTranscription } from '../../../contract/transcription.ts';
import type { TranscriptHit } from '../../../contract/words.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { writeCommand } from '../parts/command-line.tsx';
import { CellLink, type TableColumn } from '../parts/data-table.tsx';
import { ChoiceFilter, RoomFilter, SearchFilter } from '../parts/find-and-save.tsx';
import { Rows } from '../parts/list-view.tsx';
import { OpenRooms } from '../parts/open-rooms.tsx';
import { describePosition } from '../parts/position.ts';
import { Problem } from '../parts/problem.tsx';
import { isUnderWay, TranscriptionStatus } from '../parts/status.tsx';
import { Clock } from '../parts/time.tsx';
import { useAddress } from '../parts/use-address.ts';
import { type Pages, useDebounced, usePages } from '../parts/use-pages.ts';
import { Empty, Loading, View } from '../parts/view.tsx';

const PAGE_SIZE = 100;

const PROGRESS_MS = 2_000;

/** The transcriptions of recordings, and a link to the live captions of a room. */
export function Transcriptions() {
  const { read } = useAddress();
  const status = POST_STATUSES.find((state) => state === read('status'));
  const words = useDebounced(read('words')).trim();
  const pages = useTranscriptions(status);
  return (
    <View
      title="Transcriptions"
      note={pages.count === undefined || words !== '' ? undefined : `${pages.count} of recordings`}
      command={
        words === ''
          ? writeCommand('transcriptions', 'list', { '--status': status })
          : writeCommand('transcriptions', 'search', words)
      }
      actions={
        <Link className="button" href="/transcriptions/live">
          Live, of all rooms
        </Link>
      }
      isFilled
    >
      <div className="filters">
        <SearchFilter name="words" placeholder="What was said" label="Search what was said" maxLength={256} />
        <StateFilter states={POST_STATUSES} isDisabled={words !== ''} />
        <LiveRoomForm />
      </div>
      {words === '' ? (
        <Listed
          label="Transcriptions"
          pages={pages}
          columns={RECORDING_COLUMNS}
          toLink={toTranscript}
          empty={NOTHING_TRANSCRIBED}
        />
      ) : (
        <FoundSegments words={words} />
      )}
    </View>
  );
}

function useTranscriptions(status: PostStatus | undefined): Pages<PostTranscription> {
  return usePages({
    queryKey: [...KEYS.transcriptions(), status ?? ''],
    read: (cursor) => client.transcriptions.list({ status, limit: PAGE_SIZE, cursor }),
    items: ({ transcriptions }) => transcriptions,
    refreshMs: (loaded) => (loaded.some(isUnderWay) ? PROGRESS_MS : undefined),
  });
}

/** The view lists the live transcriptions of all rooms, the newest first. */
export function LiveTranscriptions() {
  const { read } = useAddress();
  const roomId = useDebounced(read('room').trim()) || undefined;
  const status = LIVE_STATES.find((state) => state === read('status'));
  const pages = usePages({
    queryKey: [...KEYS.transcriptions(), 'live', roomId ?? '', status ?? ''],
    read: (cursor) => client.transcription.list({ roomId, status, limit: PAGE_SIZE, cursor }),
    items: ({ transcriptions }) => transcriptions,
  });
  return (
    <View
      title="Live transcriptions"
      note={pages.count}
      command={writeCommand('transcription', 'list', { '--room': roomId, '--status': status })}
      actions={
        <Link className="button" href="/transcriptions">
          Of recordings
        </Link>
      }
      isFilled
    >
      <div className="filters">
        <RoomFilter what="transcriptions" />
        <StateFilter states={LIVE_STATES} />
      </div>
      <Listed
        label="Live transcriptions"
        pages={pages}
        columns={LIVE_COLUMNS}
        toLink={toLiveOrTranscript}
        empty={NO_ROOM_TRANSCRIBED}
      />
    </View>
  );
}

type StateProps = { readonly states: readonly string[]; readonly isDisabled?: boolean };

function StateFilter({ states, isDisabled = false }: StateProps) {
  return (
    <ChoiceFilter
      name="status"
      label="Only transcriptions in this state"
      all="All states"
      choices={states}
      isDisabled={isDisabled}
    />
  );
}

type Identified = { readonly transcriptionId: string };

type ListedProps<Row> = {
  readonly label: string;
  readonly pages: Pages<Row>;
  readonly columns: readonly TableColumn<Row>[];
  readonly toLink: (row: Row) => string;
  readonly empty: { readonly title: string; readonly text: string };
};

function Listed<Row extends Identified>({ pages, toLink, ...rest }: ListedProps<Row>) {
  const [, navigate] = useLocation();
  return (
    <Rows
      {...rest}
      rows={pages.error !== null && pages.items?.length === 0 ? undefined : pages.items}
      error={pages.error}
      onRetry={pages.refetch}
      getId={({ transcriptionId }) => transcriptionId}
      onEnd={pages.loadMore}
      onSelect={(row) => navigate(toLink(row))}
    />
  );
}

const NOTHING_TRANSCRIBED = {
  title: 'No recording was transcribed yet',
  text: 'Open a recording and press Transcribe. For what is being said now, name a room above.',
};

const NO_ROOM_TRANSCRIBED = {
  title: 'No room has been transcribed',
  text: 'Open a room and press Transcribe: what is said appears as captions, and here.',
};

function toTranscript({ transcriptionId }: Identified): string {
  return `/transcriptions/${transcriptionId}`;
}

/** An active one is followed at its room. */
function toLiveOrTranscript(transcription: LiveSummary): string {
  const { status, roomId } = transcription;
  return status === 'active' ? toLiveRoom(roomId) : toTranscript(transcription);
}

function toLiveRoom(room: string): string {
  return `/transcriptions/live/${encodeURIComponent(room)}`;
}

/** Leads to the captions of a room. */
function LiveRoomForm() {
  const [, navigate] = useLocation();
  const [room, setRoom] = useState('');
  return (
    <form
      className="filters"
      onSubmit={(event) => {
        event.preventDefault();
        if (room !== '') navigate(toLiveRoom(room));
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
      <OpenRooms />
      <button type="submit">Follow live</button>
    </form>
  );
}

const RECORDING_COLUMNS: readonly TableColumn<PostTranscription>[] = [
  {
    heading: 'Room',
    width: 'minmax(7rem, 2fr)',
    cell: (transcription) => <CellLink href={toTranscript(transcription)}>{transcription.roomId}</CellLink>,
  },
  {
    heading: 'State',
    width: 'minmax(7.5rem, 1fr)',
    cell: (transcription) => <TranscriptionStatus {...transcription} />,
  },
  {
    heading: 'Queued',
    width: 'minmax(6rem, 1fr)',
    cell: ({ queuedAt }) => <Clock at={queuedAt} />,
  },
  {
    heading: 'Language',
    width: 'minmax(5rem, 0.6fr)',
    isSecondary: true,
    cell: ({ language }) => language,
  },
  {
    heading: 'Length',
    width: 'minmax(4rem, 0.5fr)',
    isSecondary: true,
    cell: ({ durationMs }) => (durationMs === null ? '—' : describePosition(durationMs / 1000)),
  },
  {
    heading: 'Error',
    width: 'minmax(8rem, 2fr)',
    isSecondary: true,
    cell: ({ error }) => error?.message ?? <span className="faint">—</span>,
  },
];

const LIVE_COLUMNS: readonly TableColumn<LiveSummary>[] = [
  {
    heading: 'Room',
    width: 'minmax(7rem, 2fr)',
    cell: (transcription) => (
      <CellLink href={toLiveOrTranscript(transcription)}>{transcription.roomId}</CellLink>
    ),
  },
  {
    heading: 'State',
    width: 'minmax(6rem, 1fr)',
    cell: ({ status }) => <TranscriptionStatus status={status} />,
  },
  {
    heading: 'Started',
    width: 'minmax(7rem, 1fr)',
    cell: ({ startedAt }) => <Clock at={startedAt} />,
  },
  {
    heading: 'Stopped',
    width: 'minmax(7rem, 1fr)',
    isSecondary: true,
    cell: ({ stoppedAt }) => <Clock at={stoppedAt} />,
  },
  {
    heading: 'Language',
    width: 'minmax(5rem, 0.6fr)',
    isSecondary: true,
    cell: ({ language }) => language,
  },
  {
    heading: 'Error',
    width: 'minmax(8rem, 2fr)',
    isSecondary: true,
    cell: ({ error }) => error?.message ?? <span className="faint">—</span>,
  },
];

const FOUND_AT_ONCE = 50;

/** Segments of all rooms with all of the words, each with a link to its place in the transcript. */
function FoundSegments({ words }: { readonly words: string }) {
  const { items, error, refetch, hasMore, loadMore } = usePages({
    queryKey: [...KEYS.transcriptions(), 'search', words],
    read: (cursor) => client.transcriptions.search(words, { limit: FOUND_AT_ONCE, cursor }),
    items: ({ hits }) => hits,
  });
  if (error !== null) return <Problem error={error} onRetry={refetch} />;
  if (items === undefined) return <Loading />;
  if (items.length === 0 && !hasMore) {
    return (
      <Empty title="Nobody said that">
        <p>A segment must have all of the words.</p>
      </Empty>
    );
  }
  return (
    <section className="transcript-card" aria-label="Found segments">
      <ol className="found">
        {items.map((hit) => (
          <Found key={hit.segment.id} hit={hit} />
        ))}
      </ol>
      {items.length === 0 && <p>Nothing among the newest segments.</p>}
      {hasMore && (
        <button type="button" disabled={loadMore === undefined} onClick={loadMore}>
          {items.length === 0 ? 'Search older ones' : 'Show more'}
        </button>
      )}
    </section>
  );
}

function Found({ hit: { roomId, segment, highlighted } }: { readonly hit: TranscriptHit }) {
  const { start, startedAt, speaker, language } = segment;
  return (
    <li className="segment">
      <span className="segment-head">
        <span>
          <Link href={`${toTranscript(segment)}?at=${start}`}>
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
