import type { ErrorCode } from '../../../contract/errors.ts';
import {
  IDEMPOTENCY_KEY_HEADER,
  MAX_IDEMPOTENCY_KEY_LENGTH,
  REPLAYED_HEADER,
} from '../../../contract/idempotency.ts';
import type { JsonObject } from './schema-document.ts';

/** Errors of every route that takes an Idempotency-Key. */
export const KEYED_ERRORS: readonly ErrorCode[] = [
  'idempotency-in-progress',
  'idempotency-key-reused',
  'storage-unavailable',
];

/** Visible ASCII characters except quotes and backslashes, with or without quotes around all of them. */
const KEY_PATTERN = '^(?:[!#-\\[\\]-~]+|"[!#-\\[\\]-~]+")$';

export const IDEMPOTENCY_KEY: JsonObject = {
  name: IDEMPOTENCY_KEY_HEADER,
  in: 'header',
  required: false,
  description: `The request is done once per key: its response is kept for 24 hours and given again, with \`${REPLAYED_HEADER}: true\`. Not signed: it is for retries, and no defence against replays`,
  schema: { type: 'string', minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY_LENGTH, pattern: KEY_PATTERN },
  example: '8e03978e-40d5-43dd-bc93-6894a57f9324',
};
