import { ServiceError } from '../../../contract/errors.ts';

/** Position of a row in a list that is ordered by creation time and id. */
type Position = { readonly createdAt: number; readonly id: string };

type PageRequest = { readonly cursor?: string | undefined; readonly limit: number };

type RowRequest = { readonly after: Position | undefined; readonly limit: number };

/** Reads pages of the list of that name. A cursor of another list throws invalid-request. */
export function pageReader(list: string) {
  const positions = cursorCodec(list, 'number', 'string');
  return async <Row extends Position>(
    { cursor, limit }: PageRequest,
    read: (wanted: RowRequest) => Promise<readonly Row[]>,
  ): Promise<{ readonly rows: readonly Row[]; readonly nextCursor: string | null }> => {
    const after = cursor === undefined ? undefined : toPosition(positions.decode(cursor));
    // Reads one row more, to know whether there is a next page.
    const found = await read({ after, limit: limit + 1 });
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    const hasMore = found.length > limit && last !== undefined;
    return { rows, nextCursor: hasMore ? positions.encode(last.createdAt, last.id) : null };
  };
}

function toPosition([createdAt, id]: readonly [number, string]): Position {
  return { createdAt, id };
}

type Kind = 'string' | 'number';

type Part<K> = K extends 'number' ? number : string;

type Parts<Kinds extends readonly Kind[]> = { readonly [Index in keyof Kinds]: Part<Kinds[Index]> };

type Cursor<P extends readonly unknown[]> = {
  readonly encode: (...parts: P) => string;
  /** Throws invalid-request unless the text is a cursor of this list. */
  readonly decode: (cursor: string) => P;
  /** Whether it is a cursor of this list. */
  readonly accepts: (cursor: string) => boolean;
};

/**
 * An opaque position in a list: texts and numbers of the given kinds, as JSON in base64url. It includes the list's name, so
 * that a cursor of another list is rejected instead of continuing at a wrong position.
 */
export function cursorCodec<const Kinds extends readonly Kind[]>(
  list: string,
  ...kinds: Kinds
): Cursor<Parts<Kinds>> {
  const read = (cursor: string): Parts<Kinds> | undefined => {
    const [name, ...parts] = parse(cursor);
    const isWhole = name === list && parts.length === kinds.length;
    const isOfKinds = isWhole && parts.every((part, index) => isOfKind(part, kinds[index]));
    return isOfKinds ? (parts as unknown as Parts<Kinds>) : undefined;
  };
  return {
    encode: (...parts) => Buffer.from(JSON.stringify([list, ...parts])).toString('base64url'),
    accepts: (cursor) => read(cursor) !== undefined,
    decode: (cursor) => {
      const parts = read(cursor);
      if (parts === undefined) throw refusedCursor('must be a nextCursor of this list');
      return parts;
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
