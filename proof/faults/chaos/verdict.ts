import { MAX_UNWRITTEN_OUTCOMES } from '../../../src/server/webhooks/dispatcher/delivery-dispatcher.ts';
import { CONCURRENCY_PER_WEBHOOK } from '../../../src/server/webhooks/dispatcher/in-flight-deliveries.ts';
import { atMost, exactly, type Figure, observed } from '../../part.ts';
import type { MediaEvents } from './media-events.ts';
import type { Witness } from './witness.ts';

export type Verdict = {
  readonly witness: Witness;
  readonly events: MediaEvents;
  /**
   * Number of kills, and of freezes beyond the lease. After each, other instances deliver what the stopped one had claimed.
   */
  readonly stops: number;
  /** Number of webhooks with a pending or failed delivery at the end. */
  readonly unsettled: number;
};

/** Returns the figures that every chaos run has a claim about. */
export function verdict({ witness, events, stops, unsettled }: Verdict): readonly Figure[] {
  const { arrivals, distinct, wrongSignatures, outOfOrder } = witness.tally();
  const acknowledged = events.acknowledged() * witness.webhooks;
  const perStop = CONCURRENCY_PER_WEBHOOK * witness.webhooks + MAX_UNWRITTEN_OUTCOMES;
  return [
    observed('deliveries of acknowledged events', acknowledged),
    exactly('lost deliveries', acknowledged - distinct, 0),
    exactly('deliveries with a wrong signature', wrongSignatures, 0),
    exactly('events out of order at the webhooks with order', outOfOrder.ordered, 0),
    observed('events out of order at the webhooks without', outOfOrder.unordered),
    exactly('webhooks with pending or failed deliveries at the end', unsettled, 0),
    atMost({
      name: `repeated deliveries (bound: ${stops} × (${CONCURRENCY_PER_WEBHOOK} × ${witness.webhooks} in flight + a batch of ${MAX_UNWRITTEN_OUTCOMES}))`,
      measured: arrivals - distinct,
      bound: stops * perStop,
    }),
    observed('posts of events that were refused and repeated', events.refused()),
  ];
}
