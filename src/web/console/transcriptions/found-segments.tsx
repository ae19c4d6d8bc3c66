import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { TranscriptHit } from '../../../contract/words.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { Problem } from '../parts/problem.tsx';
import { Clock, describePosition } from '../parts/time.tsx';
import { Empty, Loading } from '../parts/view.tsx';

const PAGE_SIZE = 50;

/** Segments of all rooms with all of the words, each with a link to its place in the transcript. */
export function FoundSegments({ words }: { readonly words: string }) {
  const found = useInfiniteQuery({
    queryKey: [...KEYS.transcriptions(), 'search', words],
    queryFn: ({ pageParam }) => client.transcriptions.search(words, { limit: PAGE_SIZE, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const { data, error, hasNextPage, isFetchingNextPage } = found;
  if (error !== null) return <Problem error={error} onRetry={() => void found.refetch()} />;
  if (data === undefined) return <Loading />;
  const hits = data.pages.flatMap((page) => page.hits);
  if (hits.length === 0) {
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
      {hasNextPage && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          Show more
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
