import { ServiceError } from '../../../contract/errors.ts';
import { TEST_EVENT } from '../../../contract/event-names.ts';
import type { WebhookAnswer, WebhookSender } from '../sender/sender.ts';
import type { DeliveryJob, DeliveryOutcome } from '../store.ts';
import { type BuildDeliveryDeps, buildDelivery } from './build-delivery.ts';
import type { UnbuiltDeliveries } from './build-error-log.ts';
import { nextAttemptAt } from './retry-schedule.ts';

export type AttemptDeps = BuildDeliveryDeps & {
  readonly sender: WebhookSender;
  readonly unbuilt: Pick<UnbuiltDeliveries, 'tell'>;
};

/** One attempt and what the row becomes of it. Never rejects. */
export async function attemptDelivery(deps: AttemptDeps, job: DeliveryJob): Promise<DeliveryOutcome> {
  const startedAt = deps.clock.now();
  const answer = await sendOrSay(deps, job);
  const isDelivered = isWholeSuccess(answer);
  return {
    attempt: {
      deliveryId: job.delivery.id,
      startedAt,
      durationMs: answer.durationMs,
      statusCode: answer.statusCode,
      error: isDelivered ? null : (answer.error ?? `the receiver answered ${answer.statusCode}`),
      responseBody: answer.responseBody,
    },
    next: nextState(job, isDelivered, deps.clock.now()),
  };
}

/** A 2xx whose answer broke off timed out like any other: the receiver may not have done what it began. */
function isWholeSuccess({ statusCode, error }: WebhookAnswer): boolean {
  return error === null && statusCode !== null && statusCode >= 200 && statusCode < 300;
}

async function sendOrSay(deps: AttemptDeps, job: DeliveryJob): Promise<WebhookAnswer> {
  try {
    return await deps.sender.send(await buildDelivery(deps, job));
  } catch (error) {
    deps.unbuilt.tell(error, job);
    // Other errors' words may hold what is inside.
    const text = error instanceof ServiceError ? error.message : 'the delivery could not be built';
    return { statusCode: null, responseBody: null, error: text, durationMs: 0 };
  }
}

function nextState(job: DeliveryJob, isDelivered: boolean, now: number): DeliveryOutcome['next'] {
  if (isDelivered) return { state: 'delivered', endedAt: now };
  const isTest = job.delivery.eventName === TEST_EVENT;
  const dueAt = isTest ? undefined : nextAttemptAt(job.delivery.roundAttempts + 1, now);
  return dueAt === undefined ? { state: 'failed', endedAt: now } : { state: 'pending', dueAt };
}
