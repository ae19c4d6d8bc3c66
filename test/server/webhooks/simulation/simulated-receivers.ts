import type {
  WebhookRequest,
  WebhookResponse,
  WebhookSender,
} from '../../../../src/server/webhooks/sender/sender.ts';
import type { Schedule } from '../../../support/simulation/schedule.ts';

export type SentRequest = {
  readonly instance: string;
  readonly webhookId: string;
  readonly eventId: string;
  /** When its instance sent it, on the simulation's clock. */
  readonly sentAt: number;
  /** Whether the receiver got the request, and its response. */
  arrived: 'not yet' | 'accepted' | 'refused';
  /** Whether the instance has a response or has given up. */
  isOver: boolean;
};

type RequestObservers = {
  /** Called for each request before it is added to `requests`. */
  readonly onSend: (request: SentRequest) => void;
  /** Called when the receiver has just accepted the request. */
  readonly onAccept: (request: SentRequest) => void;
};

/** The timeout of a delivery (webhook-sender.ts). */
const TIMEOUT_MS = 10_000;

/** The receivers of all webhooks, by the paths of their URLs. */
export class SimulatedReceivers {
  readonly requests: SentRequest[] = [];
  isPeaceful = false;
  /** If true, receivers accept everything shortly before the timeout. */
  areSlow = false;
  readonly #schedule: Schedule;
  readonly #observers: RequestObservers;

  constructor(schedule: Schedule, observers: RequestObservers) {
    this.#schedule = schedule;
    this.#observers = observers;
  }

  createSender(instance: string): WebhookSender {
    return {
      send: (request) => this.#send(instance, request),
      close: async () => {},
    };
  }

  async #send(instance: string, { url, headers }: WebhookRequest): Promise<WebhookResponse> {
    const { clock } = this.#schedule;
    const request: SentRequest = {
      instance,
      webhookId: new URL(url).pathname.slice(1),
      eventId: headers['webhook-id'] ?? '',
      sentAt: clock.now(),
      arrived: 'not yet',
      isOver: false,
    };
    this.#observers.onSend(request);
    this.requests.push(request);
    const response = await this.#exchange(instance, request);
    request.isOver = true;
    return { responseBody: null, durationMs: clock.now() - request.sentAt, ...response };
  }

  async #exchange(instance: string, request: SentRequest) {
    await this.#schedule.turn(instance, 'request');
    if (this.#happens(10)) return NO_RESPONSE;
    request.arrived = this.#happens(5) ? 'refused' : 'accepted';
    if (request.arrived === 'accepted') this.#observers.onAccept(request);
    const { sleep } = this.#schedule.createClock(instance, 0);
    if (this.areSlow) await sleep(TIMEOUT_MS - 1_000);
    else if (this.#happens(10)) await sleep(TIMEOUT_MS);
    else await this.#schedule.turn(instance, 'request');
    const isLate = this.#schedule.clock.now() - request.sentAt >= TIMEOUT_MS;
    if ((isLate && !this.areSlow) || this.#happens(10)) return NO_RESPONSE;
    return { statusCode: request.arrived === 'accepted' ? 200 : 500, error: null };
  }

  #happens(oneIn: number): boolean {
    return !this.isPeaceful && this.#schedule.oneIn(oneIn);
  }
}

const NO_RESPONSE = { statusCode: null, error: 'nobody responded' };
