import { HintedError } from '../../contract/hint.ts';

/** Why a room cannot be joined, or a file not be played. `ERR_UNAVAILABLE` may be otherwise later, or once something is installed. */
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

/** A file of sound or pictures that cannot be played as it is. */
export function badMedia(
  reason: string,
  hint: { readonly text: string; readonly command?: string },
): RoomClientError {
  return new RoomClientError('ERR_BAD_MEDIA', reason, hint);
}
