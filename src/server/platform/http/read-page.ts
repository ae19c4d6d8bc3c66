import type { RoomPrefixes } from '../../../contract/keys.ts';
import { parseJson } from '../../../contract/unknown-value.ts';
import { refusedParameter } from './refusals.ts';

/** Position of a row in a list that is ordered by creation time and id. */
type Position = { readonly createdAt: number; readonly id: string };

type PageRequest = { readonly cursor?: string | undefined; readonly limit?: number | undefined };

/** Rows of a page for which the caller asks no number. */
const DEFAULT_LIMIT = 50;

/** The query of a list, and the rooms of the key that asks; undefined for all rooms. */
export type OfRooms<Query> = Query & { readonly rooms?: RoomPrefixes | undefined };

type RowRequest<P> = { readonly after: P | undefined; readonly limit: number };

type Rows<Row, P> = {
  /** Returns the rows that follow a position, as many as the limit allows. */
  readonly read: (wanted: RowRequest<P>) => Promise<readonly Row[]> | readonly Row[];
  /** Returns the position of a row. */
  readonly locate: (row: Row) => P;
};

type Page<Row> = { readonly rows: readonly Row[]; readonly nextCursor: string | null };

/** Reads a page. A cursor of another list throws invalid-request. */
export async function readPage<Row, P extends readonly unknown[]>(
  positions: Cursor<P>,
  { cursor, limit = DEFAULT_LIMIT }: PageRequest,
  { read, locate }: Rows<Row, P>,
): Promise<Page<Row>> {
  const after = cursor === undefined ? undefined : positions.decode(cursor);
  // Reads one row more, to know whether there is a next page.
  const found = await read({ after, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  return { rows, nextCursor: hasMore ? positions.encode(...locate(last)) : null };
}

/** Returns a function that reads pages of the list of that name. The list is ordered by creation time and id. */
export function pageReader(list: string) {
  const positions = cursorCodec(list, 'number', 'string');
  return <Row extends Position>(
    page: PageRequest,
    read: (wanted: RowRequest<Position>) => Promise<readonly Row[]>,
  ): Promise<Page<Row>> =>
    readPage(positions, page, {
      read: ({ after, limit }) => read({ after: after && { createdAt: after[0], id: after[1] }, limit }),
      locate: ({ createdAt, id }) => [createdAt, id] as const,
    });
}

type Kind = 'string' | 'number';

type Part<K> = K extends 'number' ? number : string;

type Parts<Kinds extends readonly Kind[]> = { readonly [Index in keyof Kinds]: Part<Kinds[Index]> };

type Cursor<P extends readonly unknown[]> = {
  readonly encode: (...parts: P) => string;
  /** Throws invalid-request unless the text is a cursor of this list. */
  readonly decode: (cursor: string) => P;
  /** Returns whether it is a cursor of this list. */
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
      if (parts === undefined) throw refusedParameter('cursor', 'must be a nextCursor of this list');
      return parts;
    },
  };
}

function isOfKind(part: unknown, kind: Kind | undefined): boolean {
  return kind === 'number' ? Number.isSafeInteger(part) : typeof part === 'string';
}

function parse(cursor: string): readonly unknown[] {
  const parts = parseJson(Buffer.from(cursor, 'base64url').toString());
  return Array.isArray(parts) ? parts : [];
}
