import type { Egress } from './media-server.ts';

/**
 * An event of the media server arrives within this. It is sent within a second; retries after failed attempts end
 * after 15 s.
 */
export const EVENT_ARRIVAL_MS = 20_000;

/** An event that the media server tells of, in its own words; instants in Unix milliseconds. */
export type MediaEvent = {
  /** The media server's own id, the same on every retry. */
  readonly id: string;
  readonly type: string;
  readonly createdAt: number;
  /** Egress and ingress events carry only sid and name. */
  readonly room: MediaEventRoom | undefined;
  /** Track events carry only sid and identity. */
  readonly participant: MediaEventParticipant | undefined;
  /** LiveKit's TrackInfo in protobuf JSON. */
  readonly track: Readonly<Record<string, unknown>> | undefined;
  readonly egress: Egress | undefined;
  readonly ingress: MediaEventIngress | undefined;
  /** Which of an ingress's streams it is about, one after the other: the media server may tell of one several times. */
  readonly streamId?: string | undefined;
};

export type MediaEventRoom = {
  readonly sid: string;
  readonly name: string;
  readonly createdAt: number | undefined;
};

export type MediaEventParticipant = {
  readonly sid: string;
  readonly identity: string;
  readonly name: string;
  /** STANDARD, INGRESS, EGRESS, SIP, AGENT …; undefined where the event does not say. */
  readonly kind: string | undefined;
  readonly isHidden: boolean;
  readonly joinedAt: number | undefined;
  readonly metadata?: string | undefined;
  /** The role of the token with which the participant joined; undefined for tokens of others. */
  readonly role?: string | undefined;
  /** Only with participant_left. */
  readonly leaveReason?: LeaveReason | undefined;
};

/** lost: the connection ended without a word of the participant. */
export type LeaveReason = 'left' | 'removed' | 'lost' | 'room_closed' | 'duplicate_identity';

export type MediaEventIngress = {
  readonly ingressId: string;
  readonly name: string;
  readonly inputType: string;
  readonly participantIdentity: string;
  readonly participantName: string;
  /** Why it ended, where it failed. */
  readonly error: string | undefined;
};

/** Checks that an event comes from the media server, and reads it. */
export interface MediaEventReader {
  /** Whether the media server signed this for some event; known before the body, which it may then not be of. */
  isEventToken(authorization: string | undefined): Promise<boolean>;
  /**
   * `authorization` is the JWT of the request, whose sha256 claim covers the raw body. Undefined for a signature
   * that is missing or wrong. Throws ServiceError invalid-request for a signed body that cannot be read.
   */
  read(body: Uint8Array, authorization: string | undefined): Promise<MediaEvent | undefined>;
}
