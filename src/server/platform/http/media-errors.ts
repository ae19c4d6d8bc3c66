import type { ErrorCode } from '../../../contract/errors.ts';

/** Errors that any call of the media server may throw. */
export const MEDIA_ERRORS = [
  'media-server-error',
  'media-server-unavailable',
] as const satisfies readonly ErrorCode[];
