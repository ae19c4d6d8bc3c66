import { ServiceError } from '../../contract/errors.ts';
import { ENTRY_ROLES, type PlanSettings } from '../../contract/plans.ts';
import { shellQuote } from '../../contract/shell-quote.ts';
import { toInstant } from '../platform/clock.ts';
import type { RoomRecord } from './store.ts';

/*
 * Whether a room may be entered now. This is the one place that decides it: for tokens, for who joins with an older token,
 * and for what acts for a room. LiveKit itself opens a room for whoever joins it, and does not revoke tokens.
 *
 *   closed to helpers    A room that was just deleted. A recorder, captioner or stream that was on its way does not open it
 *                        again; a person does, and lets helpers in.
 *   closed to everyone   A room that is kept closed, until an instant or until POST /v1/rooms.
 *
 * A plan adds its own times for persons: see requirePlannedEntry.
 */

/** A helper acts for a room without being a person: a recorder, a captioner or another agent, a stream. */
export type Entrant = 'person' | 'helper';

export type Entry =
  | { readonly isAllowed: true }
  | {
      readonly isAllowed: false;
      readonly code: 'room-closed';
      /** Unix milliseconds; null for ever. */
      readonly until: number | null;
    };

const ALLOWED = { isAllowed: true } as const;

export function decideEntry(
  record: Pick<RoomRecord, 'closedTo' | 'closedUntil'> | undefined,
  entrant: Entrant,
  now: number,
): Entry {
  if (record === undefined || record.closedTo === null) return ALLOWED;
  const { closedTo, closedUntil } = record;
  if (closedUntil !== null && closedUntil <= now) return ALLOWED;
  if (closedTo === 'helpers' && entrant === 'person') return ALLOWED;
  return { isAllowed: false, code: 'room-closed', until: closedUntil };
}

/** Throws the error of a room that its plan does not open yet, or has closed for good. */
export function requirePlannedEntry(plan: PlanSettings | undefined, room: string, now: number): void {
  if (plan === undefined) return;
  const { opensAt, closesAt } = plan;
  const entryFrom = readEntryFrom(plan);
  if (opensAt !== undefined && entryFrom > now) {
    const from = new Date(entryFrom).toISOString();
    throw new ServiceError(
      'room-not-open-yet',
      `The room ${JSON.stringify(room)} opens at ${new Date(opensAt).toISOString()}; people may join from ${from} on.`,
      {
        hint: {
          text: 'ask again then, or change opensAt or earlyJoin of its plan',
          command: 'rtc plans list',
        },
        extensions: { opensAt: new Date(opensAt).toISOString(), entryFrom: from },
      },
    );
  }
  if (closesAt === undefined || Date.parse(closesAt) > now) return;
  throw new ServiceError(
    'room-closed',
    `By its plan the room ${JSON.stringify(room)} closed at ${new Date(closesAt).toISOString()}.`,
    {
      hint: { text: 'change closesAt of its plan', command: 'rtc plans list' },
      extensions: { closedUntil: null, closesAt: new Date(closesAt).toISOString() },
    },
  );
}

/** Returns whether somebody of this role waits until being admitted. */
export function mustWait(plan: PlanSettings | undefined, role: string): boolean {
  return plan?.lobby === true && !(plan.roles ?? ENTRY_ROLES).some((one) => one === role);
}

/** Returns when people may join (Unix milliseconds); -Infinity without opensAt. */
export function readEntryFrom({ opensAt, earlyJoin = 0 }: PlanSettings): number {
  return opensAt === undefined ? Number.NEGATIVE_INFINITY : Date.parse(opensAt) - earlyJoin * 1000;
}

/** Throws the error of an entry that is not allowed. */
export function requireEntry(entry: Entry, room: string): void {
  if (entry.isAllowed) return;
  const closedUntil = toInstant(entry.until);
  const until = closedUntil === null ? 'until it is opened again' : `until ${closedUntil}`;
  throw new ServiceError(entry.code, `The room ${JSON.stringify(room)} is kept closed ${until}.`, {
    hint: { text: 'open it again', command: `rtc rooms create ${shellQuote(room)}` },
    extensions: { closedUntil },
  });
}
