import { ServiceError } from '../../contract/errors.ts';
import type { Participant } from '../../contract/participants.ts';
import type { Room } from '../../contract/rooms.ts';
import { type AppendEventsDeps, appendEvents, type EventAppender } from '../events/append-events.ts';
import type { DomainEvent } from '../events/event-payload.ts';
import type { ParticipantSession, RoomSession } from '../events/store.ts';
import { EVENT_ARRIVAL_MS } from '../platform/livekit/media-event.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import { stopWithRoom } from '../transcription/stop-transcription.ts';
import { finishRoom, joinNow, leaveNow, toSession } from './interpret-media-event.ts';
import type { MissingSince } from './missing-since.ts';
import type { MediaEventStores } from './stores.ts';

/*
 * Compares who we think is where with the media server, and tells what was missed, marked `reconciled`. A webhook
 * may still be under way, so only what has been so for EVENT_ARRIVAL_MS counts as missed; and what both tell is stored once,
 * by the happening's own name.
 */

export type ReconcileDeps = AppendEventsDeps<MediaEventStores> & { readonly mediaServer: MediaServer };

/**
 * Answers how many rooms differed. One that cannot be compared does not keep the others from it: the first such
 * failure is thrown when all have been.
 */
export async function reconcileRooms(deps: ReconcileDeps, missingSince: MissingSince): Promise<number> {
  const known = await deps.store.presence.listOpenRooms();
  const open = await deps.mediaServer.listRooms();
  const bySid = new Map(open.map((room) => [room.sid, room]));
  const sids = new Set([...bySid.keys(), ...known.map((session) => session.sid)]);
  let differing = 0;
  const failures: unknown[] = [];
  for (const sid of sids) {
    try {
      if (await reconcileRoom(deps, missingSince, { sid, room: bySid.get(sid) })) differing += 1;
    } catch (error) {
      if (isHopeless(error)) throw error;
      failures.push(error);
    }
  }
  missingSince.endRound();
  if (failures.length > 0) throw failures[0];
  return differing;
}

/** The next room would wait as long, for the same answer. */
function isHopeless(error: unknown): boolean {
  const code = error instanceof ServiceError ? error.code : undefined;
  return code === 'media-server-unavailable' || code === 'storage-unavailable';
}

type Compared = { readonly sid: string; readonly room: Room | undefined };

async function reconcileRoom(
  deps: ReconcileDeps,
  missingSince: MissingSince,
  { sid, room }: Compared,
): Promise<boolean> {
  if (room === undefined && !missingSince.hasBeenMissing(sid, deps.clock.now(), EVENT_ARRIVAL_MS))
    return false;
  const participants = room === undefined ? [] : await participantsOf(deps.mediaServer, room);
  if (participants === undefined) return false;
  let hasDiffered = false;
  await appendEvents(deps, async (store, appender) => {
    const session = await store.presence.lockRoom(sid);
    const before = session ?? (room === undefined ? undefined : freshSession(room));
    if (before === undefined || before.endedAt !== null) return;
    if (room === undefined) hasDiffered = await closeRoom(deps, { store, appender, session: before });
    else
      hasDiffered = await alignRoom(
        { ...deps, missingSince },
        { store, appender, session: withTrueBeginning(before, room), isNew: session === undefined },
        participants,
      );
  });
  return hasDiffered;
}

/** Undefined when the room was closed meanwhile, or is another one by now: the next round sees. */
async function participantsOf(
  mediaServer: MediaServer,
  room: Room,
): Promise<readonly Participant[] | undefined> {
  const participants = await mediaServer.listParticipants(room.name);
  const [now] = await mediaServer.listRooms([room.name]);
  return now?.sid === room.sid ? participants : undefined;
}

type Scope = {
  readonly store: UnitOfWork<MediaEventStores>;
  readonly appender: EventAppender;
  readonly session: RoomSession;
};

async function closeRoom(deps: ReconcileDeps, { store, appender, session }: Scope): Promise<boolean> {
  const now = deps.clock.now();
  const present = await store.presence.countPresent(session.sid);
  const meant = await finishRoom(store.presence, session, now, true);
  const recorded = await appender.append(
    { session: meant.session, roomName: session.name, present },
    await stopWithRoom(store, session, meant.domainEvents),
  );
  if (recorded !== undefined) await store.presence.saveRoom(recorded);
  return true;
}

async function alignRoom(
  deps: ReconcileDeps & { readonly missingSince: MissingSince },
  scope: Scope & { readonly isNew: boolean },
  participants: readonly Participant[],
): Promise<boolean> {
  const { store, appender, isNew } = scope;
  const isSettled = (at: number): boolean => deps.clock.now() - at >= EVENT_ARRIVAL_MS;
  const present = await store.presence.listPresent(scope.session.sid);
  const domainEvents: DomainEvent[] =
    isNew && isSettled(scope.session.createdAt) ? [created(scope.session)] : [];
  let { session } = scope;
  for (const gone of present.filter((one) => isMissing(one, participants))) {
    if (
      deps.missingSince.hasBeenMissing(gone.sid, deps.clock.now(), EVENT_ARRIVAL_MS) &&
      isSettled(gone.joinedAt ?? 0)
    )
      domainEvents.push(
        await leaveNow(store.presence, gone, {
          occurredAt: deps.clock.now(),
          isReconciled: true,
          reason: 'lost',
        }),
      );
  }
  for (const participant of participants) {
    const joined = sessionOf(participant, session.sid);
    if (!isSettled(joined.joinedAt) || (await store.presence.findParticipant(joined.sid)) !== undefined)
      continue;
    if (joined.role === 'machinery') {
      await store.presence.saveParticipant(joined);
      continue;
    }
    const meant = await joinNow(store.presence, session, joined, true);
    domainEvents.push(...meant.domainEvents);
    session = meant.session ?? session;
  }
  if (domainEvents.length === 0) return false;
  const recorded = await appender.append(
    { session, roomName: session.name, present: present.length },
    domainEvents,
  );
  if (recorded !== undefined) await store.presence.saveRoom(recorded);
  return true;
}

function isMissing({ sid }: ParticipantSession, participants: readonly Participant[]): boolean {
  return !participants.some((participant) => participant.sid === sid);
}

function created(session: RoomSession): DomainEvent {
  const sourceId = `room_created:${session.sid}`;
  return { type: 'room_created', sourceId, occurredAt: session.createdAt, subject: {}, isReconciled: true };
}

function freshSession(room: Room): RoomSession {
  const createdAt = openedAt(room);
  return { sid: room.sid, name: room.name, createdAt, startedAt: null, endedAt: null, sequence: 0 };
}

/** The event that came first may not have known it. */
function withTrueBeginning(session: RoomSession, room: Room): RoomSession {
  return { ...session, createdAt: openedAt(room) };
}

function openedAt({ creationTimeMs, creationTime }: Room): number {
  return Number(creationTimeMs) || Number(creationTime) * 1000;
}

function sessionOf(participant: Participant, roomSid: string) {
  const { sid, identity, name, kind, permission, metadata, attributes = {} } = participant;
  const joinedAt = Number(participant.joinedAt) * 1000;
  return toSession(
    {
      ...{ sid, identity, name, kind, joinedAt, metadata, role: attributes['rtc.role'] },
      isHidden: permission?.hidden === true,
    },
    roomSid,
    joinedAt,
  );
}
