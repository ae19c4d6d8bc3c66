/** Returns the page with this text between its markers `<!-- name -->` and `<!-- end of name -->`. */
export function replaceBlock(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
  const [before = '', rest = ''] = page.split(begin);
  const [, after] = rest.split(end);
  if (after === undefined) throw new Error(`The page has no ${begin} before an ${end}.`);
  return `${before}${begin}\n\n${text}\n\n${end}${after}`;
}
