import { type Clock, withTimeout } from '../platform/clock.ts';
import { startLoop } from '../platform/jobs/loop.ts';
import type { Log } from '../platform/log.ts';
import type { ChangeFeed, ChangeTopic } from '../platform/storage/changes.ts';
import type { DueClaim, DueRenewal } from '../rooms/store.ts';

/*
 * Works on rows when they are due. An instance sleeps until the next of them, and claims some by moving their due time on.
 * A claim is short, so that another instance continues at once after one has died; it is renewed while the work lasts. Work
 * may therefore happen twice, when an instance was slower than its claim, and must be harmless then.
 */

/** Closing a room in time bears this, and the time of the work itself. */
const CLAIM_MS = 700;
/** Longer than a claim: what an instance cannot do, such as one that the media server refuses, another one takes before it. */
const AFTER_FAILURE_MS = CLAIM_MS + 300;
/** An instance may be busy for the rest of a claim. */
const RENEW_MS = 250;

/** A notification may be lost; the next due time is read again after this time while there is any. */
const MAX_SLEEP_MS = 10_000;

/** Work that waits for a recorder or for a media server is left to other instances after this time. */
const CLOSE_TIMEOUT_MS = 1_000;

export type Claimed<Row> = {
  readonly rows: readonly Row[];
  readonly now: number;
  /** Returns the end of the claim, to which the due time of the rows is set. It moves while they are worked on. */
  readonly until: () => number;
};

/**
 * Starts work on a claimed row that the loop does not wait for. It never rejects, and wakes the loop if its row is due before
 * the claim ends. The claim is not renewed beyond `heldUntil`.
 */
export type Run<Row> = (row: Row, work: (wake: () => void) => Promise<void>, heldUntil?: number) => void;

type DueLoopOptions<Row> = {
  readonly clock: Clock;
  readonly log: Log;
  readonly changes: ChangeFeed;
  /** Says that something may be due earlier. */
  readonly topic: ChangeTopic;
  readonly rows: {
    readonly claim: (claim: DueClaim) => Promise<readonly Row[]>;
    readonly renew: (rows: readonly Row[], renewal: DueRenewal) => Promise<void>;
    readonly nextDueAt: () => Promise<number | undefined>;
  };
  /** Rows that are worked on at once: an instance that dies holds no more of them back. */
  readonly atOnce: number;
  readonly failureMessage: string;
  readonly act: (claimed: Claimed<Row>, run: Run<Row>) => Promise<void>;
};

export type DueLoop = { readonly close: () => Promise<void> };

export function startDueLoop<Row>(options: DueLoopOptions<Row>): DueLoop {
  const { clock, log, changes, topic, rows, atOnce, failureMessage, act } = options;
  const renewer = startRenewer(options);
  const running = new Set<Promise<void>>();
  const loop = startLoop({
    clock,
    log,
    failureMessage,
    backoff: { firstMs: AFTER_FAILURE_MS, maxMs: 5_000 },
    round: async (signal) => {
      for (;;) {
        const limit = atOnce - running.size;
        // The end of one wakes the loop.
        if (limit <= 0 || signal.aborted) return MAX_SLEEP_MS;
        const now = clock.now();
        const until = now + CLAIM_MS;
        const claimed = await rows.claim({ now, until, limit });
        if (claimed.length > 0) await actOn(claimed, now, until);
        if (claimed.length === limit) continue;
        return await findSleepMs(options);
      }
    },
  });
  const actOn = async (claimed: readonly Row[], now: number, until: number) => {
    const held = renewer.hold(claimed, until);
    const started = new Set<Row>();
    const run: Run<Row> = (row, work, heldUntil = Number.POSITIVE_INFINITY) => {
      started.add(row);
      held.pending.set(row, heldUntil);
      const one = work(loop.wake).finally(() => {
        held.release(row);
        running.delete(one);
        if (running.size === atOnce - 1) loop.wake();
      });
      running.add(one);
    };
    await act({ rows: claimed, now, until: () => held.until }, run).finally(() => {
      for (const row of claimed) if (!started.has(row)) held.release(row);
    });
  };
  const unsubscribe = changes.subscribe(topic, () => loop.wake());
  return {
    close: async () => {
      unsubscribe();
      await loop.close();
      await withTimeout(Promise.all(running), CLOSE_TIMEOUT_MS, undefined);
      await renewer.close();
    },
  };
}

/** Until the next row is due. Undefined if none is. */
async function findSleepMs<Row>({ clock, rows }: DueLoopOptions<Row>): Promise<number | undefined> {
  const nextDueAt = await rows.nextDueAt();
  return nextDueAt === undefined ? undefined : Math.min(Math.max(0, nextDueAt - clock.now()), MAX_SLEEP_MS);
}

type Held<Row> = {
  until: number;
  /** Until when the claim of each row is renewed. */
  readonly pending: Map<Row, number>;
  readonly release: (row: Row) => void;
};

/** Renews the claims of rows that are worked on. */
function startRenewer<Row>({ clock, log, rows }: DueLoopOptions<Row>) {
  const claims = new Set<Held<Row>>();
  const loop = startLoop({
    clock,
    log,
    failureMessage: 'renewing claims of planned rooms failed; other instances may continue',
    backoff: { firstMs: RENEW_MS, maxMs: RENEW_MS },
    round: async () => {
      for (const held of claims) {
        const now = clock.now();
        if (held.until - now > CLAIM_MS - RENEW_MS) continue;
        const to = now + CLAIM_MS;
        const renewed = [...held.pending].flatMap(([row, heldUntil]) => (to > heldUntil ? [] : [row]));
        await rows.renew(renewed, { from: held.until, to });
        held.until = to;
      }
      return claims.size === 0 ? undefined : RENEW_MS;
    },
  });
  return {
    close: loop.close,
    hold: (claimed: readonly Row[], until: number): Held<Row> => {
      const pending = new Map(claimed.map((row) => [row, Number.POSITIVE_INFINITY]));
      const held: Held<Row> = {
        until,
        pending,
        release: (row) => {
          pending.delete(row);
          if (pending.size > 0) return;
          claims.delete(held);
          // Sleeps until the next claim.
          if (claims.size === 0) loop.wake();
        },
      };
      claims.add(held);
      if (claims.size === 1) loop.wake();
      return held;
    },
  };
}
