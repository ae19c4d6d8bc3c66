import type { Egress } from './media-server.ts';

/** An event of the media server, in LiveKit's terms; instants in Unix milliseconds. */
export type MediaEvent = {
  /** The media server's own id, the same on every retry. */
  readonly id: string;
  readonly type: string;
  /** The media server sends whole seconds. */
  readonly createdAt: number;
  /** When the service received it; undefined before that. */
  readonly receivedAt?: number | undefined;
  /** Egress and ingress events contain only sid and name. */
  readonly room: MediaEventRoom | undefined;
  /** Track events contain only sid and identity. */
  readonly participant: MediaEventParticipant | undefined;
  /** LiveKit's TrackInfo in protobuf JSON. */
  readonly track: Readonly<Record<string, unknown>> | undefined;
  readonly egress: Egress | undefined;
  readonly ingress: MediaEventIngress | undefined;
  /** Identifies one of an ingress's successive streams, because the media server may report a stream several times. */
  readonly streamId?: string | undefined;
  /** Trace of the request with the event; undefined without tracing. */
  readonly traceparent?: string | undefined;
};

export type MediaEventRoom = {
  readonly sid: string;
  readonly name: string;
  readonly createdAt: number | undefined;
  /** As it was when the event happened; undefined when the event does not contain it. */
  readonly metadata?: string | undefined;
};

export type MediaEventParticipant = {
  readonly sid: string;
  readonly identity: string;
  readonly name: string;
  /** STANDARD, INGRESS, EGRESS, SIP, AGENT …; undefined when the event does not contain it. */
  readonly kind: string | undefined;
  readonly isHidden: boolean;
  /** Whether the identity was blocked in the room when the service received its join. */
  readonly isBlocked?: boolean;
  readonly joinedAt: number | undefined;
  readonly metadata?: string | undefined;
  /** Role of the token with which the participant joined; undefined for tokens that another program issued. */
  readonly accessRole?: string | undefined;
  /** API key whose token the participant had; undefined for the root key and for another program. */
  readonly keyId?: string | undefined;
  /** The token with which the participant waited to be admitted; undefined for somebody who did not wait. */
  readonly admission?: string | undefined;
  /** Only of somebody who waits now. */
  readonly attributes?: Readonly<Record<string, string>> | undefined;
  /** Only with participant_left. */
  readonly leaveReason?: LeaveReason | undefined;
};

/** `lost`: the connection ended without the participant announcing it. */
export type LeaveReason = 'left' | 'removed' | 'lost' | 'room_closed' | 'duplicate_identity';

export type MediaEventIngress = {
  readonly ingressId: string;
  readonly name: string;
  readonly inputType: string;
  readonly participantIdentity: string;
  readonly participantName: string;
  /** Why the stream failed. */
  readonly error: string | undefined;
};

/** Checks the signature of the media server's events, and reads them. */
export interface MediaEventReader {
  /**
   * Returns whether the media server signed this header for an event. The body, which is not read yet, may belong to another
   * event.
   */
  isEventToken(authorization: string | undefined): Promise<boolean>;
  /**
   * `authorization` is the JWT of the request, whose sha256 claim covers the raw body. Throws ServiceError
   * missing-credentials when the signature is missing or wrong, and invalid-request for a signed body that cannot be read.
   */
  read(body: Uint8Array, authorization: string | undefined): Promise<MediaEvent>;
}
