import { Type } from 'typebox';

/* Query parameters of paginated lists. */

/** @param description of the default */
export function pageLimit(maximum: number, description: string) {
  return Type.Optional(Type.Integer({ minimum: 1, maximum, description: `Page size; ${description}` }));
}

/** The cursor in a page of a list that has an end. */
export const nextCursor = Type.Union([Type.String(), Type.Null()], {
  description: 'The cursor of the next page; null after the last one',
});

export function pageCursor(maxLength: number) {
  return Type.Optional(Type.String({ maxLength, description: 'nextCursor of the previous page' }));
}
