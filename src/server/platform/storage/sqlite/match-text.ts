import type { TermQuery } from '../search/term-query.ts';

/** Writes a query for `match` of an FTS5 table: https://sqlite.org/fts5.html#full_text_query_syntax. */
export function matchText(query: TermQuery): string {
  if ('phrase' in query) return `"${query.phrase.join(' ')}"`;
  if ('all' in query) return `(${query.all.map(matchText).join(' AND ')})`;
  return `(${query.any.map(matchText).join(' OR ')})`;
}
