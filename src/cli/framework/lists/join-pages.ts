import { CliError, EXIT } from '../../errors/cli-error.ts';
import { repeatedCursor } from './read-pages.ts';

type Page = { readonly name: string; readonly items: readonly unknown[]; readonly nextCursor: unknown };

/**
 * Joins all pages of a list to one page, with its items under their own name, and without a cursor. Events always have a
 * cursor for later ones: an empty page ends them, and its cursor is kept.
 *
 * @throws CliError for a response that is no list
 */
export async function joinPages(
  path: string,
  read: (path: string) => Promise<unknown>,
): Promise<Readonly<Record<string, unknown>>> {
  const items: unknown[] = [];
  const cursors = new Set<string>();
  for (let cursor: string | undefined; ; ) {
    const response = await read(cursor === undefined ? path : withCursor(path, cursor));
    const page = pageOf(response, path);
    items.push(...page.items);
    const { nextCursor } = page;
    const isAtEnd = nextCursor === cursor && page.items.length === 0;
    if (typeof nextCursor !== 'string' || isAtEnd) {
      return { ...(response as object), [page.name]: items };
    }
    if (cursors.has(nextCursor)) throw repeatedCursor();
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
}

/** The rest of the query stays as it was typed, because it is signed unchanged. */
function withCursor(path: string, cursor: string): string {
  const [base = '', query = ''] = path.split('?', 2);
  const others = query.split('&').filter((part) => part !== '' && !part.startsWith('cursor='));
  return `${base}?${[...others, `cursor=${encodeURIComponent(cursor)}`].join('&')}`;
}

function pageOf(response: unknown, path: string): Page {
  const entries = typeof response === 'object' && response !== null ? Object.entries(response) : [];
  const [list, ...others] = entries.filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  if (list === undefined || others.length > 0) {
    throw new CliError(EXIT.failure, `${path} does not return a list`, 'leave out --paginate');
  }
  const nextCursor = entries.find(([name]) => name === 'nextCursor')?.[1];
  return { name: list[0], items: list[1], nextCursor };
}
