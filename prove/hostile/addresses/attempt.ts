/** What `names.ts` writes before the address of a connection attempt. */
export const ATTEMPT = 'connection attempt to ';
