/**
 * Takes the identity for this tab until it is closed; false when another tab of this browser has it. LiveKit would put
 * the first tab out of the room if a second one joined as the same person.
 */
export async function claimIdentity(room: string, identity: string): Promise<boolean> {
  // Only pages from https and from loopback have locks; elsewhere a second tab is not recognised.
  if (navigator.locks === undefined) return true;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  void navigator.locks.request(`rtc-room ${room} ${identity}`, { ifAvailable: true }, async (lock) => {
    resolve(lock !== null);
    // The browser releases the lock when the tab is closed.
    if (lock !== null) await new Promise(() => {});
  });
  return promise;
}
