import { ServiceError } from '../../../contract/errors.ts';
import { ParticipantParams } from '../../../contract/participants.ts';
import {
  ERASED,
  type ErasedTraces,
  ForgetWordsQuery,
  type ForgottenWords,
  ForgottenWordsSchema,
} from '../../../contract/words.ts';
import type { Clock } from '../../platform/clock.ts';
import { defineRoute, type Route, requireAllRooms, requireScope } from '../../platform/http/route.ts';
import { BLOCK_KEYS } from '../../platform/storage/search/segment-marks.ts';
import type {
  FoundSegment,
  Speaker,
  WordHit,
  WordQuery,
  WordSearch,
  WordStore,
  WordStores,
} from './store.ts';

export type WordDeps = {
  readonly store: Pick<WordStores, 'words'>;
  /** Erases what is stored of the participant beside the words. Needs the segments, and therefore comes first. */
  readonly erasePerson: (person: Speaker) => Promise<ErasedTraces>;
};

/** Routes about one participant's speech in all transcriptions. */
export function wordRoutes(deps: WordDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'DELETE',
      path: '/v1/rooms/:roomId/participants/:participantId/words',
      operationId: 'forgetWords',
      tag: 'transcription',
      summary: "Delete a participant's words",
      description:
        'Deletes the segments of this identity from every transcription of the room, live and of recordings, and from the search; with `allRooms=true` from those of every room. The room may have ended and the participant may have left. The times at which the participant spoke in recordings are deleted too. Segments of recordings whose speaker is not known stay, and so does the sound: delete the recordings. A transcription that runs goes on storing what is said: stop it first. With `everything=true` a pseudonym replaces identity and name in events, deliveries and sessions, and metadata, blocks, ids in the audit log and names in maps of speakers are deleted. After an error the same request erases the rest.',
      scopes: ['recordings'],
      params: ParticipantParams,
      query: ForgetWordsQuery,
      success: { 200: { description: 'What was deleted, and what remains', schema: ForgottenWordsSchema } },
      errors: ['storage-unavailable'],
      handle: async ({ params: { roomId, participantId: identity }, query, caller }) => {
        const { allRooms, everything } = query;
        if (allRooms === 'true') requireAllRooms(caller);
        const person = { identity, room: allRooms === 'true' ? undefined : roomId };
        const ids = allRooms === 'true' ? { allRooms } : {};
        if (everything !== 'true') return { status: 200, body: await forgetWords(deps, person), ids };
        requireScope(['admin'], caller);
        const traces = await deps.erasePerson(person);
        const body = { ...(await forgetWords(deps, person)), traces };
        return { status: 200, body, ids: { ...ids, everything, participantId: ERASED } };
      },
    }),
  ];
}

/** Small, so that on SQLite other writers do not wait long: deleting a segment rewrites pages of the search index. */
const BATCH = 100;

/**
 * Deletes the speech of a participant, as far as transcripts name the speaker, from every live and post-call transcription
 * of the room or of all rooms, with the participant's turns in recordings. Works in parts; after an error the same request
 * deletes the rest.
 */
async function forgetWords(
  { store }: { readonly store: Pick<WordStores, 'words'> },
  speaker: Speaker,
): Promise<ForgottenWords> {
  const transcriptions = new Set<string>();
  let segments = 0;
  for (;;) {
    const deleted = await store.words.forget(speaker, BATCH);
    if (deleted.length === 0) break;
    segments += deleted.length;
    for (const id of deleted) transcriptions.add(id);
  }
  const remains = await store.words.countRemains(speaker);
  while ((await store.words.forgetTurns(speaker, BATCH)) > 0);
  return { segments, transcriptions: transcriptions.size, ...remains };
}

/*
 * A search reads the index in steps, from the segments that were stored last back to the first ones. SQLite works in the
 * only thread of this process, and PostgreSQL cannot stop at a full page: one statement over everything would keep all
 * others waiting. A step is as long as the last one was quick, and between two steps others have their turn. A search that
 * has used its time returns what it has found, perhaps nothing, and the position from which the next request goes on.
 */

type WordHits = {
  /** The segments that were found, the latest stored first. */
  readonly hits: readonly WordHit[];
  /** Position from which the search goes on; null when it has seen everything. */
  readonly nextBefore: number | null;
};

type SearchedWords = Pick<WordStore, 'prepareSearch' | 'findWithin' | 'describeHits'>;

type SearchDeps = { readonly words: SearchedWords; readonly clock: Pick<Clock, 'monotonic'> };

type WordPage = WordQuery & {
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

/** Bounds what a step costs when the words are suddenly frequent: PostgreSQL reads every row that has them. */
const LONGEST_STEP = 8 * SHORTEST_STEP;

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

/** Searches that run at the same time in this process. */
const SEARCHES_AT_ONCE = 2;

/** Searches that wait for their turn, which takes less than a second. */
const WAITING = 8;

/**
 * A turn rests for so many times as long as its search took, so that searches never take all of the only thread. Who sends
 * one search after the other finds a turn that has rested.
 */
const REST = { whileNobodyWaits: 1, whileOthersWait: 3 };

/** Runs searches in turn, and throws server-busy when as many as are allowed are waiting. */
export class SearchTurns {
  readonly #clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(clock: Pick<Clock, 'monotonic' | 'sleep'>) {
    this.#clock = clock;
  }

  async run<T>(search: () => Promise<T>): Promise<T> {
    await this.#take();
    const startedAt = this.#clock.monotonic();
    try {
      return await search();
    } finally {
      const rest = this.#waiting.length === 0 ? REST.whileNobodyWaits : REST.whileOthersWait;
      void this.#rest(rest * (this.#clock.monotonic() - startedAt));
    }
  }

  async #take(): Promise<void> {
    if (this.#taken < SEARCHES_AT_ONCE) {
      this.#taken += 1;
      return;
    }
    if (this.#waiting.length >= WAITING) {
      throw new ServiceError('server-busy', 'Too many searches are running already.', {
        retryable: true,
        headers: { 'retry-after': '1' },
        hint: { text: 'send the request again in a second' },
      });
    }
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  async #rest(ms: number): Promise<void> {
    await this.#clock.sleep(ms);
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next();
  }
}
