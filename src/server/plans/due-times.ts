import type { CloseReason } from '../../contract/choices.ts';
import { CLOSING_WARNINGS, type PlanSettings } from '../../contract/plans.ts';
import type { PlannedRoom } from '../rooms/store.ts';

/*
 * Computes what is due in a planned room, and when: pure functions of its row, its plan and the time.
 *
 *   wait    until the next of these instants
 *   warn    tell everyone in the room how long it stays open
 *   look    one participant has been alone for long enough, according to events: look whether that is so, then close
 *   close   the end has come
 *
 * Warnings whose time was over before the room was opened are not given. After a time without any instance, or when the end
 * was moved nearer, those that were missed are given as one. Whoever was warned is told at once when the end is moved.
 */

/** The time at which a plan ends a room, and why. */
export type RoomEnd = { readonly at: number; readonly reason: CloseReason };

export type DueAct =
  | { readonly type: 'wait' }
  | { readonly type: 'warn'; readonly end: RoomEnd }
  | { readonly type: 'look' }
  | { readonly type: 'close'; readonly end: RoomEnd };

export type Due = {
  readonly act: DueAct;
  /** The row after the act, with its next due time. */
  readonly room: PlannedRoom;
};

type Presence = Pick<PlannedRoom, 'startedAt' | 'aloneSince'>;

/** Returns when the plan ends the room, whoever is in it; undefined for never. */
function findEnd(
  { closesAt, maxDuration }: PlanSettings,
  { startedAt }: Pick<PlannedRoom, 'startedAt'>,
): RoomEnd | undefined {
  const fixed =
    closesAt === undefined ? undefined : ({ at: Date.parse(closesAt), reason: 'closes_at' } as const);
  if (maxDuration === undefined || startedAt === null) return fixed;
  const at = startedAt + maxDuration * 1000;
  return fixed !== undefined && fixed.at <= at ? fixed : { at, reason: 'max_duration' };
}

/** Returns what is due at `now`. The row of a room without a plan is due never more. */
export function decideDue(room: PlannedRoom, plan: PlanSettings | undefined, now: number): Due {
  if (plan === undefined) return { act: { type: 'wait' }, room: { ...room, closesAt: null, dueAt: null } };
  const end = findEnd(plan, room);
  const withNextDue = (changed: PlannedRoom, from: number): PlannedRoom => ({
    ...changed,
    dueAt: findNextDue(plan, changed, from) ?? null,
  });
  if (end !== undefined && end.at <= now) return { act: { type: 'close', end }, room };
  const soloAt = findSoloEnd(plan, room);
  if (soloAt !== undefined && soloAt <= now) return { act: { type: 'look' }, room };
  if (end === undefined)
    return { act: { type: 'wait' }, room: withNextDue({ ...room, closesAt: null }, now) };
  const warnedAt = room.closesAt === end.at ? room.warnedAt : null;
  const missed = listWarnings(plan, end).filter((at) => at <= now && at > (warnedAt ?? room.createdAt));
  const known = { ...room, closesAt: end.at };
  if (missed.length === 0) {
    // Whoever was warned believes in another end.
    const isMoved = room.closesAt !== null && room.closesAt !== end.at && room.warnedAt !== null;
    const act: DueAct = isMoved ? { type: 'warn', end } : { type: 'wait' };
    return { act, room: withNextDue({ ...known, warnedAt: isMoved ? room.warnedAt : warnedAt }, now) };
  }
  return { act: { type: 'warn', end }, room: withNextDue({ ...known, warnedAt: Math.max(...missed) }, now) };
}

/** Returns the first instant after `from` at which something is due, or an end that has passed; undefined for never. */
export function findNextDue(plan: PlanSettings, presence: Presence, from: number): number | undefined {
  const end = findEnd(plan, presence);
  const warnings = end === undefined ? [] : listWarnings(plan, end).filter((at) => at > from);
  const soloAt = findSoloEnd(plan, presence);
  const instants = [
    ...(end === undefined ? [] : [end.at]),
    ...(soloAt === undefined ? [] : [soloAt]),
    ...warnings,
  ];
  return instants.length === 0 ? undefined : Math.min(...instants);
}

function listWarnings({ closingWarnings }: PlanSettings, { at }: RoomEnd): readonly number[] {
  return (closingWarnings ?? CLOSING_WARNINGS).map((seconds) => at - seconds * 1000);
}

function findSoloEnd({ soloTimeout }: PlanSettings, { aloneSince }: Presence): number | undefined {
  return soloTimeout === undefined || aloneSince === null ? undefined : aloneSince + soloTimeout * 1000;
}
