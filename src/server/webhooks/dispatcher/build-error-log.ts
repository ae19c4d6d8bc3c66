import { ServiceError } from '../../../contract/errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { DeliveryJob } from '../store.ts';

/** A lost key fails every delivery whose secret was encrypted with it. One line for each would hide all other lines. */
const LOG_INTERVAL_MS = 60_000;

type LastLine = { readonly loggedAt: number; suppressed: number };

/** Logs why deliveries could not be built: the first error at once, then one line a minute with a count. */
export class BuildErrorLog {
  readonly #deps: { readonly log: Log; readonly clock: Clock };
  readonly #lastLines = new Map<string, LastLine>();

  constructor(deps: { readonly log: Log; readonly clock: Clock }) {
    this.#deps = deps;
  }

  error(error: unknown, { delivery, webhook }: DeliveryJob): void {
    const { log, clock } = this.#deps;
    const kind = error instanceof ServiceError ? error.code : 'unexpected';
    const last = this.#lastLines.get(kind);
    if (last !== undefined && clock.monotonic() - last.loggedAt < LOG_INTERVAL_MS) {
      last.suppressed += 1;
      return;
    }
    this.#lastLines.set(kind, { loggedAt: clock.monotonic(), suppressed: 0 });
    const fields = {
      webhookId: webhook.id,
      deliveryId: delivery.id,
      alikeSinceLastLine: last?.suppressed ?? 0,
    };
    // The message of a ServiceError names the cause and the remedy. Only an unexpected error needs its stack.
    const why = error instanceof ServiceError ? { reason: error.message } : { err: error };
    log.error({ ...fields, ...why }, 'a delivery could not be built');
  }
}
