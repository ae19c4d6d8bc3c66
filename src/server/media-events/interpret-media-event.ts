import type { DomainEvent, EventSubject } from '../events/event-payload.ts';
import type { ParticipantSession, PresenceStore, RoomSession } from '../events/store.ts';
import type { LeaveReason, MediaEvent, MediaEventParticipant } from '../platform/livekit/media-event.ts';

/*
 * What an event of the media server means, given who is known to be in the room. Presence goes by participant sid:
 * a `left` may come after the next `joined` of the same identity.
 *
 *   room_started        LiveKit sends it when the room is made: room_created
 *   participant_joined  the first one of a session: room_created if that was missed, room_started, participant_joined
 *   participant_left    without a join before it: kept aside, not told; a join that comes late is then told with it
 *   room_finished       whoever is still present has left first
 *
 * The media server tells whole seconds, but for the moments when rooms opened and participants joined. So that time
 * does not run backwards, nothing of a participant is told to be before the joining, nor a room's end before that.
 *
 * Recorders and agents are known as machinery, and neither told of nor counted. What is not listed here
 * (egress_updated, participant_connection_aborted) tells us nothing that others do not.
 */

export type Interpretation = {
  readonly domainEvents: readonly DomainEvent[];
  /** The session as it is after the event but for its sequence. */
  readonly session: RoomSession | undefined;
};

type Presence = Pick<PresenceStore, 'findParticipant' | 'saveParticipant' | 'listPresent'>;

export async function interpretMediaEvent(
  presence: Presence,
  event: MediaEvent,
  session: RoomSession | undefined,
): Promise<Interpretation> {
  const told = (domainEvents: readonly DomainEvent[]): Interpretation => ({ domainEvents, session });
  switch (event.type) {
    case 'room_started':
      return told(session === undefined ? [] : [roomEvent('room_created', session, session.createdAt)]);
    case 'room_finished':
      return session === undefined ? told([]) : await finishRoom(presence, session, event.createdAt, false);
    case 'participant_joined':
      return await join(presence, event, session);
    case 'participant_left':
      return told(await leave(presence, event, session));
    case 'track_published':
    case 'track_unpublished':
      return told(await tellOfTrack(presence, event, event.type));
    case 'ingress_started':
    case 'ingress_ended':
      return told(isRefusedStream(event) ? [] : [tellOfStream(event, event.type)]);
    default:
      return told([]);
  }
}

/** Everyone still present has left, then the room is finished. A session that has ended stays as it is. */
export async function finishRoom(
  presence: Presence,
  session: RoomSession,
  endedAt: number,
  isReconciled: boolean,
): Promise<Interpretation> {
  if (session.endedAt !== null) return { domainEvents: [], session };
  const present = await presence.listPresent(session.sid);
  const left: DomainEvent[] = [];
  for (const participant of present)
    left.push(
      await leaveNow(presence, participant, { occurredAt: endedAt, isReconciled, reason: 'room_closed' }),
    );
  const lastAt = Math.max(endedAt, session.createdAt, ...left.map(({ occurredAt }) => occurredAt));
  const finished = { ...roomEvent('room_finished', session, lastAt), isReconciled };
  return { domainEvents: [...left, finished], session: { ...session, endedAt: lastAt } };
}

export type Leaving = Pick<DomainEvent, 'occurredAt' | 'isReconciled'> & { readonly reason: LeaveReason };

/** Marks a participant who is present as gone. */
export async function leaveNow(
  presence: Presence,
  participant: ParticipantSession,
  { occurredAt, isReconciled, reason }: Leaving,
): Promise<DomainEvent> {
  const leftAt = Math.max(occurredAt, participant.joinedAt ?? occurredAt);
  await presence.saveParticipant({ ...participant, leftAt });
  const event = { type: 'participant_left', occurredAt: leftAt, isReconciled } as const;
  return participantEvent(participant, event, { leaveReason: reason });
}

/** A participant is there who was not known; the first one of a session starts the room. */
export async function joinNow(
  presence: Presence,
  session: RoomSession,
  participant: ParticipantSession & { readonly joinedAt: number },
  isReconciled: boolean,
): Promise<Interpretation> {
  await presence.saveParticipant(participant);
  const joined = participantEvent(
    participant,
    { type: 'participant_joined', occurredAt: participant.joinedAt, isReconciled },
    {},
  );
  if (session.startedAt !== null) return { domainEvents: [joined], session };
  // Stored only where the media server's own event did not come first.
  const created = { ...roomEvent('room_created', session, session.createdAt), isReconciled: true };
  const started = { ...roomEvent('room_started', session, participant.joinedAt), isReconciled };
  return {
    domainEvents: [created, started, joined],
    session: { ...session, startedAt: participant.joinedAt },
  };
}

async function join(
  presence: Presence,
  event: MediaEvent,
  session: RoomSession | undefined,
): Promise<Interpretation> {
  const { participant: info } = event;
  if (info === undefined || session === undefined) return { domainEvents: [], session };
  const known = await presence.findParticipant(info.sid);
  if (known?.joinedAt != null) return { domainEvents: [], session };
  const joined = toSession(info, session.sid, event.createdAt);
  if (joined.role === 'machinery') {
    await presence.saveParticipant(joined);
    return { domainEvents: [], session };
  }
  const joining = await joinNow(presence, session, joined, false);
  const leftAt = known?.leftAt ?? session.endedAt;
  if (leftAt === null) return joining;
  // It left before its joining was told: both are told now, in their order.
  const left = await leaveNow(presence, joined, {
    occurredAt: leftAt,
    isReconciled: false,
    reason: known === undefined ? 'room_closed' : 'lost',
  });
  return { ...joining, domainEvents: [...joining.domainEvents, left] };
}

async function leave(
  presence: Presence,
  event: MediaEvent,
  session: RoomSession | undefined,
): Promise<readonly DomainEvent[]> {
  const { participant: info } = event;
  if (info === undefined || session === undefined) return [];
  const known = await presence.findParticipant(info.sid);
  if (known === undefined) {
    await presence.saveParticipant({
      ...toSession(info, session.sid, event.createdAt),
      joinedAt: null,
      leftAt: event.createdAt,
    });
    return [];
  }
  if (known.leftAt !== null) return [];
  if (known.role === 'participant') {
    const reason = info.leaveReason ?? 'lost';
    return [
      await leaveNow(
        presence,
        { ...known, ...detailsOf(info, known) },
        { occurredAt: event.createdAt, isReconciled: false, reason },
      ),
    ];
  }
  await presence.saveParticipant({ ...known, leftAt: event.createdAt });
  return [];
}

async function tellOfTrack(
  presence: Presence,
  event: MediaEvent,
  type: 'track_published' | 'track_unpublished',
): Promise<readonly DomainEvent[]> {
  const { participant: info, track } = event;
  if (info === undefined || track === undefined) return [];
  const known = await presence.findParticipant(info.sid);
  if (known?.role === 'machinery') return [];
  const participant = { sid: info.sid, identity: info.identity, name: known?.name ?? info.name };
  const occurredAt = Math.max(event.createdAt, known?.joinedAt ?? event.createdAt);
  return [{ ...tell(event, type, { participant, track }), occurredAt }];
}

/** A stream that was refused never came into its room, and no ingress_started was sent for it. */
function isRefusedStream({ type, room }: MediaEvent): boolean {
  return type === 'ingress_ended' && room !== undefined && room.sid === '';
}

/** LiveKit's ingress tells that a stream begins with its sound, and again with its picture. */
function tellOfStream(event: MediaEvent, type: 'ingress_started' | 'ingress_ended'): DomainEvent {
  const { ingress, streamId } = event;
  const told = tell(event, type, ingress === undefined ? {} : { ingress });
  return streamId === undefined ? told : { ...told, sourceId: `${type}:${streamId}` };
}

function tell(event: MediaEvent, type: DomainEvent['type'], subject: EventSubject): DomainEvent {
  return { type, sourceId: event.id, occurredAt: event.createdAt, subject, isReconciled: false };
}

function roomEvent(
  type: 'room_created' | 'room_started' | 'room_finished',
  session: RoomSession,
  occurredAt: number,
): DomainEvent {
  return { type, sourceId: `${type}:${session.sid}`, occurredAt, subject: {}, isReconciled: false };
}

function participantEvent(
  participant: ParticipantSession,
  { type, occurredAt, isReconciled }: Pick<DomainEvent, 'type' | 'occurredAt' | 'isReconciled'>,
  leaving: { readonly leaveReason?: LeaveReason },
): DomainEvent {
  const { sid, identity, name, joinedAt, metadata, accessRole } = participant;
  const told = {
    sid,
    identity,
    name,
    ...(metadata === null ? {} : { metadata }),
    ...(accessRole === null ? {} : { role: accessRole }),
    ...(joinedAt === null ? {} : { joinedAt: new Date(joinedAt).toISOString() }),
    ...leaving,
  };
  return { type, sourceId: `${type}:${sid}`, occurredAt, subject: { participant: told }, isReconciled };
}

const MACHINERY_KINDS = ['EGRESS', 'AGENT'];

export function toSession(
  info: MediaEventParticipant,
  roomSid: string,
  joinedAt: number,
): ParticipantSession & { readonly joinedAt: number } {
  return {
    sid: info.sid,
    roomSid,
    identity: info.identity,
    name: info.name,
    role: info.isHidden || MACHINERY_KINDS.includes(info.kind ?? '') ? 'machinery' : 'participant',
    joinedAt: info.joinedAt ?? joinedAt,
    leftAt: null,
    ...detailsOf(info, { metadata: null, accessRole: null }),
  };
}

type Details = Pick<ParticipantSession, 'metadata' | 'accessRole'>;

/** The event's metadata and role are the newest; some events do not have them. */
function detailsOf({ metadata, role }: MediaEventParticipant, known: Details): Details {
  return { metadata: metadata ?? known.metadata, accessRole: role ?? known.accessRole };
}
