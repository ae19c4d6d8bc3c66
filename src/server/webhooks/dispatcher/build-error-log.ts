import { ServiceError } from '../../../contract/errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { DeliveryJob } from '../store.ts';

/** A lost key fails every delivery of every webhook that was stored with it: a line for each would hide all others. */
const SAID_EVERY_MS = 60_000;

type Said = { at: number; unsaid: number };

/** Says why deliveries could not even be built: at once, and then once a minute, with how many there were since. */
export class UnbuiltDeliveries {
  readonly #deps: { readonly log: Log; readonly clock: Clock };
  readonly #said = new Map<string, Said>();

  constructor(deps: { readonly log: Log; readonly clock: Clock }) {
    this.#deps = deps;
  }

  tell(error: unknown, { delivery, webhook }: DeliveryJob): void {
    const { log, clock } = this.#deps;
    const kind = error instanceof ServiceError ? error.code : 'unexpected';
    const said = this.#said.get(kind);
    if (said !== undefined && clock.now() - said.at < SAID_EVERY_MS) {
      said.unsaid += 1;
      return;
    }
    this.#said.set(kind, { at: clock.now(), unsaid: 0 });
    const which = { webhookId: webhook.id, deliveryId: delivery.id, alikeSinceLastLine: said?.unsaid ?? 0 };
    // What is expected to fail says by itself what to do; only the rest needs its stack.
    const why = error instanceof ServiceError ? { reason: error.message } : { err: error };
    log.error({ ...which, ...why }, 'a delivery could not be built');
  }
}
