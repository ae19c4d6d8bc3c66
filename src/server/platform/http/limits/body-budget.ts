/*
 * Limits the memory of bodies whose signature is not checked yet. Anyone can send them, even with a valid API key, because
 * every participant's token contains it.
 */

/** Maximum size of a small body. Requests on public paths and most signed ones are smaller. */
const SMALL_BODY_BYTES = 16 * 1024;
/** A quarter of the budget is reserved for small bodies, so that large ones cannot block them. */
const SHARE_OF_LARGE_BODIES = 0.75;

/** The part of the budget that one body uses. */
export type BodyAllowance = {
  /** Reserves bytes. Returns false when the budget is exhausted. */
  readonly take: (bytes: number) => boolean;
  /** Returns all bytes of this body to the budget. A second call has no effect. */
  readonly release: () => void;
};

export function createBodyBudget(limitBytes: number): () => BodyAllowance {
  let usedBytes = 0;
  return () => {
    let ownBytes = 0;
    return {
      take: (bytes) => {
        const isSmall = ownBytes + bytes <= SMALL_BODY_BYTES;
        if (usedBytes + bytes > (isSmall ? limitBytes : limitBytes * SHARE_OF_LARGE_BODIES)) return false;
        usedBytes += bytes;
        ownBytes += bytes;
        return true;
      },
      release: () => {
        usedBytes -= ownBytes;
        ownBytes = 0;
      },
    };
  };
}
