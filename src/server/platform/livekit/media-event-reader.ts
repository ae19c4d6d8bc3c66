import { createHash } from 'node:crypto';
import { DisconnectReason } from '@livekit/protocol';
import { type ParticipantInfo, TokenVerifier, WebhookEvent } from 'livekit-server-sdk';
import { ServiceError } from '../../../contract/errors.ts';
import type { SelfCheck } from '../../../contract/self-check.ts';
import { parseJson, readMembers } from '../../../contract/unknown-value.ts';
import type { Clock } from '../clock.ts';
import { requireBoundedDepth } from '../http/bodies/read-body.ts';
import type { Log } from '../log.ts';
import type {
  LeaveReason,
  MediaEvent,
  MediaEventIngress,
  MediaEventParticipant,
  MediaEventReader,
  MediaEventRoom,
} from './media-event.ts';
import { toEgress } from './records.ts';
import { CLOCK_TOLERANCE_SECONDS } from './token-signer.ts';

/** Reads LiveKit's webhooks, https://docs.livekit.io/home/server/webhooks/. */
export function createMediaEventReader(apiKey: string, apiSecret: string): MediaEventReader {
  const key = { apiKey, verifier: new TokenVerifier(apiKey, apiSecret) };
  return {
    isEventToken: async (authorization) => 'hash' in (await readToken(key, authorization)),
    read: async (body, authorization) => {
      const token = await readToken(key, authorization);
      if ('fault' in token) throw toUnsignedError(token.fault);
      if (token.hash !== hashBody(body)) throw toUnsignedError('other-body');
      return toMediaEvent(parse(new TextDecoder().decode(body)));
    },
  };
}

/** The caller may be anybody, so that only the service's log says what is wrong. */
function toUnsignedError(reason: RejectionReason): ServiceError {
  return new ServiceError(
    'missing-credentials',
    "The Authorization header is not the media server's signature of this body.",
    { cause: new WebhookFault(reason) },
  );
}

type MediaKey = { readonly apiKey: string; readonly verifier: TokenVerifier };

type Token = { readonly hash: string } | { readonly fault: RejectionReason };

/**
 * Reads the hash of the body that the token signs. The token of a participant signs none. The SDK's receiver is not used,
 * because it does not distinguish a wrong signature from an unreadable body.
 */
async function readToken({ apiKey, verifier }: MediaKey, token: string | undefined): Promise<Token> {
  if (token === undefined) return { fault: 'no-token' };
  try {
    const { sha256 } = await verifier.verify(token, CLOCK_TOLERANCE_SECONDS);
    return typeof sha256 === 'string' ? { hash: sha256 } : { fault: 'no-token' };
  } catch (error) {
    const issuer = readIssuer(token);
    if (issuer === undefined) return { fault: 'no-token' };
    return { fault: issuer === apiKey ? findFault(error) : 'other-key' };
  }
}

function findFault(error: unknown): RejectionReason {
  const { code, claim } = readMembers(error);
  if (code === 'ERR_JWT_EXPIRED' || claim === 'nbf' || claim === 'exp') return 'wrong-time';
  return code === 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED' ? 'wrong-secret' : 'no-token';
}

/** A token whose signature is wrong says with its claims only which key it was meant for. */
function readIssuer(token: string): unknown {
  const [, claims = ''] = token.split('.');
  return readMembers(parseJson(Buffer.from(claims, 'base64url').toString('utf8'))).iss;
}

function hashBody(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('base64');
}

function parse(text: string): WebhookEvent {
  try {
    const body = JSON.parse(text);
    requireBoundedDepth(body);
    return WebhookEvent.fromJson(body, { ignoreUnknownFields: true });
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    throw new ServiceError('invalid-request', 'The body is not an event of the media server.', { cause });
  }
}

function toMediaEvent(event: WebhookEvent): MediaEvent {
  return {
    id: event.id,
    type: event.event,
    createdAt: toTime(Number(event.createdAt) * 1000),
    room: toRoom(event),
    participant: event.participant && toParticipant(event.participant, event.event),
    track: event.track?.toJson({ emitDefaultValues: true }) as MediaEvent['track'],
    egress: event.egressInfo && toEgress(event.egressInfo),
    ingress: toIngress(event),
    streamId: event.ingressInfo?.state?.resourceId || undefined,
  };
}

function toRoom({ room, egressInfo, ingressInfo }: WebhookEvent): MediaEventRoom | undefined {
  const name = room?.name ?? egressInfo?.roomName ?? ingressInfo?.roomName ?? '';
  const sid = room?.sid ?? egressInfo?.roomId ?? ingressInfo?.state?.roomId ?? '';
  if (name === '') return undefined;
  const createdAt = toMilliseconds(room?.creationTimeMs, room?.creationTime);
  // Without the time it is the short form, which has no metadata either.
  return { sid, name, createdAt, metadata: createdAt === undefined ? undefined : room?.metadata };
}

function toParticipant(info: ParticipantInfo, type: string): MediaEventParticipant {
  const { kind } = info.toJson({ emitDefaultValues: true }) as { readonly kind?: string };
  return {
    sid: info.sid,
    identity: info.identity,
    name: info.name,
    kind: info.joinedAt === 0n ? undefined : kind,
    isHidden: info.permission?.hidden ?? false,
    joinedAt: toMilliseconds(info.joinedAtMs, info.joinedAt),
    // Events of tracks contain only sid and identity.
    metadata: info.joinedAt === 0n ? undefined : info.metadata,
    accessRole: info.attributes['rtc.role'],
    keyId: info.attributes['rtc.key'],
    ...('rtc.admission' in info.attributes && { admission: info.attributes['rtc.admission'] }),
    ...('rtc.waiting' in info.attributes && { attributes: info.attributes }),
    leaveReason: type === 'participant_left' ? (LEAVE_REASONS[info.disconnectReason] ?? 'lost') : undefined,
  };
}

/** Every other reason means that the connection was lost. */
const LEAVE_REASONS: Readonly<Partial<Record<DisconnectReason, LeaveReason>>> = {
  [DisconnectReason.CLIENT_INITIATED]: 'left',
  [DisconnectReason.USER_UNAVAILABLE]: 'left',
  [DisconnectReason.USER_REJECTED]: 'left',
  [DisconnectReason.DUPLICATE_IDENTITY]: 'duplicate_identity',
  [DisconnectReason.PARTICIPANT_REMOVED]: 'removed',
  [DisconnectReason.ROOM_DELETED]: 'room_closed',
  [DisconnectReason.ROOM_CLOSED]: 'room_closed',
};

function toMilliseconds(milliseconds: bigint | undefined, seconds: bigint | undefined): number | undefined {
  if (milliseconds !== undefined && milliseconds > 0n) return toTime(Number(milliseconds));
  return seconds === undefined || seconds === 0n ? undefined : toTime(Number(seconds) * 1000);
}

/** The last instant of RFC 3339. An event with a later one could never be stored, and would be sent repeatedly. */
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

function toTime(milliseconds: number): number {
  return Math.min(Math.max(milliseconds, 0), LAST_TIME);
}

function toIngress({ ingressInfo }: WebhookEvent): MediaEventIngress | undefined {
  if (ingressInfo === undefined) return undefined;
  const { inputType } = ingressInfo.toJson({ emitDefaultValues: true }) as { readonly inputType: string };
  const error = ingressInfo.state?.error;
  return {
    inputType,
    ingressId: ingressInfo.ingressId,
    name: ingressInfo.name,
    participantIdentity: ingressInfo.participantIdentity,
    participantName: ingressInfo.participantName,
    error: error === undefined || error === '' ? undefined : error,
  };
}

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

type RejectionReason = keyof typeof REASONS;

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
