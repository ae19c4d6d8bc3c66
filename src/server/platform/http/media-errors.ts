import type { ErrorCode } from '../../../contract/errors.ts';

/** What any call of the media server may come to. */
export const MEDIA_ERRORS = [
  'media-server-error',
  'media-server-unavailable',
] as const satisfies readonly ErrorCode[];
