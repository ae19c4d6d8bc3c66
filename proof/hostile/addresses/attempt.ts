/** Prefix that `names.ts` prints before the address of a connection attempt. */
export const ATTEMPT = 'connection attempt to ';
