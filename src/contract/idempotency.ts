/** The key under which a POST is done once. */
export const IDEMPOTENCY_KEY_HEADER = 'Idempotency-Key';
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;

/** Set to `true` in a response that was given before. */
export const REPLAYED_HEADER = 'Idempotent-Replayed';
