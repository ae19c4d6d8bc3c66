import type { Value } from './result.ts';
import { formatInstant } from './time.ts';

/** Formats a value for programs: an instant in RFC 3339, a duration in seconds. */
export function plainText(value: Value): string {
  if (value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  return 'seconds' in value ? String(value.seconds) : formatInstant(value.instantMs);
}
