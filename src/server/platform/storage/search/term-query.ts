/** A condition on the terms of a text. The terms of a `phrase` follow one another. */
export type TermQuery =
  | { readonly phrase: readonly string[] }
  | { readonly all: readonly TermQuery[] }
  | { readonly any: readonly TermQuery[] };

/** PostgreSQL counts no further. */
const LAST_POSITION = 16_383;

/** Writes terms as a tsvector, with their positions: https://www.postgresql.org/docs/current/datatype-textsearch.html. */
export function vectorText(terms: readonly string[]): string {
  return terms.map((term, index) => `'${term}':${Math.min(index + 1, LAST_POSITION)}`).join(' ');
}

/** Writes a query as a tsquery. */
export function queryText(query: TermQuery): string {
  if ('phrase' in query) return `(${query.phrase.map((term) => `'${term}'`).join(' <-> ')})`;
  if ('all' in query) return `(${query.all.map(queryText).join(' & ')})`;
  return `(${query.any.map(queryText).join(' | ')})`;
}

/** Writes a query for `match` of an FTS5 table: https://sqlite.org/fts5.html#full_text_query_syntax. */
export function matchText(query: TermQuery): string {
  if ('phrase' in query) return `"${query.phrase.join(' ')}"`;
  if ('all' in query) return `(${query.all.map(matchText).join(' AND ')})`;
  return `(${query.any.map(matchText).join(' OR ')})`;
}
