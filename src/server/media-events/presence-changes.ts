import type { Participant } from '../../contract/participants.ts';
import type { Room } from '../../contract/rooms.ts';
import { readMembers } from '../../contract/unknown-value.ts';
import type { DomainEvent, EventSubject } from '../events/event-payload.ts';
import type { PresenceBatch } from '../events/presence-batch.ts';
import type { ParticipantSession, PublishedTrack, RoomSession } from '../events/store.ts';
import type { LeaveReason, MediaEventParticipant } from '../platform/livekit/media-event.ts';
import { STREAM_ROLE } from '../usage/usage-rows.ts';

/*
 * Changes of presence and the events that report them. The media server's own events and the comparison with the media
 * server use the same changes. Each event has a source id that identifies what happened, so that it is stored once.
 */

export type Changes = {
  readonly domainEvents: readonly DomainEvent[];
  /** The session after the change, except for its sequence number. */
  readonly session: RoomSession;
  /** Source ids of stored events that were wrong, so that what they report can happen again. */
  readonly disprovedSources?: readonly string[];
};

/** An event's time, and whether the comparison with the media server found it. */
export type EventTime = Pick<DomainEvent, 'occurredAt' | 'isReconciled'>;

/** A session of which no event is stored yet. */
export function newSession({
  sid,
  name,
  createdAt,
}: Pick<RoomSession, 'sid' | 'name' | 'createdAt'>): RoomSession {
  return { sid, name, createdAt, startedAt: null, endedAt: null, sequence: 0, metadata: null };
}

type Joining = {
  readonly participant: JoinedParticipant;
  readonly isReconciled: boolean;
  readonly limitedUntil?: number | undefined;
};

type JoinedParticipant = ParticipantSession & { readonly joinedAt: number };

/**
 * Adds a new participant. The first one of a session starts the room. Nobody joins before the room was opened: some lists of
 * the media server have whole seconds, and several of its machines have clocks of their own.
 */
export async function joinNow(
  presence: PresenceBatch,
  session: RoomSession,
  joining: Joining,
): Promise<Changes> {
  const { isReconciled, limitedUntil } = joining;
  const joinedAt = Math.max(joining.participant.joinedAt, session.createdAt);
  const participant = { ...joining.participant, joinedAt };
  await presence.saveParticipant(participant);
  const time = { occurredAt: participant.joinedAt, isReconciled };
  const joined = participantEvent('participant_joined', participant, { ...time, limitedUntil });
  if (session.startedAt !== null) return { domainEvents: [joined], session };
  // Stored only if the media server's own event has not been stored before.
  const created = roomEvent('room_created', session, { occurredAt: session.createdAt, isReconciled: true });
  const started = roomEvent('room_started', session, time);
  return {
    domainEvents: [created, started, joined],
    session: { ...session, startedAt: participant.joinedAt },
  };
}

export type Leaving = EventTime & { readonly reason: LeaveReason };

/** Marks a present participant as left. */
export async function leaveNow(
  presence: PresenceBatch,
  participant: ParticipantSession,
  { occurredAt, isReconciled, reason }: Leaving,
): Promise<DomainEvent> {
  const leftAt = Math.max(occurredAt, participant.joinedAt ?? occurredAt);
  // Metadata is kept until this event, which reports it. A participant who has left needs none.
  await presence.saveParticipant({ ...participant, leftAt, metadata: null });
  return participantEvent('participant_left', participant, {
    occurredAt: leftAt,
    isReconciled,
    leaveReason: reason,
  });
}

/** Ends a participant whom the media server no longer lists, with the tracks that the participant published until then. */
export async function loseParticipant(
  presence: PresenceBatch,
  participant: ParticipantSession,
  leaving: Leaving,
): Promise<readonly DomainEvent[]> {
  const unpublished = presence
    .listPublished(participant.sid)
    .map((track) => unpublishNow(presence, participant, { track, ...leaving }));
  return [...unpublished, await leaveNow(presence, participant, leaving)];
}

/** Ends all participants who are still present, then the room. A session that has ended stays as it is. */
export async function finishRoom(
  presence: PresenceBatch,
  session: RoomSession,
  { occurredAt, isReconciled }: EventTime,
): Promise<Changes> {
  if (session.endedAt !== null) return { domainEvents: [], session };
  const leaving = { occurredAt, isReconciled, reason: 'room_closed' } as const;
  const left: DomainEvent[] = [];
  for (const participant of await presence.listPresent(session.sid)) {
    if (isReconciled) left.push(...(await loseParticipant(presence, participant, leaving)));
    else left.push(await leaveNow(presence, participant, leaving));
  }
  // Those who left before count too: an end in the same second could otherwise be put before them.
  const lastLeftAt = await presence.findLastLeaving(session.sid);
  const lastAt = Math.max(occurredAt, session.createdAt, session.startedAt ?? occurredAt, lastLeftAt);
  const finished = roomEvent('room_finished', session, { occurredAt: lastAt, isReconciled });
  return { domainEvents: [...left, finished], session: { ...session, endedAt: lastAt } };
}

/**
 * Opens a session again that the comparison had ended, because the media server lists the room. It lists no room after the
 * loss of its Redis, although people go on talking there, and lists it again when it next writes it.
 */
export function reopenRoom(session: RoomSession, occurredAt: number): Changes {
  const time = { occurredAt, isReconciled: true };
  const types = ['room_created', ...(session.startedAt === null ? [] : (['room_started'] as const))] as const;
  return {
    session: { ...session, endedAt: null },
    domainEvents: types.map((type) => roomEvent(type, session, time)),
    disprovedSources: (['room_created', 'room_started', 'room_finished'] as const).map(
      (type) => roomEvent(type, session, time).sourceId,
    ),
  };
}

/** Returns the changes together, of which `later` begins with the session of the earlier ones. */
export function appendChanges(earlier: Changes, later: Changes): Changes {
  return {
    session: later.session,
    domainEvents: [...earlier.domainEvents, ...later.domainEvents],
    disprovedSources: [...(earlier.disprovedSources ?? []), ...(later.disprovedSources ?? [])],
  };
}

/** Lets a participant whose end was wrong be present again. */
export async function returnNow(
  presence: PresenceBatch,
  participant: ParticipantSession,
  time: EventTime,
): Promise<Pick<Required<Changes>, 'domainEvents' | 'disprovedSources'>> {
  const { sid } = participant;
  const returned = { ...participant, leftAt: null, untoldUntil: null };
  await presence.saveParticipant(returned);
  return {
    domainEvents: [participantEvent('participant_joined', returned, time)],
    disprovedSources: [`participant_joined:${sid}`, `participant_left:${sid}`],
  };
}

export type TrackInfo = Readonly<Record<string, unknown>>;

/** LiveKit's TrackInfo always has a sid. Returns an empty text for anything else. */
export function readTrackSid(track: TrackInfo): string {
  return typeof track.sid === 'string' ? track.sid : '';
}

type Publisher = Pick<ParticipantSession, 'sid' | 'identity' | 'name' | 'roomSid'>;

type Publishing = EventTime &
  Pick<DomainEvent, 'limitedUntil'> & {
    readonly track: TrackInfo;
    readonly untoldUntil?: number | null | undefined;
  };

/** Returns undefined when the track is known already. */
export function publishNow(
  presence: PresenceBatch,
  publisher: Publisher,
  { track, untoldUntil = null, ...time }: Publishing,
): DomainEvent | undefined {
  const sid = readTrackSid(track);
  if (presence.findTrack(sid) !== undefined) return undefined;
  presence.saveTrack({
    sid,
    participantSid: publisher.sid,
    roomSid: publisher.roomSid,
    track: JSON.stringify(track),
    publishedAt: time.occurredAt,
    unpublishedAt: null,
    untoldUntil,
  });
  return trackEvent('track_published', publisher, { track, ...time, isUntold: untoldUntil !== null });
}

/** Ends a track that was published before. */
export function unpublishNow(
  presence: PresenceBatch,
  publisher: Publisher,
  { track, ...time }: EventTime & { readonly track: PublishedTrack },
): DomainEvent {
  const occurredAt = Math.max(time.occurredAt, track.publishedAt);
  presence.saveTrack({ ...track, unpublishedAt: occurredAt });
  return trackEvent('track_unpublished', publisher, {
    track: JSON.parse(track.track),
    occurredAt,
    isReconciled: time.isReconciled,
    isUntold: track.untoldUntil !== null,
  });
}

type Telling = Pick<DomainEvent, 'isUntold' | 'isLate' | 'limitedUntil'>;

/** LiveKit gives every publication a new sid, so that the sid identifies the event. */
export function trackEvent(
  type: 'track_published' | 'track_unpublished',
  { sid, identity, name }: Omit<Publisher, 'roomSid'>,
  { track, ...time }: EventTime & Telling & { readonly track: TrackInfo },
): DomainEvent {
  const sourceId = `${type}:${readTrackSid(track)}`;
  return { type, sourceId, subject: { participant: { sid, identity, name }, track }, ...time };
}

export function roomEvent(
  type: 'room_created' | 'room_started' | 'room_finished',
  session: RoomSession,
  { occurredAt, isReconciled }: EventTime,
): DomainEvent {
  return { type, sourceId: `${type}:${session.sid}`, occurredAt, subject: {}, isReconciled };
}

export function participantEvent(
  type: 'participant_joined' | 'participant_left',
  participant: ParticipantSession,
  { leaveReason, ...time }: EventTime & Telling & { readonly leaveReason?: LeaveReason | undefined },
): DomainEvent {
  const { sid, identity, name, joinedAt, metadata, accessRole, untoldUntil } = participant;
  const subject: EventSubject['participant'] = {
    sid,
    identity,
    name,
    ...(metadata === null ? {} : { metadata }),
    ...(accessRole === null ? {} : { role: accessRole }),
    ...(joinedAt === null ? {} : { joinedAt: new Date(joinedAt).toISOString() }),
    ...(leaveReason === undefined ? {} : { leaveReason }),
  };
  return {
    type,
    sourceId: `${type}:${sid}`,
    subject: { participant: subject },
    isUntold: untoldUntil !== null,
    ...time,
  };
}

const SYSTEM_KINDS = ['EGRESS', 'AGENT'];
const STREAM_KIND = 'INGRESS';

export function toSession(info: MediaEventParticipant, roomSid: string, joinedAt: number): JoinedParticipant {
  return {
    sid: info.sid,
    roomSid,
    identity: info.identity,
    name: info.name,
    countsAs: toCountsAs(info),
    joinedAt: info.joinedAt ?? joinedAt,
    leftAt: null,
    untoldUntil: null,
    ...mergeDetails(info, { metadata: null, accessRole: null }),
    ...(info.kind === STREAM_KIND ? { accessRole: STREAM_ROLE } : {}),
    ...(info.keyId === undefined ? {} : { keyId: info.keyId }),
  };
}

function toCountsAs({ isHidden, kind, isBlocked }: MediaEventParticipant): ParticipantSession['countsAs'] {
  if (isHidden || SYSTEM_KINDS.includes(kind ?? '')) return 'machinery';
  return isBlocked ? 'blocked' : 'participant';
}

type Details = Pick<ParticipantSession, 'metadata' | 'accessRole'>;

/** Metadata and access role of the event are the newest, but some events do not have them. */
export function mergeDetails({ metadata, accessRole }: MediaEventParticipant, known: Details): Details {
  return { metadata: metadata ?? known.metadata, accessRole: accessRole ?? known.accessRole };
}

/** Builds the session of a participant whom the media server lists. */
export function buildSession(participant: Participant, roomSid: string): JoinedParticipant {
  const { sid, identity, name, kind, permission, metadata, attributes = {} } = participant;
  // The list has milliseconds too, which are not part of the API.
  const joinedAt = Number(readMembers(participant).joinedAtMs) || Number(participant.joinedAt) * 1000;
  return toSession(
    {
      sid,
      identity,
      name,
      kind,
      joinedAt,
      metadata,
      accessRole: attributes['rtc.role'],
      keyId: attributes['rtc.key'],
      isHidden: permission?.hidden === true,
    },
    roomSid,
    joinedAt,
  );
}

export function readOpenedAt({ creationTimeMs, creationTime }: Room): number {
  return Number(creationTimeMs) || Number(creationTime) * 1000;
}
