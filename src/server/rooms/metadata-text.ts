import { ServiceError } from '../../contract/errors.ts';
import { MAX_METADATA_BYTES } from '../../contract/names.ts';

/**
 * Returns a participant's metadata as JSON text, as LiveKit stores it. Throws invalid-request for more than LiveKit's limit.
 */
export function metadataText(metadata: Readonly<Record<string, unknown>>): string {
  const text = stringify(metadata);
  if (text !== undefined && Buffer.byteLength(text) <= MAX_METADATA_BYTES) return text;
  const detail =
    text === undefined ? 'is nested too deeply' : `must be at most ${MAX_METADATA_BYTES} bytes as JSON`;
  throw new ServiceError('invalid-request', `#/metadata ${detail}.`, {
    errors: [{ pointer: '#/metadata', detail }],
  });
}

/**
 * Returns undefined when the value is nested so deeply that JSON.stringify runs out of stack. JSON.parse has no such limit.
 */
function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
