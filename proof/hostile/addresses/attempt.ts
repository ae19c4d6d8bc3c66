/**
 * Marks connection attempts in the log of the service: `names.ts` prints it, and `addresses.ts` looks for it. It has a file of its
 * own, because an import of `names.ts` replaces the resolver of the process.
 */
export const ATTEMPT = 'connection attempt to ';
