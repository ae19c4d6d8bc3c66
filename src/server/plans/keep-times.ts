import { CLOSING_TOPIC } from '../../contract/choices.ts';
import { hasCode } from '../../contract/errors.ts';
import { nameFault } from '../../contract/names.ts';
import type { PlanSettings, RoomClosing } from '../../contract/plans.ts';
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

/** Longer than a claim: when the instance that warns has died, another one warns before the end. */
const WARNED_AGAIN_MS = 1_000;

/** A room that the media server does not list is looked at again after this time, unless its end has been told. */
const MISSING_MS = 60_000;

const UNPLANNED_PAGE = 500;

type KeepStores = EventStores & RoomStores;

export type KeepTimesDeps = AppendEventsDeps<KeepStores> & {
  readonly store: { readonly changes: ChangeFeed };
  readonly log: Log;
  readonly mediaServer: Pick<MediaServer, 'listRooms' | 'listParticipants' | 'sendData'>;
  /** Returns what closes one of these rooms, with what acts for it. That rejects with room-not-found. */
  readonly prepareClosing: (rooms: readonly OpenRoom[]) => Promise<CloseRoom>;
};

type OpenRoom = { readonly name: string; readonly sid: string };

type CloseRoom = (room: string) => Promise<void>;

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
  const { rows, now } = claim;
  const seen = await readRooms(deps, rows, now);
  const triggered = await beginStarts(deps.store, listPlanned(rows, seen), now);
  const decisions = rows.map((row) => {
    const room = triggered.has(row.sid) ? { ...row, triggeredAt: now } : row;
    return decide(seen, { row, room, now });
  });
  const settled = decisions.flatMap((one) => one.settled ?? []);
  await deps.store.plannedRooms.settle(settled, claim.until());
  const acting = decisions.flatMap((one) => one.acting ?? []);
  await startActs(deps, acting, { claim, run });
}

/** Read once for all claimed rooms. */
type SeenRooms = {
  readonly plans: ReadonlyMap<string, PlanSettings>;
  /** The session of each room that the media server lists, by its name. */
  readonly open: ReadonlyMap<string, string>;
};

async function readRooms(
  { store, mediaServer }: KeepTimesDeps,
  rows: readonly PlannedRoom[],
  now: number,
): Promise<SeenRooms> {
  const names = [...new Set(rows.map(({ room }) => room))];
  const plans = await readPlans(store, names, now);
  const open = new Map((await mediaServer.listRooms(names)).map(({ name, sid }) => [name, sid]));
  return { plans, open };
}

/** Returns the open rooms with the plans that they have now. */
function listPlanned(rows: readonly PlannedRoom[], { plans, open }: SeenRooms) {
  return rows.flatMap((room) => {
    const plan = plans.get(room.room);
    return plan === undefined || open.get(room.room) !== room.sid ? [] : [{ room, plan }];
  });
}

/** A change to save of a room, and an action in it. Both, if it is to be warned and what is due next does not wait for that. */
type Decision = { readonly settled?: PlannedRoom; readonly acting?: Acting };

type Decided = Pick<Acting, 'row' | 'room'> & { readonly now: number };

function decide({ plans, open }: SeenRooms, { row, room, now }: Decided): Decision {
  // The end of the session, which the media server or the next comparison tells, removes the row.
  if (open.get(room.room) !== room.sid) return { settled: { ...room, dueAt: now + MISSING_MS } };
  if (room.closeReason !== null)
    return { acting: { row, room, act: 'close', end: { at: now, reason: room.closeReason } } };
  const { act, room: next } = decideDue(room, plans.get(room.room), now);
  if (act.type === 'wait') return { settled: next };
  if (act.type === 'look')
    return { acting: { row, room, act: 'look', end: { at: now, reason: 'solo_timeout' } } };
  if (act.type === 'close') return { acting: { row, room, act: 'close', end: act.end } };
  const acting: Acting = { row, room: next, act: 'warn', end: act.end };
  return waitsForWarning(next, now) ? { acting } : { acting, settled: next };
}

type ActRun = { readonly claim: Claimed<PlannedRoom>; readonly run: Run<PlannedRoom> };

async function startActs(
  deps: KeepTimesDeps,
  acting: readonly Acting[],
  { claim, run }: ActRun,
): Promise<void> {
  const { now } = claim;
  const warning = acting.filter(({ act }) => act === 'warn');
  await tellClosing(deps, warning, now);
  for (const one of warning) run(one.row, () => warn(deps, one, claim), one.room.dueAt ?? undefined);
  const closing = acting.filter(({ act }) => act === 'close');
  if (closing.length > 0) {
    const close = await beginClosing(deps, closing, now);
    for (const one of closing) run(one.row, () => close(one));
  }
  for (const one of acting)
    if (one.act === 'look') run(one.row, (wake) => closeIfAlone(deps, one, { claim, wake }));
}

/** Stores the events of all these rooms in one transaction, with as many statements as for one. */
async function tellClosing(deps: KeepTimesDeps, acting: readonly Acting[], now: number): Promise<void> {
  if (acting.length === 0) return;
  await appendEvents(deps, async (store, appender) => {
    const locked = await store.presence.lockRooms(acting.map(({ room }) => room.sid));
    const open = new Map(locked.filter(({ endedAt }) => endedAt === null).map((room) => [room.sid, room]));
    const closing = acting.filter(({ act, room }) => act === 'close' && open.has(room.sid));
    const closed = await store.plannedRooms.noteClosing(
      closing.map(({ room, end }) => ({ sid: room.sid, closeReason: end.reason })),
    );
    const told = acting.flatMap((one) => {
      const session = open.get(one.room.sid);
      const isTold = session !== undefined && (one.act === 'warn' || closed.has(session.sid));
      return isTold ? [{ session, domainEvent: toEvent(one, now) }] : [];
    });
    await store.presence.saveRooms(await appendAll(store, appender, told));
  });
}

type Told = { readonly session: RoomSession; readonly domainEvent: DomainEvent };

/** Returns the sessions as they are to be saved. */
async function appendAll(
  store: EventStores,
  appender: EventAppender,
  told: readonly Told[],
): Promise<readonly RoomSession[]> {
  const present = await store.presence.countPresentIn(told.map(({ session }) => session.sid));
  await appender.preloadKnownIds(told.map(({ domainEvent }) => domainEvent.sourceId));
  const appended: RoomSession[] = [];
  for (const { session, domainEvent } of told) {
    const scope = { session, roomName: session.name, present: present.get(session.sid) ?? 0 };
    const recorded = await appender.append(scope, [domainEvent]);
    if (recorded !== undefined) appended.push({ ...recorded, metadata: null });
  }
  return appended;
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

/** Returns whether the room stays claimed until it is warned. What is due at once does not wait for that. */
function waitsForWarning({ dueAt }: PlannedRoom, now: number): boolean {
  return dueAt === null || dueAt >= now + WARNED_AGAIN_MS;
}

/** Returns what closes one of these rooms. A room that cannot be closed now is claimed again. */
async function beginClosing(
  deps: KeepTimesDeps,
  closing: readonly Acting[],
  now: number,
): Promise<(one: Acting) => Promise<void>> {
  await tellClosing(deps, closing, now);
  const close = await deps.prepareClosing(closing.map(({ room: { room: name, sid } }) => ({ name, sid })));
  return async ({ room }) => {
    try {
      await close(room.room);
    } catch (err) {
      if (hasCode(err, 'room-not-found')) return;
      deps.log.warn({ err }, 'closing a room at its end failed; it is tried again');
    }
  };
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
      const close = await beginClosing(deps, [closing], clock.now());
      await close(closing);
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
 * Finds open rooms that have a plan and are not known to have one, because both began at the same moment. Forgets rooms whose
 * end was not reported.
 */
export async function sweepPlannedRooms({ store, clock, findPlan }: SweepDeps): Promise<void> {
  let names: readonly string[] = [];
  do {
    names = await store.plannedRooms.listUnplanned(names.at(-1), UNPLANNED_PAGE);
    const planned: string[] = [];
    for (const name of names) {
      if (nameFault(name) === undefined && (await findPlan(name)) !== undefined)
        planned.push(toSubject({ room: name }));
    }
    if (planned.length > 0) await store.plannedRooms.markDue(planned, clock.now());
  } while (names.length === UNPLANNED_PAGE);
  await store.plannedRooms.purge(clock.now() - UNUSED_KEPT_MS);
}
