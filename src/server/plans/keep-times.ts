import { CLOSING_TOPIC } from '../../contract/choices.ts';
import { hasCode } from '../../contract/errors.ts';
import { nameFault } from '../../contract/names.ts';
import type { RoomClosing } from '../../contract/plans.ts';
import { type AppendEventsDeps, appendEvents, type EventAppender } from '../events/append-events.ts';
import type { DomainEvent } from '../events/event-payload.ts';
import type { EventStores, RoomSession } from '../events/store.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';
import type { Log } from '../platform/log.ts';
import type { ChangeFeed } from '../platform/storage/changes.ts';
import { type FindPlan, readPlans, toSubject } from '../rooms/plans/plans.ts';
import type { PlannedRoom, RoomStores } from '../rooms/store.ts';
import { type Claimed, type DueLoop, type Run, startDueLoop } from './due-loop.ts';
import { decideDue, type RoomEnd } from './due-times.ts';
import { beginStarts } from './starts.ts';

/*
 * Warns and closes rooms when their plans say so. What is due is in the rows of planned rooms: an instance claims some of
 * them, and looks what their plan says now. Everything may happen twice without harm: an event is stored once, and a room
 * that is not the same session any more is left alone.
 */

const AT_ONCE = 48;

/** Longer than the media server takes to send a warning. */
const WARNING_MS = 10_000;

/** A room that the media server does not list is looked at again after this time, unless its end has been told. */
const MISSING_MS = 60_000;

const UNPLANNED_PAGE = 500;

type KeepStores = EventStores & RoomStores;

export type KeepTimesDeps = AppendEventsDeps<KeepStores> & {
  readonly store: { readonly changes: ChangeFeed };
  readonly log: Log;
  readonly mediaServer: Pick<MediaServer, 'listRooms' | 'listParticipants' | 'sendData'>;
  /** Closes a room, with what acts for it. Rejects with room-not-found. */
  readonly closeRoom: (room: string) => Promise<void>;
};

export function keepTimes(deps: KeepTimesDeps): DueLoop {
  const { store, clock, log } = deps;
  return startDueLoop<PlannedRoom>({
    clock,
    log,
    changes: store.changes,
    topic: 'plannedRooms',
    rows: store.plannedRooms,
    atOnce: AT_ONCE,
    failureMessage: 'looking for rooms whose time has come failed; trying again',
    act: (claimed, run) => actOnRooms(deps, claimed, run),
  });
}

type Acting = {
  /** As it was claimed. */
  readonly row: PlannedRoom;
  /** As it is to be saved. */
  readonly room: PlannedRoom;
  readonly act: 'warn' | 'look' | 'close';
  readonly end: RoomEnd;
};

async function actOnRooms(
  deps: KeepTimesDeps,
  claim: Claimed<PlannedRoom>,
  run: Run<PlannedRoom>,
): Promise<void> {
  const { store, mediaServer } = deps;
  const { rows: claimed, now } = claim;
  const names = [...new Set(claimed.map(({ room }) => room))];
  const plans = await readPlans(store, names, now);
  const open = new Map((await mediaServer.listRooms(names)).map(({ name, sid }) => [name, sid]));
  const settled: PlannedRoom[] = [];
  const acting: Acting[] = [];
  const planned = claimed.flatMap((room) => {
    const plan = plans.get(room.room);
    return plan === undefined || open.get(room.room) !== room.sid ? [] : [{ room, plan }];
  });
  const triggered = await beginStarts(store, planned, now);
  for (const row of claimed) {
    const room = triggered.has(row.sid) ? { ...row, triggeredAt: now } : row;
    // The end of the session, which the media server or the next comparison tells, removes the row.
    if (open.get(room.room) !== room.sid) settled.push({ ...room, dueAt: now + MISSING_MS });
    else if (room.closeReason !== null)
      acting.push({ row, room, act: 'close', end: { at: now, reason: room.closeReason } });
    else {
      const { act, room: next } = decideDue(room, plans.get(room.room), now);
      if (act.type === 'wait') settled.push(next);
      else if (act.type === 'look')
        acting.push({ row, room, act: 'look', end: { at: now, reason: 'solo_timeout' } });
      else {
        acting.push({ row, room: act.type === 'warn' ? next : room, act: act.type, end: act.end });
        if (act.type === 'warn' && !waitsForWarning(next, now)) settled.push(next);
      }
    }
  }
  await store.plannedRooms.settle(settled, claim.until());
  const warning = acting.filter(({ act }) => act === 'warn');
  await tellClosing(deps, warning, now);
  for (const one of warning) run(one.row, () => warn(deps, one, claim));
  const closing = acting.filter(({ act }) => act === 'close');
  await tellClosing(deps, closing, now);
  for (const one of closing) run(one.row, () => closeRoom(deps, one));
  for (const one of acting)
    if (one.act === 'look') run(one.row, (wake) => closeIfAlone(deps, one, { claim, wake }));
}

/** Stores the events of all these rooms in one transaction. */
async function tellClosing(deps: KeepTimesDeps, acting: readonly Acting[], now: number): Promise<void> {
  if (acting.length === 0) return;
  await appendEvents(deps, async (store, appender) => {
    const sessions = await store.presence.lockRooms(acting.map(({ room }) => room.sid));
    const bySid = new Map(sessions.map((session) => [session.sid, session]));
    const told: RoomSession[] = [];
    for (const one of acting) {
      const session = bySid.get(one.room.sid);
      if (session === undefined || session.endedAt !== null) continue;
      if (one.act === 'close' && !(await store.plannedRooms.beginClosing(session.sid, one.end.reason)))
        continue;
      const recorded = await append(store, appender, { session, domainEvent: toEvent(one, now) });
      if (recorded !== undefined) told.push({ ...recorded, metadata: null });
    }
    await store.presence.saveRooms(told);
  });
}

async function append(
  store: EventStores,
  appender: EventAppender,
  { session, domainEvent }: { readonly session: RoomSession; readonly domainEvent: DomainEvent },
): Promise<RoomSession | undefined> {
  const present = await store.presence.countPresent(session.sid);
  return await appender.append({ session, roomName: session.name, present }, [domainEvent]);
}

function toEvent({ room, act, end }: Acting, now: number): DomainEvent {
  const secondsLeft = act === 'warn' ? countSecondsLeft(end, now) : 0;
  const which = act === 'warn' ? `${end.at}:${room.warnedAt}` : 'end';
  return {
    type: 'room_closing',
    sourceId: `room_closing:${room.sid}:${which}`,
    occurredAt: now,
    isReconciled: false,
    subject: { closing: toClosing(end, secondsLeft) },
  };
}

function toClosing({ at, reason }: RoomEnd, secondsLeft: number): RoomClosing {
  return { reason, closesAt: new Date(at).toISOString(), secondsLeft };
}

function countSecondsLeft({ at }: RoomEnd, now: number): number {
  return Math.max(1, Math.round((at - now) / 1000));
}

/** Tells everyone in the room how long it stays open. If that fails it is tried again, unless something is due before. */
async function warn(
  deps: KeepTimesDeps,
  { room, end }: Acting,
  { now, until }: Claimed<PlannedRoom>,
): Promise<void> {
  const { store, mediaServer, clock, log } = deps;
  try {
    const closing = toClosing(end, countSecondsLeft(end, clock.now()));
    const data = new TextEncoder().encode(JSON.stringify(closing));
    // Nobody has joined yet.
    if (room.startedAt !== null)
      await mediaServer.sendData(room.room, { data, kind: 'reliable', topic: CLOSING_TOPIC, identities: [] });
    if (waitsForWarning(room, now)) await store.plannedRooms.settle([room], until());
  } catch (err) {
    log.warn({ err }, 'warning a room before its end failed; it is tried again');
  }
}

/** Returns whether a warning comes first: an end that is due soon does not wait for it. */
function waitsForWarning({ dueAt }: PlannedRoom, now: number): boolean {
  return dueAt === null || dueAt >= now + WARNING_MS;
}

/** A room that cannot be closed now is claimed again. */
async function closeRoom(deps: KeepTimesDeps, { room }: Acting): Promise<void> {
  try {
    await deps.closeRoom(room.room);
  } catch (err) {
    if (hasCode(err, 'room-not-found')) return;
    deps.log.warn({ err }, 'closing a room at its end failed; it is tried again');
  }
}

type Look = { readonly claim: Claimed<PlannedRoom>; readonly wake: () => void };

/** Events may be late: the media server says who is there now. */
async function closeIfAlone(deps: KeepTimesDeps, one: Acting, { claim, wake }: Look): Promise<void> {
  const { store, mediaServer, clock, log } = deps;
  const { row, room, end } = one;
  try {
    const present = (await mediaServer.listParticipants(room.room)).filter(isCounted);
    if (present.length === 1) {
      const closing: Acting = { row, room, act: 'close', end };
      await tellClosing(deps, [closing], clock.now());
      await closeRoom(deps, closing);
      return;
    }
    // The event of the next leave notes since when somebody is alone.
    await store.plannedRooms.forgetAlone(room.sid);
    await store.plannedRooms.settle([{ ...room, aloneSince: null, dueAt: clock.now() }], claim.until());
    wake();
  } catch (err) {
    log.warn({ err }, 'looking whether somebody is alone in a room failed; it is tried again');
  }
}

type Counted = {
  readonly kind?: string | undefined;
  readonly permission?: { readonly hidden?: boolean | undefined } | undefined;
};

/** Those whom events report as participants. A stream counts as somebody. */
function isCounted({ kind, permission }: Counted): boolean {
  return permission?.hidden !== true && kind !== 'EGRESS' && kind !== 'AGENT';
}

type SweepDeps = {
  readonly store: Pick<RoomStores, 'plannedRooms'>;
  readonly clock: KeepTimesDeps['clock'];
  readonly findPlan: FindPlan;
};

/** Rows without an open session are kept for a day, in case the session was ended by mistake. */
const UNUSED_KEPT_MS = 86_400_000;

/**
 * Finds open rooms that have a plan and are not known to have one, because both began at the same moment. Forgets those
 * whose end nobody told.
 */
export async function sweepPlannedRooms({ store, clock, findPlan }: SweepDeps): Promise<void> {
  for (let after: string | undefined; ; ) {
    const names = await store.plannedRooms.listUnplanned(after, UNPLANNED_PAGE);
    const planned: string[] = [];
    for (const name of names) {
      if (nameFault(name) === undefined && (await findPlan(name)) !== undefined)
        planned.push(toSubject({ room: name }));
    }
    if (planned.length > 0) await store.plannedRooms.markDue(planned, clock.now());
    after = names.at(-1);
    if (names.length < UNPLANNED_PAGE) break;
  }
  await store.plannedRooms.purge(clock.now() - UNUSED_KEPT_MS);
}
