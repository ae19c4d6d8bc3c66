import { createHash } from 'node:crypto';
import type { EventBroadcast } from '../../contract/broadcasts.ts';
import type { CloseReason } from '../../contract/choices.ts';
import type { EventType } from '../../contract/event-names.ts';
import { MAX_EVENT_METADATA_BYTES } from '../../contract/names.ts';
import type { RoomClosing } from '../../contract/plans.ts';
import type { LeaveReason, MediaEventIngress } from '../platform/livekit/media-event.ts';
import type { NewEvent, RoomSession } from './store.ts';

/** The subject of an event besides its room, as members of the payload. */
export type EventSubject = {
  readonly participant?: {
    readonly sid: string;
    readonly identity: string;
    readonly name: string;
    readonly joinedAt?: string;
    readonly metadata?: string;
    readonly role?: string;
    readonly leaveReason?: LeaveReason;
    /** ISO 8601. */
    readonly waitingSince?: string;
  };
  readonly track?: Readonly<Record<string, unknown>>;
  readonly recording?: EventRecording;
  readonly broadcast?: EventBroadcast;
  readonly ingress?: MediaEventIngress;
  readonly transcription?: Readonly<Record<string, unknown>>;
  /** ISO 8601, null for ever. */
  readonly closedUntil?: string | null;
  readonly closing?: RoomClosing;
  /** The work that a plan could not start. */
  readonly planned?: {
    readonly starts: 'recording' | 'transcription';
    readonly error: { readonly code: string; readonly message: string };
  };
  /** Why a plan closed the room. */
  readonly closeReason?: CloseReason;
};

/** Has the object's key in place of the file URL, because a URL is signed for every attempt. */
export type EventRecording = {
  readonly egressId: string;
  readonly status: string;
  /** ISO 8601, null until known. */
  readonly mediaStartedAt: string | null;
  readonly durationMs?: number | undefined;
  readonly sizeBytes?: number | undefined;
  readonly error?: string | undefined;
  /** An earlier egress_ended reported the recording as failed. */
  readonly corrected?: boolean;
  /** Our id of the recording; absent when the service does not know it. */
  readonly recordingId?: string | undefined;
};

/** An event before it is stored. */
export type DomainEvent = {
  readonly type: EventType;
  /** Unique id of what happened, so that an event that is received twice is stored once. */
  readonly sourceId: string;
  readonly occurredAt: number;
  readonly subject: EventSubject;
  readonly isReconciled: boolean;
  /** Left out: see event-times.ts. It changes the count of participants all the same. */
  readonly isUntold?: boolean | undefined;
  /** The event is told some time after it happened: participants were counted then. */
  readonly isLate?: boolean | undefined;
  /** End of the usage that it reports, if that is not its time. */
  readonly usedUntil?: number | undefined;
  /** The instant before which the next events of this kind and participant are left out. */
  readonly limitedUntil?: number | undefined;
};

type EventContext = {
  readonly id: string;
  readonly session: RoomSession | undefined;
  /** Room of an event whose room session is not known. */
  readonly roomName: string | undefined;
  readonly numParticipants: number;
  readonly createdAt: number;
  readonly traceparent: string | null;
};

export function toNewEvent(domainEvent: DomainEvent, context: EventContext): NewEvent {
  const { session } = context;
  const sequence = session === undefined ? null : session.sequence + 1;
  const payload = {
    room: toRoom(domainEvent, context),
    timestamp: new Date(domainEvent.occurredAt).toISOString(),
    id: context.id,
    sequence,
    ...(domainEvent.isReconciled ? { reconciled: true } : {}),
    ...(domainEvent.limitedUntil === undefined
      ? {}
      : { limitedUntil: new Date(domainEvent.limitedUntil).toISOString() }),
    ...domainEvent.subject,
  };
  return {
    id: context.id,
    sourceId: domainEvent.sourceId,
    type: domainEvent.type,
    room: session?.name ?? context.roomName ?? null,
    roomSid: session?.sid ?? null,
    sequence,
    payload: JSON.stringify(payload),
    occurredAt: domainEvent.occurredAt,
    createdAt: context.createdAt,
    traceparent: context.traceparent,
  };
}

function toRoom({ type, occurredAt }: DomainEvent, { session, roomName, numParticipants }: EventContext) {
  if (session === undefined)
    return roomName === undefined ? null : { id: '', name: roomName, metadata: null, numParticipants };
  return {
    id: session.sid,
    name: session.name,
    createdAt: new Date(session.createdAt).toISOString(),
    ...(type === 'room_finished' ? { endedAt: new Date(occurredAt).toISOString() } : {}),
    ...showMetadata(session.metadata),
    numParticipants,
  };
}

/*
 * The row of a session has what is known of its room's metadata, as JSON text. The media server tells the metadata with some
 * events only, and the others take it from there. Events contain it, so that a long one would be stored and sent with each
 * of them: of one that is longer than events contain, only its length and its hash are kept.
 */

/** Leaves out metadata of sessions that is stored already: it may be long, and may have changed since it was read. */
export function withChangedMetadata(
  sessions: readonly RoomSession[],
  stored: readonly RoomSession[],
): readonly RoomSession[] {
  const known = new Map(stored.map(({ sid, metadata }) => [sid, metadata]));
  return sessions.map((session) =>
    session.metadata === known.get(session.sid) ? { ...session, metadata: null } : session,
  );
}

/** The members of a room's metadata in events and sessions. */
type ShownMetadata = {
  /** Null when it is not known, or longer than events contain; the other members then say what it is. */
  readonly metadata: string | null;
  readonly metadataBytes?: number;
  readonly metadataSha256?: string;
};

/** `at`: when the room had it. */
type KnownMetadata = ShownMetadata & { readonly at: number };

/** Returns what is known when a room had the metadata at an instant: the text from before if nothing has changed. */
export function learnMetadata(known: string | null, metadata: string | undefined, at: number): string | null {
  if (metadata === undefined) return known;
  const earlier = parseKnown(known);
  const shown = toShown(metadata);
  const isSame = earlier?.metadata === shown.metadata && earlier.metadataSha256 === shown.metadataSha256;
  return isSame ? known : JSON.stringify({ at, ...shown } satisfies KnownMetadata);
}

/** Keeps what was known if it is later than what an event told: an event may arrive after a later change. */
export function withLaterMetadata(told: RoomSession, known: RoomSession | undefined): RoomSession {
  if (known === undefined || known.metadata === told.metadata) return told;
  const isEarlier = (parseKnown(known.metadata)?.at ?? 0) > (parseKnown(told.metadata)?.at ?? 0);
  return isEarlier ? { ...told, metadata: known.metadata } : told;
}

export function showMetadata(known: string | null): ShownMetadata {
  const { at: _, ...shown } = parseKnown(known) ?? { at: 0, metadata: null };
  return shown;
}

function parseKnown(known: string | null): KnownMetadata | undefined {
  return known === null ? undefined : JSON.parse(known);
}

function toShown(metadata: string): ShownMetadata {
  const metadataBytes = Buffer.byteLength(metadata);
  if (metadataBytes <= MAX_EVENT_METADATA_BYTES) return { metadata };
  const metadataSha256 = createHash('sha256').update(metadata).digest('hex');
  return { metadata: null, metadataBytes, metadataSha256 };
}
