import type { ServiceResponse } from '../../client/client-options.ts';
import { parseJson } from '../../contract/unknown-value.ts';
import { CliError, EXIT, usageError } from '../errors/cli-error.ts';
import type { Context } from '../framework/context.ts';
import { repeatedCursor } from '../framework/lists/read-pages.ts';
import { argument, asText, choice, defineCommand, flag, ofNoun, option } from '../framework/parameters.ts';
import { nothing, type Result, text } from '../terminal/result.ts';

const READING_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

const api = defineCommand({
  summary: 'Send any signed request',
  description:
    'Prints the body of the response. Use it for requests that have no command, and to try things out. The API reference is at the address of the service, under /docs.',
  fields: 'of-response',
  arguments: {
    method: argument('HTTP method', {
      choices: METHODS,
      parse: (word) => choice(METHODS).parse(word.toUpperCase()),
    }),
    path: argument('path with its query, such as /v1/rooms?limit=5', { parse: encodePath }),
  },
  options: {
    data: option('-d, --data <json>', 'body', { parse: asText, source: 'typed-or-file' }),
    include: flag('-i, --include', 'also print status and headers of the response'),
    paginate: flag('--paginate', 'read all pages of a list, and print them as one'),
  },
  examples: [
    { line: 'rtc api GET /v1/rooms', does: 'The raw response' },
    { line: `rtc api POST /v1/rooms --data '{"name":"demo"}'`, does: 'With a body; @file and - work too' },
    { line: "rtc api GET '/v1/recordings?roomId=demo' --paginate", does: 'All recordings of a room' },
    { line: 'rtc api GET /v1/rooms --curl', does: 'The same as a curl command' },
  ],
  async run(context, { method, path, data, include, paginate }) {
    if (paginate) return await readAll(context, { method, path, isIncluded: include });
    const client = await context.client();
    const response = await client.request(method, path, { signal: context.io.signal, body: data });
    const head = include ? formatHead(response) : '';
    if (head === '' && response.body === '') return nothing();
    const shown = context.terminal.isTerminal ? indentJson(response.body) : response.body;
    const isAct = !READING_METHODS.includes(method);
    return text(head + shown, { response: parseJson(response.body), isAct });
  },
});

export const commands = ofNoun('api', [api]);

type Listing = { readonly method: string; readonly path: string; readonly isIncluded: boolean };

async function readAll(context: Context, { method, path, isIncluded }: Listing): Promise<Result> {
  if (method !== 'GET' || isIncluded) {
    throw usageError('--paginate is for GET, without --include', 'leave one of them out');
  }
  const client = await context.client();
  const response = await joinPages(path, async (page) => {
    const { body } = await client.request('GET', page, { signal: context.io.signal });
    return parseJson(body);
  });
  const json = JSON.stringify(response, undefined, context.terminal.isTerminal ? 2 : undefined);
  return text(json, { response });
}

/** The path is signed as it is sent: nothing may rewrite it on the way. */
function encodePath(path: string): string {
  if (path === '') throw usageError('must not be empty');
  const absolute = path.startsWith('/') ? path : `/${path}`;
  if (/^[\x21-\x7e]+$/.test(absolute) && !absolute.includes('#')) return absolute;
  const encoded = encodeURI(absolute).replaceAll('#', '%23');
  throw usageError(
    'must be percent-encoded: no spaces, no letters outside ASCII, no #',
    `write it such as ${encoded}`,
  );
}

/** Formats the head of the response as received, except for the case of names. */
function formatHead({ status, statusText, headers }: ServiceResponse): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
  return `HTTP/1.1 ${status} ${statusText}\n${lines.join('')}\n`;
}

function indentJson(body: string): string {
  const value = parseJson(body);
  return value === undefined ? body : JSON.stringify(value, undefined, 2);
}

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
    const page = readPage(response, path);
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

function readPage(response: unknown, path: string): Page {
  const entries = typeof response === 'object' && response !== null ? Object.entries(response) : [];
  const [list, ...others] = entries.filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  if (list === undefined || others.length > 0) {
    throw new CliError(EXIT.failure, `${path} does not return a list`, 'leave out --paginate');
  }
  const nextCursor = entries.find(([name]) => name === 'nextCursor')?.[1];
  return { name: list[0], items: list[1], nextCursor };
}
