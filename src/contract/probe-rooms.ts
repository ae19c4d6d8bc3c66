/**
 * Prefix of the rooms that `rtc doctor --probe` makes. Webhooks get no events of them, because no receiver should act on
 * them.
 */
export const PROBE_ROOM_PREFIX = 'rtc-doctor-probe-';

export function isProbeRoom(name: string): boolean {
  return name.startsWith(PROBE_ROOM_PREFIX);
}
