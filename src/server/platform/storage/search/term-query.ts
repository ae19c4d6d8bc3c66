/** A condition on the terms of a text. The terms of a `phrase` follow one another. */
export type TermQuery =
  | { readonly phrase: readonly string[] }
  | { readonly all: readonly TermQuery[] }
  | { readonly any: readonly TermQuery[] };
