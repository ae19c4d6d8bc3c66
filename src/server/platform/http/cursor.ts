import { ServiceError } from '../../../contract/errors.ts';

type Kind = 'string' | 'number';
type Part<K> = K extends 'number' ? number : string;
type Parts<Kinds extends readonly Kind[]> = { readonly [Index in keyof Kinds]: Part<Kinds[Index]> };

export type Cursor<P extends readonly unknown[]> = {
  readonly encode: (...parts: P) => string;
  /** Throws invalid-request unless the text is a cursor of this list. */
  readonly decode: (cursor: string) => P;
};

/**
 * An opaque position in a list: texts and numbers of the given kinds, as JSON in base64url. It includes the list's name, so
 * that a cursor of another list is rejected instead of continuing at a wrong position.
 */
export function cursorOf<const Kinds extends readonly Kind[]>(
  list: string,
  ...kinds: Kinds
): Cursor<Parts<Kinds>> {
  return {
    encode: (...parts) => Buffer.from(JSON.stringify([list, ...parts])).toString('base64url'),
    decode: (cursor) => {
      const [name, ...parts] = parse(cursor);
      const isWhole = name === list && parts.length === kinds.length;
      if (isWhole && parts.every((part, index) => isOfKind(part, kinds[index]))) {
        return parts as unknown as Parts<Kinds>;
      }
      throw refusedCursor('must be a nextCursor of this list');
    },
  };
}

export function refusedCursor(detail: string): ServiceError {
  return new ServiceError('invalid-request', `Parameter cursor ${detail}.`, {
    errors: [{ parameter: 'cursor', detail }],
  });
}

function isOfKind(part: unknown, kind: Kind | undefined): boolean {
  return kind === 'number' ? Number.isSafeInteger(part) : typeof part === 'string';
}

function parse(cursor: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
