import { createHash } from 'node:crypto';
import { DisconnectReason } from '@livekit/protocol';
import { type ParticipantInfo, TokenVerifier, WebhookEvent } from 'livekit-server-sdk';
import { ServiceError } from '../../../contract/errors.ts';
import { readMembers } from '../../../contract/unknown-value.ts';
import { requireBoundedDepth } from '../http/bodies/read-body.ts';
import type {
  LeaveReason,
  MediaEvent,
  MediaEventIngress,
  MediaEventParticipant,
  MediaEventReader,
  MediaEventRoom,
} from './media-event.ts';
import { toEgress } from './records.ts';
import { type RejectionReason, WebhookFault } from './rejected-webhooks.ts';
import { CLOCK_TOLERANCE_SECONDS } from './token-signer.ts';

/** Reads LiveKit's webhooks, https://docs.livekit.io/home/server/webhooks/. */
export function createMediaEventReader(apiKey: string, apiSecret: string): MediaEventReader {
  const key = { apiKey, verifier: new TokenVerifier(apiKey, apiSecret) };
  return {
    isEventToken: async (authorization) => 'hash' in (await readToken(key, authorization)),
    read: async (body, authorization) => {
      const token = await readToken(key, authorization);
      if ('fault' in token) throw notSigned(token.fault);
      if (token.hash !== hashBody(body)) throw notSigned('other-body');
      return toMediaEvent(parse(new TextDecoder().decode(body)));
    },
  };
}

/** The caller may be anybody, so that only the service's log says what is wrong. */
function notSigned(reason: RejectionReason): ServiceError {
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
  try {
    const [, claims = ''] = token.split('.');
    return readMembers(JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'))).iss;
  } catch {
    return undefined;
  }
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
  return { sid, name, createdAt: toMilliseconds(room?.creationTimeMs, room?.creationTime) };
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
    role: info.attributes['rtc.role'],
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
