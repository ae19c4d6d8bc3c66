import { ServiceError } from '../../contract/errors.ts';
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
