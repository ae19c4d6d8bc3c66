import type { RtcClient } from '../../../client/client.ts';
import { RtcError } from '../../../client/rtc-error.ts';
import type { RoomClosing } from '../../../contract/plans.ts';
import { CliError, EXIT } from '../../errors/cli-error.ts';

/* Questions about a room that somebody joins. */

/**
 * Throws for the embedded media server, to which nobody can connect: it responds to LiveKit's connection check with 501.
 */
export async function requireMedia(mediaUrl: string, signal: AbortSignal): Promise<void> {
  const check = new URL('/rtc/validate', mediaUrl.replace(/^ws/, 'http'));
  const response = await fetch(check, { signal }).catch(() => undefined);
  if (response?.status !== 501) return;
  throw new CliError(
    EXIT.unavailable,
    'the embedded media server carries no sound and no pictures, so nobody can join it',
    'start a real one: rtc dev --media livekit; or add a simulated participant: rtc dev join',
  );
}

/** `maxParticipants` is 0 for a room without a limit. */
export type Occupancy = { readonly people: number; readonly maxParticipants: number };

/** Counts the people of a room by their list, because the count of LiveKit's room is late. A closed room has nobody. */
export async function readOccupancy(
  client: Pick<RtcClient, 'participants' | 'rooms'>,
  room: string,
): Promise<Occupancy> {
  const [found, present] = await Promise.all([
    client.rooms.get(room).catch(ignoreNotFound),
    client.participants.list(room, { limit: 1000 }).catch(ignoreNotFound),
  ]);
  return { people: present?.participants.length ?? 0, maxParticipants: found?.maxParticipants ?? 0 };
}

/** The newest of these tells whether those who are in the room now know its end. */
const CLOSING_EVENTS = ['room_closing', 'room_created', 'room_finished'] as const;

/**
 * Returns what everyone in the room was told about its end before somebody joined, with the seconds that are left now; undefined
 * when they were not told, or when the key must not read events.
 */
export async function readClosing({ client, room, clock }: RoomAndTime): Promise<RoomClosing | undefined> {
  const asked = { roomId: room, types: CLOSING_EVENTS, order: 'newest', limit: 1 } as const;
  const [last] = (await client.events.list(asked).catch(ignoreForbidden))?.events ?? [];
  if (last?.event !== 'room_closing') return undefined;
  const secondsLeft = Math.ceil((Date.parse(last.closing.closesAt) - clock()) / 1000);
  return secondsLeft > 0 ? { ...last.closing, secondsLeft } : undefined;
}

type RoomAndTime = {
  readonly client: Pick<RtcClient, 'events'>;
  readonly room: string;
  readonly clock: () => number;
};

/** For what a key may not read. */
export function ignoreForbidden(error: unknown): undefined {
  if (error instanceof RtcError && error.status === 403) return undefined;
  throw error;
}

/** For what may not exist: undefined instead of the service's 404. */
export function ignoreNotFound(error: unknown): undefined {
  if (error instanceof RtcError && error.status === 404) return undefined;
  throw error;
}
