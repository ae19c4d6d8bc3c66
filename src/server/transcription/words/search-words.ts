import { ServiceError } from '../../../contract/errors.ts';
import type { Clock } from '../../platform/clock.ts';
import { BLOCK_KEYS } from '../../platform/storage/search/segment-marks.ts';
import type { FoundSegment, WordHit, WordQuery, WordSearch, WordStore } from './store.ts';

/*
 * A search reads the index in steps, from the segments that were stored last back to the first ones. SQLite works in the
 * only thread of this process, and PostgreSQL cannot stop at a full page: one statement over everything would keep all
 * others waiting. A step is as long as the last one was quick, and between two steps others have their turn. A search that
 * has used its time returns what it has found, perhaps nothing, and the position from which the next request goes on.
 */

export type WordHits = {
  /** The segments that were found, the latest stored first. */
  readonly hits: readonly WordHit[];
  /** Position from which the search goes on; null when it has seen everything. */
  readonly nextBefore: number | null;
};

type SearchedWords = Pick<WordStore, 'prepareSearch' | 'findWithin' | 'describeHits'>;

export type SearchDeps = { readonly words: SearchedWords; readonly clock: Pick<Clock, 'monotonic'> };

export type WordPage = WordQuery & {
  readonly limit: number;
  /** `nextBefore` of the previous page. */
  readonly before?: number | undefined;
};

/** No step begins after this time. */
const BUDGET_MS = 20;

/** Finds a page of the segments that have the words. */
export async function searchWords(
  { words, clock }: SearchDeps,
  { limit, before, ...query }: WordPage,
): Promise<WordHits> {
  const search = await words.prepareSearch(query);
  if (search === undefined) return { hits: [], nextBefore: null };
  const found: FoundSegment[] = [];
  const startedAt = clock.monotonic();
  const steps = keySteps(search, before);
  let stepMs = 0;
  for (let step = steps.next(stepMs); step.done !== true; step = steps.next(stepMs)) {
    const begunAt = clock.monotonic();
    // One row more than the page, to know whether there is a next page.
    found.push(...(await words.findWithin(search, { ...step.value, limit: limit + 1 - found.length })));
    const now = clock.monotonic();
    stepMs = now - begunAt;
    if (found.length > limit || now - startedAt >= BUDGET_MS) {
      return await toPage({ words, search }, { found, limit, readTo: step.value.first });
    }
    await othersTurn();
  }
  return await toPage({ words, search }, { found, limit, readTo: search.first });
}

type Read = {
  readonly found: readonly FoundSegment[];
  readonly limit: number;
  /** The lowest key that was read. */
  readonly readTo: number;
};

async function toPage(
  { words, search }: { readonly words: SearchedWords; readonly search: WordSearch },
  { found, limit, readTo }: Read,
): Promise<WordHits> {
  const page = found.slice(0, limit);
  const hits = await words.describeHits(search, page);
  const last = page.at(-1);
  if (found.length > limit && last !== undefined) return { hits, nextBefore: last.searchKey };
  return { hits, nextBefore: readTo > search.first ? readTo : null };
}

type Step = { readonly first: number; readonly end: number };

const SHORTEST_STEP = BLOCK_KEYS;
/** Bounds what a step costs when the words are suddenly frequent. */
const LONGEST_STEP = 32 * SHORTEST_STEP;
/** The next step is longer after one that took less time, and shorter after one that took twice as much. */
const STEP_MS = 4;

/** Yields ranges of keys from the last to the first, and takes the time that the one before took. */
function* keySteps(
  { first, end: last }: WordSearch,
  before: number | undefined,
): Generator<Step, void, number> {
  let length = SHORTEST_STEP;
  let lastRate = Number.POSITIVE_INFINITY;
  for (let end = Math.min(last, before ?? last); end > first; ) {
    const from = Math.floor((end - 1) / SHORTEST_STEP) * SHORTEST_STEP - (length - SHORTEST_STEP);
    const step = { first: Math.max(first, from), end };
    const tookMs = yield step;
    const rate = tookMs / length;
    // A step of many terms takes its time whatever its length: then a longer one costs no more.
    const isFixed = rate < lastRate / 2 && tookMs < 3 * STEP_MS;
    if (tookMs < STEP_MS || isFixed) length = Math.min(length * 4, LONGEST_STEP);
    else if (tookMs > 2 * STEP_MS) length = Math.max(length / 4, SHORTEST_STEP);
    lastRate = rate;
    end = step.first;
  }
}

function othersTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Searches that run at the same time in this process. They are short: others wait for their turn at the client. */
const SEARCHES_AT_ONCE = 2;

/** Runs a search, or throws server-busy when as many as are allowed are running. */
export class SearchTurns {
  #running = 0;

  async run<T>(search: () => Promise<T>): Promise<T> {
    if (this.#running >= SEARCHES_AT_ONCE) {
      throw new ServiceError('server-busy', `${SEARCHES_AT_ONCE} searches are running already.`, {
        retryable: true,
        headers: { 'retry-after': '1' },
        hint: { text: 'send the request again in a second' },
      });
    }
    this.#running += 1;
    try {
      return await search();
    } finally {
      this.#running -= 1;
    }
  }
}
