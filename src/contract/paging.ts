import { Type } from 'typebox';

/* Query parameters of lists that come in pages. */

/** @param description of the default */
export function pageLimit(maximum: number, description: string) {
  return Type.Optional(Type.Integer({ minimum: 1, maximum, description: `Page size; ${description}` }));
}

export function pageCursor(maxLength: number) {
  return Type.Optional(Type.String({ maxLength, description: 'nextCursor of the page before' }));
}
