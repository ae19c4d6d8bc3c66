import type { DomainEvent, EventSubject } from '../events/event-payload.ts';
import type { PresenceBatch } from '../events/presence-batch.ts';
import type { RoomSession } from '../events/store.ts';
import type { MediaEvent } from '../platform/livekit/media-event.ts';
import type { Entrant } from '../rooms/entry.ts';
import { isHelper } from '../rooms/room-records.ts';
import type { RoomRecord } from '../rooms/store.ts';
import { isRefused, isWithheld, refusedJoinEvent, tell, withhold } from './closed-rooms.ts';
import {
  finishRoom,
  joinNow,
  leaveNow,
  mergeDetails,
  publishNow,
  readTrackSid,
  roomEvent,
  toSession,
  trackEvent,
  unpublishNow,
} from './presence-changes.ts';

/*
 * Interprets an event of the media server, given the known presence in the room. Presence is stored by participant sid,
 * because a `left` may arrive after the next `joined` of the same identity.
 *
 *   room_started        LiveKit sends it when the room is created: room_created
 *   participant_joined  the first one of a session: room_created if that was missed, room_started, participant_joined
 *   participant_left    without a join before it: kept, and published together with a join that comes late
 *   room_finished       whoever is still present has left first
 *
 * The media server sends whole seconds, except for the times when rooms opened and participants joined: see placeInSecond.
 * An event of a participant therefore gets at least the time of its join, the end of a room at least the time of the last
 * departure, and the end of a track, stream or recording at least the time of its start: otherwise time would run backwards.
 *
 * An event is told if subscribers get it. A room that somebody opened although it is closed is quiet: who is in it is stored, and
 * nothing is told until a person may be there (closed-rooms.ts).
 *
 * Recorders, agents and blocked people do not count as participants (`countsAs`): no event reports them. Other types
 * of events (egress_updated, participant_connection_aborted) say nothing that these do not.
 */

type Interpretation = {
  readonly domainEvents: readonly DomainEvent[];
  /** The session after the event, except for its sequence number. */
  readonly session: RoomSession | undefined;
  /** Whether receivers learn nothing of the session. */
  readonly isQuiet?: true;
};

type InterpretedEvent = {
  readonly event: MediaEvent;
  readonly session: RoomSession | undefined;
  /** The room, if it is closed to somebody. */
  readonly closed: RoomRecord | undefined;
  readonly now: number;
};

export async function interpretMediaEvent(
  presence: PresenceBatch,
  { event, session, closed, now }: InterpretedEvent,
): Promise<Interpretation> {
  if (session === undefined) return await interpretTold(presence, event, session);
  const entrant = toEntrant(event);
  if (closed !== undefined && isRefused(session, closed, { entrant, now })) {
    await keepQuietly(presence, event, session);
    const { participant, createdAt: occurredAt } = event;
    const isTold = entrant === 'person' && participant !== undefined;
    const domainEvents = isTold ? [refusedJoinEvent(closed, participant, occurredAt)] : [];
    return { domainEvents, session: withhold(session), isQuiet: true };
  }
  if (!isWithheld(session)) return await interpretTold(presence, event, session);
  if (event.type !== 'participant_joined' || isMachinery(event)) {
    await keepQuietly(presence, event, session);
    return { domainEvents: [], session, isQuiet: true };
  }
  const told = await interpretTold(presence, event, tell(session));
  // The event of the room was not missed, but held back.
  const domainEvents = told.domainEvents.map((one) => ({ ...one, isReconciled: false }));
  return { ...told, domainEvents };
}

/** Returns who enters with the event. Whatever comes without a person, such as the room itself, is the doing of a helper. */
function toEntrant({ type, participant }: MediaEvent): Entrant {
  if (type !== 'participant_joined' || participant === undefined) return 'helper';
  const { kind, isHidden } = participant;
  return isHelper({ kind, permission: { hidden: isHidden } }) ? 'helper' : 'person';
}

function isMachinery({ participant, createdAt }: MediaEvent): boolean {
  return participant === undefined || toSession(participant, '', createdAt).countsAs === 'machinery';
}

/** Stores who is in a room of which nothing is told, so that nothing of them is told later either. */
async function keepQuietly(presence: PresenceBatch, event: MediaEvent, session: RoomSession): Promise<void> {
  const { type, participant: info, createdAt } = event;
  if (type === 'participant_left') await leave(presence, event, session);
  if (type !== 'participant_joined' || info === undefined) return;
  const known = await presence.findParticipant(info.sid);
  if (known !== undefined) return;
  await presence.saveParticipant({ ...toSession(info, session.sid, createdAt), countsAs: 'machinery' });
}

/** Interprets an event of a room that is told, or of no room. */
async function interpretTold(
  presence: PresenceBatch,
  event: MediaEvent,
  session: RoomSession | undefined,
): Promise<Interpretation> {
  const unchanged = (domainEvents: readonly DomainEvent[]): Interpretation => ({ domainEvents, session });
  const time = { occurredAt: event.createdAt, isReconciled: false };
  switch (event.type) {
    case 'room_started':
      if (session === undefined) return unchanged([]);
      return unchanged([roomEvent('room_created', session, { ...time, occurredAt: session.createdAt })]);
    case 'room_finished':
      return session === undefined ? unchanged([]) : await finishRoom(presence, session, time);
    case 'participant_joined':
      return await join(presence, event, session);
    case 'participant_left':
      return unchanged(await leave(presence, event, session));
    case 'track_published':
    case 'track_unpublished':
      return unchanged(await changeTrack(presence, event, event.type));
    case 'ingress_started':
    case 'ingress_ended':
      return unchanged(isRefusedStream(event) ? [] : [ingressEvent(event, event.type)]);
    default:
      return unchanged([]);
  }
}

/** A join may seem to follow the end of its room by less than this: the clocks differ, or the end has a whole second. */
const CLOCKS_APART_MS = 5_000;

async function join(
  presence: PresenceBatch,
  event: MediaEvent,
  session: RoomSession | undefined,
): Promise<Interpretation> {
  const { participant: info } = event;
  if (info === undefined || session === undefined) return { domainEvents: [], session };
  const known = await presence.findParticipant(info.sid);
  if (known?.joinedAt != null) return { domainEvents: [], session };
  // Nobody joins a room that has ended: its end was wrong, which the next comparisons correct.
  const { endedAt: formerEnd } = session;
  const joinedAt = info.joinedAt ?? event.createdAt;
  if (formerEnd !== null && joinedAt - formerEnd >= CLOCKS_APART_MS) return { domainEvents: [], session };
  const participant = toSession(info, session.sid, event.createdAt);
  if (participant.countsAs !== 'participant') {
    await presence.saveParticipant(participant);
    return { domainEvents: [], session };
  }
  const { joinedAt: at } = participant;
  const { untoldUntil = null, limitedUntil } = presence.limitStart('joins', participant, at);
  const joining = await joinNow(presence, session, {
    participant: { ...participant, untoldUntil },
    isReconciled: false,
    limitedUntil,
  });
  const leftAt = known?.leftAt ?? session.endedAt;
  if (leftAt === null) return joining;
  // The participant's end was reported before its join. Both are published now, in order.
  const left = await leaveNow(presence, (await presence.findParticipant(info.sid)) ?? participant, {
    occurredAt: leftAt,
    isReconciled: false,
    reason: known === undefined ? 'room_closed' : 'lost',
  });
  const { endedAt } = joining.session;
  return {
    session: { ...joining.session, endedAt: endedAt === null ? null : Math.max(endedAt, left.occurredAt) },
    domainEvents: [...joining.domainEvents, left],
  };
}

async function leave(
  presence: PresenceBatch,
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
      metadata: null,
    });
    return [];
  }
  if (known.leftAt !== null) return [];
  if (known.countsAs === 'participant') {
    const reason = info.leaveReason ?? 'lost';
    const participant = { ...known, ...mergeDetails(info, known) };
    const leaving = { occurredAt: event.createdAt, isReconciled: false, reason };
    return [await leaveNow(presence, participant, leaving)];
  }
  await presence.saveParticipant({ ...known, leftAt: Math.max(event.createdAt, known.joinedAt ?? 0) });
  return [];
}

async function changeTrack(
  presence: PresenceBatch,
  event: MediaEvent,
  type: 'track_published' | 'track_unpublished',
): Promise<readonly DomainEvent[]> {
  const { participant: info, track } = event;
  if (info === undefined || track === undefined || readTrackSid(track) === '') return [];
  const known = await presence.findParticipant(info.sid);
  if (known !== undefined && known.countsAs !== 'participant') return [];
  const roomSid = event.room?.sid ?? '';
  // The stored participant may have a pseudonym, if the event comes late.
  const publisher = { ...(known ?? info), roomSid };
  const occurredAt = Math.max(event.createdAt, known?.joinedAt ?? event.createdAt);
  const change = { track, occurredAt, isReconciled: false };
  const published = presence.findTrack(readTrackSid(track));
  if (type === 'track_published' && published !== undefined) return [];
  const limitTrack = () => presence.limitStart('tracks', publisher, event.createdAt);
  if (type === 'track_published') {
    const { untoldUntil, limitedUntil } = limitTrack();
    const untold = { untoldUntil: untoldUntil ?? known?.untoldUntil, limitedUntil };
    const told = publishNow(presence, publisher, { ...change, ...untold });
    return told === undefined ? [] : [told];
  }
  if (published !== undefined && published.unpublishedAt === null)
    unpublishNow(presence, publisher, { ...change, track: published });
  // The media server's TrackInfo is newer than the stored one.
  const untoldUntil = published === undefined ? limitTrack().untoldUntil : published.untoldUntil;
  return [trackEvent(type, publisher, { ...change, isUntold: untoldUntil != null })];
}

/** Returns whether the stream was refused: it never entered its room, and no ingress_started was sent for it. */
function isRefusedStream({ type, room }: MediaEvent): boolean {
  return type === 'ingress_ended' && room !== undefined && room.sid === '';
}

/**
 * Returns the event of a stream. LiveKit's ingress reports the start with the audio, and again with the video; both get the same
 * sourceId, so that one event is stored.
 */
function ingressEvent(event: MediaEvent, type: 'ingress_started' | 'ingress_ended'): DomainEvent {
  const { ingress, streamId, id, createdAt } = event;
  const subject: EventSubject = ingress === undefined ? {} : { ingress };
  const sourceId = streamId === undefined ? id : `${type}:${streamId}`;
  return { type, sourceId, occurredAt: createdAt, subject, isReconciled: false };
}
