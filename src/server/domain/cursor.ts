import { ServiceError } from '../../contract/errors.ts';

/** Where a list goes on: text and numbers that only the service reads, in base64url. */
export type CursorParts = readonly (string | number)[];

export function encodeCursor(parts: CursorParts): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** The parts of a cursor of these kinds. Throws invalid-request for anything that no list has given. */
export function decodeCursor(cursor: string, kinds: readonly ('string' | 'number')[]): CursorParts {
  const parts = parse(cursor);
  const isWhole = Array.isArray(parts) && parts.length === kinds.length;
  if (isWhole && parts.every((part, index) => isOfKind(part, kinds[index]))) return parts as CursorParts;
  const detail = 'must be a nextCursor of this list';
  throw new ServiceError('invalid-request', `Parameter cursor ${detail}.`, {
    errors: [{ parameter: 'cursor', detail }],
  });
}

function isOfKind(part: unknown, kind: 'string' | 'number' | undefined): boolean {
  return kind === 'number' ? Number.isSafeInteger(part) : typeof part === 'string';
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}
