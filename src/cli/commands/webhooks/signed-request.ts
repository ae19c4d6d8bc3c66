import { usageError } from '../../errors/cli-error.ts';

/** A request as a receiver got it: names of headers in lower case, and the raw body. */
export type SignedRequest = { readonly headers: ReadonlyMap<string, string>; readonly body: string };

/** Parses a whole request as a proxy or a log shows it: an optional request line, headers, an empty line, the body. */
export function parseRequest(text: string): SignedRequest {
  const end = /\r?\n\r?\n/.exec(text);
  if (end === null)
    throw usageError(
      '--request has no empty line between headers and body',
      'pass the request as it arrived: headers, an empty line, the body',
    );
  const head = text.slice(0, end.index).replace(/^[A-Z]+ \S+ HTTP\/\S+\r?\n/, '');
  return { headers: parseHeaders(head, '--request'), body: text.slice(end.index + end[0].length) };
}

/** Parses `name: value` lines, or a JSON object of names and values. */
export function parseHeaders(text: string, option: string): ReadonlyMap<string, string> {
  const json = text.trimStart().startsWith('{') ? jsonHeaders(text) : undefined;
  if (json !== undefined) return json;
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  return new Map(lines.map((line) => parseHeader(line, option)));
}

export function parseHeader(line: string, option: string): readonly [name: string, value: string] {
  const header = /^\s*([\w!#$%&'*+.^`|~-]+)\s*:\s*(.*?)\s*$/.exec(line);
  if (header?.[1] !== undefined) return [header[1].toLowerCase(), header[2] ?? ''];
  throw usageError(
    `${option} ${JSON.stringify(line)} is not a header`,
    "write it such as 'webhook-id: evt_1'",
  );
}

function jsonHeaders(text: string): ReadonlyMap<string, string> | undefined {
  try {
    const value = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return new Map(Object.entries(value).map(([name, each]) => [name.toLowerCase(), String(each)]));
  } catch {
    // Not JSON: then each line must be a header, and the first other one is named.
    return undefined;
  }
}
