import { ServiceError } from '../../../contract/errors.ts';
import { TEST_EVENT } from '../../../contract/event-names.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { SecretBox } from '../../platform/secrets/encryption-keys.ts';
import type { Span, SpanEnd, Tracing } from '../../platform/tracing/tracing.ts';
import type { WebhookResponse, WebhookSender } from '../sender/sender.ts';
import type { DeliveryJob, DeliveryOutcome, DeliveryStore } from '../store.ts';
import {
  type BuildDeliveryDeps,
  buildDelivery,
  openSigningKeys,
  type SigningKeys,
} from './build-delivery.ts';

/** Milliseconds after each failed attempt of a round: the specification's 5 s, 30 s and 5 min. Then the delivery fails. */
const RETRY_DELAYS_MS = [5_000, 30_000, 300_000] as const;
export const LONGEST_RETRY_DELAY_MS = Math.max(...RETRY_DELAYS_MS);

/**
 * Milliseconds after its event for which an ordered delivery is tried again. While a receiver is down, the deliveries of a room
 * fail one after the other, and the later ones would otherwise wait for days.
 */
const ORDERED_RETRIES_END_MS = 3_600_000;

/**
 * A delivery that this instance cannot sign waits this long and uses up no attempt: other instances may have the key that its
 * secret is encrypted with, ENCRYPTION_KEY may get it back, or the webhook may get a new secret.
 */
export const POSTPONEMENT_MS = 30_000;

/** A delivery that cannot be signed for this long uses up attempts and fails, so that the number of pending ones has a bound. */
const POSTPONED_AT_MOST_MS = 3 * 86_400_000;

export type AttemptDeps = BuildDeliveryDeps & {
  readonly sender: WebhookSender;
  readonly buildErrors: Pick<BuildErrorLog, 'error'>;
  readonly tracing?: Pick<Tracing, 'start'> | undefined;
  /** Called after each attempt, except after tests of webhooks. */
  readonly onAttempt?: ((attempt: ObservedAttempt) => void) | undefined;
};

/** An attempt as the metrics count it. */
type ObservedAttempt = {
  readonly outcome: 'delivered' | 'retrying' | 'failed';
  /** Number of the attempt in this round, from 1. */
  readonly attempt: number;
  readonly durationMs: number;
  /** Time from storing the delivery to its first attempt; undefined for later attempts. */
  readonly waitedMs: number | undefined;
};

type PostponeDeps = AttemptDeps & {
  readonly deliveries: Pick<DeliveryStore, 'postpone' | 'unpack'>;
  readonly secretBox: SecretBox;
  readonly instanceId: string;
  readonly log: Pick<Log, 'warn'>;
};

/** Makes one attempt, or returns undefined when the delivery cannot be signed at present and was put off. Never rejects. */
export async function attemptOrPostpone(
  deps: PostponeDeps,
  job: DeliveryJob,
): Promise<DeliveryOutcome | undefined> {
  let keys: SigningKeys;
  try {
    keys = openSigningKeys(deps.secretBox, job.webhook, deps.clock.now());
  } catch (problem) {
    return await postponeOrFail(deps, job, problem);
  }
  return await attemptDelivery(deps, job, keys);
}

async function postponeOrFail(
  deps: PostponeDeps,
  job: DeliveryJob,
  problem: unknown,
): Promise<DeliveryOutcome | undefined> {
  const { deliveries, clock, instanceId, buildErrors, log } = deps;
  const { id, createdAt } = job.delivery;
  const now = clock.now();
  buildErrors.error(problem, job);
  if (now - createdAt >= POSTPONED_AT_MOST_MS) {
    return toOutcome(deps, job, { startedAt: now, response: unsentResponse(problem) });
  }
  try {
    if (job.parcelId !== undefined) await deliveries.unpack(instanceId, [job.parcelId]);
    await deliveries.postpone(instanceId, [id], now + POSTPONEMENT_MS);
  } catch (error) {
    log.warn({ err: error }, 'postponing a delivery failed; it is claimed again when its lease has run out');
  }
  return undefined;
}

/** Makes one attempt and returns it with the delivery's next state. Never rejects. */
export async function attemptDelivery(
  deps: AttemptDeps,
  job: DeliveryJob,
  keys: SigningKeys,
): Promise<DeliveryOutcome> {
  const startedAt = deps.clock.now();
  const span = startSpan(deps, job);
  const response = await (span === undefined
    ? buildAndSend(deps, job, { keys })
    : span.within(() => buildAndSend(deps, job, { keys, traceparent: span.traceparent })));
  const outcome = toOutcome(deps, job, { startedAt, response });
  span?.end(toSpanEnd(outcome));
  return outcome;
}

type Attempted = { readonly startedAt: number; readonly response: WebhookResponse };

function toOutcome(
  { clock, onAttempt }: AttemptDeps,
  job: DeliveryJob,
  { startedAt, response }: Attempted,
): DeliveryOutcome {
  const isDelivered = isCompleteSuccess(response);
  const outcome: DeliveryOutcome = {
    attempt: {
      deliveryId: job.delivery.id,
      startedAt,
      durationMs: response.durationMs,
      statusCode: response.statusCode,
      error: isDelivered ? null : (response.error ?? `the receiver responded with ${response.statusCode}`),
      responseBody: response.responseBody,
    },
    next: isDelivered ? { state: 'delivered', endedAt: clock.now() } : afterFailure(job, clock.now()),
  };
  if (job.delivery.eventName !== TEST_EVENT) onAttempt?.(toObservedAttempt(job, outcome));
  return outcome;
}

/** The span names only the receiver's host, because the path may contain a secret. */
function startSpan({ tracing }: AttemptDeps, { delivery, webhook, event }: DeliveryJob): Span | undefined {
  return tracing?.start({
    name: `webhook ${delivery.eventName}`,
    kind: 'client',
    parent: { traceparent: event.traceparent },
    attributes: {
      'http.request.method': 'POST',
      'server.address': new URL(webhook.url).host,
      'http.request.resend_count': delivery.attempts,
      'rtc.webhook.id': webhook.id,
      'rtc.delivery.id': delivery.id,
      'rtc.event.id': event.id,
    },
  });
}

function toSpanEnd({ attempt: { statusCode, error } }: DeliveryOutcome): SpanEnd {
  const attributes = statusCode === null ? {} : { 'http.response.status_code': statusCode };
  return { attributes, error: error ?? undefined };
}

function toObservedAttempt({ delivery }: DeliveryJob, { attempt, next }: DeliveryOutcome): ObservedAttempt {
  return {
    outcome: next.state === 'pending' ? 'retrying' : next.state,
    attempt: delivery.roundAttempts + 1,
    durationMs: attempt.durationMs,
    waitedMs: delivery.attempts === 0 ? attempt.startedAt - delivery.createdAt : undefined,
  };
}

/** A 2xx whose body broke off or timed out is a failure: the receiver may not have finished its work. */
function isCompleteSuccess({ statusCode, error }: WebhookResponse): boolean {
  return error === null && statusCode !== null && statusCode >= 200 && statusCode < 300;
}

async function buildAndSend(
  deps: AttemptDeps,
  job: DeliveryJob,
  { keys, traceparent }: { readonly keys: SigningKeys; readonly traceparent?: string },
): Promise<WebhookResponse> {
  try {
    const request = await buildDelivery(deps, job, keys);
    const headers = traceparent === undefined ? request.headers : { ...request.headers, traceparent };
    return await deps.sender.send({ ...request, headers });
  } catch (error) {
    deps.buildErrors.error(error, job);
    return unsentResponse(error);
  }
}

/** The messages of errors that are not ours may reveal internals. */
function unsentResponse(error: unknown): WebhookResponse {
  const text = error instanceof ServiceError ? error.message : 'the delivery could not be built';
  return { statusCode: null, responseBody: null, error: text, durationMs: 0 };
}

function afterFailure({ delivery }: DeliveryJob, now: number): DeliveryOutcome['next'] {
  const isLast =
    delivery.eventName === TEST_EVENT ||
    (delivery.orderingKey !== null && now - delivery.createdAt >= ORDERED_RETRIES_END_MS);
  const delayMs = isLast ? undefined : RETRY_DELAYS_MS[delivery.roundAttempts];
  return delayMs === undefined
    ? { state: 'failed', endedAt: now }
    : { state: 'pending', dueAt: now + delayMs };
}

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
