/**
 * What `names.ts` prints before the address of a connection attempt. It is not in that file, because whoever imports the file
 * has its resolver.
 */
export const ATTEMPT = 'connection attempt to ';
