import type { TSchema } from 'typebox';
import type { Route } from '../http/route.ts';
import { exampleOf, type JsonObject } from './schema-document.ts';

/*
 * Code samples for the reference page. By itself the page would show a curl command without a signature, which the
 * service refuses. Samples of signed routes therefore use `rtc api`, which signs. `x-codeSamples` is Redoc's extension,
 * which other pages support too: https://redocly.com/docs-legacy/api-reference-docs/specification-extensions/x-code-samples
 */

/** Routes that only the media server calls have no samples. */
export function codeSamplesOf(route: Route): readonly JsonObject[] {
  if (route.security === 'media-server') return [];
  const path = examplePath(route);
  const source = route.security === 'signed' ? commandOf(route, path) : curlOf(route, path);
  return [{ lang: 'Shell', label: route.security === 'signed' ? 'rtc' : 'curl', source }];
}

function commandOf({ method, body }: Route, path: string): string {
  const command = `rtc api ${method} ${quoted(path)}`;
  return body === undefined ? command : `${command} \\\n  --data ${quoted(textOf(body))}`;
}

function curlOf({ method, body }: Route, path: string): string {
  const command = `curl ${method === 'GET' ? '' : `-X ${method} `}"$RTC_URL"${quoted(path)}`;
  if (body === undefined) return command;
  return `${command} \\\n  -H 'Content-Type: application/json' \\\n  --data ${quoted(textOf(body))}`;
}

function examplePath({ path, params, query }: Route): string {
  const values = (params === undefined ? {} : exampleOf(params)) as Readonly<Record<string, unknown>>;
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(String(values[name] ?? name)),
  );
  const needed = Object.entries(requiredOf(query)).map(
    ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
  );
  return needed.length === 0 ? filled : `${filled}?${needed.join('&')}`;
}

function requiredOf(query: TSchema | undefined): Readonly<Record<string, unknown>> {
  const { required = [] } = (query ?? {}) as { readonly required?: readonly string[] };
  const values = (query === undefined ? {} : exampleOf(query)) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(required.map((name) => [name, values[name]]));
}

function textOf(body: TSchema): string {
  return JSON.stringify(exampleOf(body), undefined, 2);
}

/** Quotes the text for a POSIX shell. */
function quoted(text: string): string {
  return /^[\w/.=?&%:-]+$/.test(text) && !text.includes('&') ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
