import { HintedError } from '../../contract/hint.ts';

/**
 * Error for a room that cannot be joined, or for a file that cannot be played. `ERR_UNAVAILABLE` may go away later, or after
 * an installation.
 */
export class RoomClientError extends HintedError {
  override readonly name = 'RoomClientError';
  readonly code: 'ERR_UNAVAILABLE' | 'ERR_BAD_MEDIA';

  constructor(
    code: RoomClientError['code'],
    reason: string,
    { cause, ...hint }: { readonly text: string; readonly command?: string; readonly cause?: unknown },
  ) {
    super(reason, hint, { cause });
    this.code = code;
  }
}

/** Error for a file of audio or video that cannot be played as it is. */
export function badMedia(
  reason: string,
  hint: { readonly text: string; readonly command?: string },
): RoomClientError {
  return new RoomClientError('ERR_BAD_MEDIA', reason, hint);
}
