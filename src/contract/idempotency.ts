/** Header of the key under which a POST takes effect once. */
export const IDEMPOTENCY_KEY_HEADER = 'Idempotency-Key';
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;

/** Set to `true` in a response that repeats an earlier one. */
export const REPLAYED_HEADER = 'Idempotent-Replayed';
