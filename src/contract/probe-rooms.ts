/** Rooms that `rtc doctor --probe` makes; webhooks are told nothing of them, as nobody is meant to act on them. */
export const PROBE_ROOM_PREFIX = 'rtc-doctor-probe-';

export function isProbeRoom(name: string): boolean {
  return name.startsWith(PROBE_ROOM_PREFIX);
}
