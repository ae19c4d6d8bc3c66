import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useRef } from 'react';
import type { Delivery } from '../../../contract/deliveries.ts';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';
import { useAddress } from '../parts/use-address.ts';

const NONE: DeliveryRows = { rows: [], hasMore: false };

/** The deliveries of a webhook: `more` loads further ones, and new and changed ones are loaded by themselves. */
export function useDeliveries(webhookId: string, status: Delivery['status'] | undefined) {
  const queries = useQueryClient();
  const log = useMemo(
    () => new DeliveryLog(webhookId, status === undefined ? undefined : [status]),
    [webhookId, status],
  );
  const queryKey = useMemo(() => [...KEYS.deliveries(), webhookId, status ?? 'all'], [webhookId, status]);
  const isReading = useRef(false);
  const { data = NONE, error } = useQuery({
    queryKey,
    queryFn: () => log.refresh(),
    refetchInterval: ({ state }) => untilNextAttempt(state.data?.rows ?? []),
  });
  const { hasMore } = data;
  const more = useCallback(() => {
    if (!hasMore || isReading.current) return;
    isReading.current = true;
    const done = (): void => {
      isReading.current = false;
    };
    log
      .more()
      .then((rows) => queries.setQueryData(queryKey, rows))
      .then(done, done);
  }, [log, queries, queryKey, hasMore]);
  const forget = useCallback(() => log.forget(), [log]);
  return { ...data, error, isRead: data !== NONE, more, forget };
}

/** The delivery that is shown beside the list; its id is in the address. */
export function useSelected(webhookId: string, rows: readonly Delivery[]): Delivery | undefined {
  const { read } = useAddress();
  const selectedId = read('delivery');
  const listed = rows.find(({ id }) => id === selectedId);
  const linked = useLinkedDelivery(webhookId, listed === undefined ? read('event') || null : null);
  return listed ?? (linked?.id === selectedId ? linked : undefined);
}

/** The delivery that another view links to, which the list may not have loaded yet. */
function useLinkedDelivery(webhookId: string, eventId: string | null): Delivery | undefined {
  const { data } = useQuery({
    queryKey: [...KEYS.deliveries(), webhookId, 'of', eventId],
    queryFn: () => client.deliveries.list(webhookId, { eventId: eventId ?? '' }),
    enabled: eventId !== null,
  });
  return data?.deliveries[0];
}

const SOONEST_MS = 1_000;

const LATEST_MS = 30_000;

/** An attempt causes no event, but its due time is known. */
function untilNextAttempt(rows: readonly Delivery[]): number | false {
  const due = rows.flatMap(({ nextAttemptAt }) =>
    nextAttemptAt === null ? [] : [Date.parse(nextAttemptAt)],
  );
  if (due.length === 0) return false;
  return Math.min(Math.max(Math.min(...due) - Date.now() + SOONEST_MS, SOONEST_MS), LATEST_MS);
}

type State = Delivery['status'];

/** Failed deliveries come first, because users look for them. */
const ORDER: readonly State[] = ['failed', 'pending', 'delivered', 'cancelled'];

const PAGE_SIZE = 200;

type DeliveryRows = {
  readonly rows: readonly Delivery[];
  /** Whether there are older deliveries that were not loaded yet. */
  readonly hasMore: boolean;
};

/**
 * The loaded deliveries of a webhook. A list of thousands is not read again when something changes: the newest page of each
 * state is, and its rows replace the known ones.
 */
class DeliveryLog {
  readonly #webhookId: string;
  /** The lists that are read, in the order in which they are shown; undefined is the list of all states. */
  readonly #lists: readonly (State | undefined)[];
  readonly #known = new Map<string, Delivery>();
  /** The cursor of each list that was begun; null at its end. */
  readonly #cursors = new Map<State | undefined, string | null>();

  constructor(webhookId: string, lists: readonly (State | undefined)[] = ORDER) {
    this.#webhookId = webhookId;
    this.#lists = lists;
  }

  get rows(): DeliveryRows {
    const rows = [...this.#known.values()].toSorted(byStateAndTime);
    const isShown = ({ status }: Delivery): boolean =>
      this.#lists.includes(undefined) || this.#lists.includes(status);
    return { rows: rows.filter(isShown), hasMore: this.#nextList() !== undefined };
  }

  /** Starts again with the next refresh, because more has changed than the newest pages contain. */
  forget(): void {
    this.#known.clear();
    this.#cursors.clear();
  }

  /** Reads new deliveries. */
  async refresh(): Promise<DeliveryRows> {
    const begun = this.#lists.filter((list) => this.#cursors.has(list));
    for (const list of begun) await this.#read(list, undefined);
    if (begun.length === 0) await this.more();
    return this.rows;
  }

  /** Reads as many further deliveries as a page has, of one state after the other. */
  async more(): Promise<DeliveryRows> {
    let missing = PAGE_SIZE;
    for (let next = this.#nextList(); next !== undefined && missing > 0; next = this.#nextList())
      missing -= await this.#read(next.list, this.#cursors.get(next.list) ?? undefined);
    return this.rows;
  }

  #nextList(): { readonly list: State | undefined } | undefined {
    const list = this.#lists.findIndex((each) => this.#cursors.get(each) !== null);
    return list === -1 ? undefined : { list: this.#lists[list] };
  }

  async #read(status: State | undefined, cursor: string | undefined): Promise<number> {
    const page = await client.deliveries.list(this.#webhookId, { status, cursor, limit: PAGE_SIZE });
    for (const delivery of page.deliveries) this.#known.set(delivery.id, delivery);
    const isFurther = cursor !== undefined || !this.#cursors.has(status);
    if (isFurther) this.#cursors.set(status, page.nextCursor);
    return page.deliveries.length;
  }
}

function byStateAndTime(one: Delivery, other: Delivery): number {
  const states = ORDER.indexOf(one.status) - ORDER.indexOf(other.status);
  if (states !== 0) return states;
  // All instants have the same format in UTC, so that their texts sort correctly, without parsing thousands of dates.
  if (one.createdAt === other.createdAt) return 0;
  return one.createdAt < other.createdAt ? 1 : -1;
}
