import { escapePointer } from '../json-pointer.ts';
import { bodyError } from '../validate.ts';

/**
 * Maximum levels of objects and lists in a body, including the body itself. Some checks and the media server's library
 * recurse.
 */
const MAX_DEPTH = 100;

/** @throws ServiceError invalid-request that names the first top-level entry which is nested too deeply. */
export function requireBoundedDepth(body: unknown): void {
  const deep = findDeepEntry(body);
  if (deep !== undefined) throw bodyError(deep, 'is nested too deeply');
}

/** Returns the entry's JSON pointer, which is empty when the body is a list. */
function findDeepEntry(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const deep = Object.entries(body).find(([, entry]) => isDeeperThan(MAX_DEPTH - 1, entry));
  if (deep === undefined) return undefined;
  return Array.isArray(body) ? '' : `/${escapePointer(deep[0])}`;
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((entry) => isDeeperThan(levels - 1, entry));
}
