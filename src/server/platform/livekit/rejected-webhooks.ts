import type { ServiceError } from '../../../contract/errors.ts';
import type { SelfCheck } from '../../../contract/self-check.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

/*
 * Webhooks of the media server that are rejected with 4xx. LiveKit repeats none of them and only writes a line into its own
 * log, so the events are missing until a comparison finds them. Callers that are no media server may send the same.
 */

const REASONS = {
  'no-token': {
    detail: 'they have no signature of a media server',
    next: 'let LiveKit send them, with webhook.api_key in its configuration; a proxy must pass the Authorization header on',
  },
  'other-key': {
    detail: 'they are signed with another key than LIVEKIT_API_KEY',
    next: "set webhook.api_key in LiveKit's configuration to the service's LIVEKIT_API_KEY",
  },
  'wrong-secret': {
    detail: 'they are signed with another secret than LIVEKIT_API_SECRET',
    next: "set LIVEKIT_API_SECRET to the secret that LiveKit's configuration has for the key (keys)",
  },
  'wrong-time': {
    detail: 'their signature has expired or is not valid yet',
    next: 'compare the clocks of both machines, and correct the wrong one (NTP)',
  },
  'other-body': {
    detail: 'their body is not the one that was signed',
    next: 'let LiveKit send them directly, or by a proxy that does not change bodies',
  },
  'unknown-path': {
    detail: 'they are sent to a path that does not exist',
    next: "correct webhook.urls in LiveKit's configuration: each URL ends in /livekit/webhook",
  },
  other: {
    detail: 'they cannot be read',
    next: "look at the service's log for the problem, and at what is between LiveKit and the service",
  },
} as const;

export type RejectionReason = keyof typeof REASONS;

/** The cause of the error for a webhook whose signature is not valid. */
export class WebhookFault extends Error {
  override readonly name = 'WebhookFault';
  readonly reason: RejectionReason;

  constructor(reason: RejectionReason) {
    super(REASONS[reason].detail);
    this.reason = reason;
  }
}

/** Anyone can send wrong webhooks, and one line for each would hide all others. */
const LOG_INTERVAL_MS = 60_000;

type RejectedWebhooksDeps = {
  readonly log: Log;
  readonly clock: Clock;
  readonly onRejected?: ((reason: RejectionReason) => void) | undefined;
};

/** Logs one warning a minute, and remembers the last rejection for the service's check of itself. */
export class RejectedWebhooks {
  readonly #deps: RejectedWebhooksDeps;
  #count = 0;
  #loggedCount = 0;
  #loggedAt: number | undefined;
  #last: { readonly reason: RejectionReason; readonly at: number } | undefined;
  #isAcceptedSince = false;

  constructor(deps: RejectedWebhooksDeps) {
    this.#deps = deps;
  }

  /** @param isKnownPath whether the webhook reached the route for it */
  reject({ code, status, cause }: ServiceError, { isKnownPath }: { readonly isKnownPath: boolean }): void {
    // LiveKit sends these again.
    if (status >= 500 || status === 429) return;
    const found = cause instanceof WebhookFault ? cause.reason : 'other';
    const reason = isKnownPath ? found : 'unknown-path';
    const { log, clock, onRejected } = this.#deps;
    onRejected?.(reason);
    this.#count += 1;
    this.#last = { reason, at: clock.monotonic() };
    this.#isAcceptedSince = false;
    if (this.#loggedAt !== undefined && clock.monotonic() - this.#loggedAt < LOG_INTERVAL_MS) return;
    const { detail, next } = REASONS[reason];
    const rejectedSinceLastLine = this.#count - this.#loggedCount;
    log.warn(
      { reason: detail, next, problem: code, rejectedSinceLastLine },
      "LiveKit's webhooks are rejected",
    );
    this.#loggedAt = clock.monotonic();
    this.#loggedCount = this.#count;
  }

  accept(): void {
    this.#isAcceptedSince = true;
  }

  /** The check for `rtc doctor`; nothing when none was rejected since the start. */
  check(): readonly SelfCheck[] {
    if (this.#last === undefined) return [];
    const { detail, next } = REASONS[this.#last.reason];
    const secondsAgo = Math.round((this.#deps.clock.monotonic() - this.#last.at) / 1000);
    const rejected = `${this.#count} rejected since the start, the last one ${secondsAgo} s ago: ${detail}`;
    // After an accepted one, the media server is set up right, and something else may have sent the others.
    return this.#isAcceptedSince
      ? [
          {
            check: 'LiveKit webhooks',
            status: 'warning',
            detail: `${rejected}; others were accepted since`,
            next,
          },
        ]
      : [{ check: 'LiveKit webhooks', status: 'fault', detail: rejected, next }];
  }
}
