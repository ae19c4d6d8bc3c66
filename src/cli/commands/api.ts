import type { Answer } from '../../client/answer.ts';
import { type Command, defineCommand } from '../command.ts';
import { usageError } from '../failure.ts';
import { argument, asText, flag, option } from '../parameters.ts';
import { nothing, text } from '../result.ts';

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const api = defineCommand({
  noun: 'api',
  verb: '',
  summary: 'Send any request, signed',
  description: 'Prints the body of the answer. For what has no command yet, and for trying things out.',
  needs: 'service',
  arguments: {
    method: argument('GET, POST, PATCH, PUT, DELETE', { choices: [...METHODS] }),
    path: argument('path with its query, such as /v1/rooms?limit=5'),
  },
  options: {
    data: option('-d, --data <json>', 'body', { parse: asText, source: 'typed-or-file' }),
    include: flag('-i, --include', 'status and headers of the answer first'),
  },
  examples: [
    { line: 'rtc api GET /v1/rooms', does: 'The raw answer' },
    { line: `rtc api POST /v1/rooms --data '{"name":"demo"}'`, does: 'With a body; @file and - work too' },
    { line: 'rtc api GET /v1/rooms --curl', does: 'The same as a curl command' },
  ],
  async run(context, input) {
    const method = input.method.toUpperCase();
    if (!METHODS.has(method)) {
      throw usageError(`${JSON.stringify(input.method)} is not one of ${[...METHODS].join(', ')}`);
    }
    const client = await context.client();
    const answer = await client.request(method, checkPath(input.path), {
      signal: context.io.signal,
      body: input.data,
    });
    const head = input.include ? headOf(answer) : '';
    if (head === '' && answer.body === '') return nothing();
    const shown = context.screen.isTerminal ? indented(answer.body) : answer.body;
    return text(head + shown, { ...parsed(answer), fields: [] });
  },
});

export const commands: readonly Command[] = [api];

/** The path is signed as it is sent: nothing may rewrite it on the way. */
function checkPath(path: string): string {
  const absolute = path.startsWith('/') ? path : `/${path}`;
  if (/^[\x21-\x7e]+$/.test(absolute) && !absolute.includes('#')) return absolute;
  throw usageError('the path must be percent-encoded: no spaces, no letters outside ASCII, no #');
}

function headOf(answer: Answer): string {
  const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\n`);
  return `HTTP ${answer.status}\n${lines.join('')}\n`;
}

function indented(body: string): string {
  const value = tryJson(body);
  return value === undefined ? body : JSON.stringify(value, undefined, 2);
}

function parsed(answer: Answer): { readonly answer?: unknown } {
  const value = tryJson(answer.body);
  return value === undefined ? {} : { answer: value };
}

function tryJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // Text, such as metrics: shown as it is.
    return undefined;
  }
}
