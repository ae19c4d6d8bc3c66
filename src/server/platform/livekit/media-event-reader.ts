import { createHash } from 'node:crypto';
import { DisconnectReason } from '@livekit/protocol';
import { type ParticipantInfo, TokenVerifier, WebhookEvent } from 'livekit-server-sdk';
import { ServiceError } from '../../../contract/errors.ts';
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

/** The media server's clock may differ from ours; its tokens are valid for five minutes. */
const CLOCK_TOLERANCE_SECONDS = 300;

/** Reads LiveKit's webhooks, https://docs.livekit.io/home/server/webhooks/. */
export function createMediaEventReader(apiKey: string, apiSecret: string): MediaEventReader {
  const verifier = new TokenVerifier(apiKey, apiSecret);
  return {
    isEventToken: async (authorization) => (await signedHash(verifier, authorization)) !== undefined,
    read: async (body, authorization) => {
      if ((await signedHash(verifier, authorization)) !== hashBody(body)) return undefined;
      return toMediaEvent(parse(new TextDecoder().decode(body)));
    },
  };
}

/**
 * Returns the hash of the body that the token signs; undefined when the media server did not sign it, and for the token of a
 * participant. The SDK's receiver is not used, because it does not distinguish a wrong signature from an unreadable body.
 */
async function signedHash(verifier: TokenVerifier, token: string | undefined): Promise<string | undefined> {
  if (token === undefined) return undefined;
  try {
    const { sha256 } = await verifier.verify(token, CLOCK_TOLERANCE_SECONDS);
    return typeof sha256 === 'string' ? sha256 : undefined;
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
