import { Type } from 'typebox';
import { orNull } from './schema.ts';

/* Query parameters of paginated lists. */

/** Items of a list that is returned without `limit`. */
export const MOST_LISTED = 10_000;

/** @param description of the default */
export function pageLimit(maximum: number, description: string) {
  return Type.Optional(Type.Integer({ minimum: 1, maximum, description: `Page size; ${description}` }));
}

/** The cursor in a page of a list that has an end. */
export const nextCursor = orNull(Type.String(), 'The cursor of the next page; null after the last one');

/** The cursor in a list that is returned at once when `limit` and `cursor` are absent. */
export const nextPageCursor = Type.Optional(
  orNull(
    Type.String(),
    'The cursor of the next page; null after the last one; absent when the whole list is returned at once',
  ),
);

export function pageCursor(maxLength: number) {
  return Type.Optional(Type.String({ maxLength, description: 'nextCursor of the previous page' }));
}

/** The page of most lists. */
export const PAGE = { limit: pageLimit(200, 'default 50'), cursor: pageCursor(512) };
