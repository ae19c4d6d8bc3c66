import { isObject, readMembers, readObjects, readTexts } from '../../../contract/unknown-value.ts';
import type { JsonObject } from './schema-document.ts';

/*
 * Renders an operation of the document as HTML, which can be read at once and without scripts: the call, its parameters, its
 * body, its responses, its errors, and samples.
 */

/** An operation, or an event that webhooks receive. */
export type Operation = {
  readonly id: string;
  readonly tag: string;
  readonly title: string;
  readonly method: string;
  /** The path; of an event its name. */
  readonly path: string;
  readonly isEvent: boolean;
  readonly source: JsonObject;
};

/** Returns the operations of a document in the order of its paths, then the events. */
export function listOperations({ paths, webhooks }: JsonObject): readonly Operation[] {
  return [
    ...listMethods(paths).map((operation) => ({ ...operation, isEvent: false })),
    ...listMethods(webhooks).map((operation) => ({ ...operation, isEvent: true })),
  ];
}

function listMethods(items: unknown): readonly Omit<Operation, 'isEvent'>[] {
  return Object.entries(readMembers(items)).flatMap(([path, item]) =>
    Object.entries(readMembers(item)).map(([method, operation]) => {
      const source = readMembers(operation);
      const { operationId, summary, tags } = source;
      const [tag = ''] = readTexts(tags);
      const names = { id: String(operationId), tag, title: String(summary) };
      return { ...names, method: method.toUpperCase(), path, source };
    }),
  );
}

export function renderOperation(operation: Operation, document: JsonObject): string {
  const { title, path, isEvent, source } = operation;
  const resolve = createResolver(document);
  const parameters = readObjects(source.parameters).map(resolve);
  return `<h1>${escapeHtml(title)}</h1>
${isEvent ? '<p class="call">A request that your receiver gets.</p>' : `<p class="call">${renderCall(operation)}</p>`}
${renderText(String(source.description ?? ''))}
${isEvent ? '' : `<p><a class="button" href="/docs/try/${operation.id}">Test request</a></p>`}
${renderParameters('Path', parameters, 'path')}${renderParameters('Query', parameters, 'query')}${renderParameters('Headers', parameters, 'header')}
${renderBody('Body', readMembers(source.requestBody), resolve)}
${renderResponses(readMembers(source.responses), resolve, path)}`;
}

export function renderCall({ method, path }: Operation): string {
  return `<b class="method ${method.toLowerCase()}">${method}</b> <code>${escapeHtml(path)}</code>`;
}

type Resolve = (value: unknown) => JsonObject;

/** Returns a function that follows a reference into the document. */
function createResolver(document: JsonObject): Resolve {
  return (value) => {
    const { $ref } = readMembers(value);
    if (typeof $ref !== 'string') return readMembers(value);
    const found = $ref.split('/').slice(1);
    return readMembers(found.reduce<unknown>((part, name) => readMembers(part)[name], document));
  };
}

/** Renders code by language. Of a page without scripts, one language is open at a time. */
export function renderSamples(samples: readonly JsonObject[]): string {
  const parts = samples.map(
    ({ label, source }, index) =>
      `<details name="sample"${index === 0 ? ' open' : ''}><summary>${escapeHtml(String(label))}</summary>${renderCode(String(source))}</details>`,
  );
  return parts.length === 0
    ? ''
    : `<section class="samples text" aria-labelledby="samples-title"><h2 id="samples-title">Samples</h2>${parts.join('')}</section>`;
}

function renderParameters(
  heading: string,
  parameters: readonly JsonObject[],
  place: 'path' | 'query' | 'header',
): string {
  const chosen = parameters.filter((parameter) => parameter.in === place);
  if (chosen.length === 0) return '';
  const fields = chosen.map(({ name, required, description, schema }) =>
    renderField({
      name: String(name),
      isRequired: required === true,
      schema: { ...readMembers(schema), ...(description === undefined ? {} : { description }) },
      resolve: readMembers,
      seen: [],
    }),
  );
  return `<h2 id="${heading.toLowerCase()}">${heading}</h2>\n<ul class="fields">${fields.join('')}</ul>\n`;
}

function renderBody(heading: string, body: JsonObject, resolve: Resolve): string {
  const contents = Object.entries(readMembers(body.content));
  if (contents.length === 0) return '';
  return `<h2 id="${heading.toLowerCase()}">${heading}</h2>\n${contents.map(([type, content]) => renderContent(type, readMembers(content), resolve)).join('\n')}`;
}

/** A body in one media type: its fields, and an example. */
function renderContent(type: string, { schema, example }: JsonObject, resolve: Resolve): string {
  const name = type === 'application/json' ? '' : `<p class="type"><code>${escapeHtml(type)}</code></p>`;
  const text = typeof example === 'string' ? example : JSON.stringify(example, undefined, 2);
  const shown =
    example === undefined ? '' : `<details open><summary>Example</summary>${renderCode(text)}</details>`;
  return `${name}${renderShape(readMembers(schema), { resolve, seen: [] })}${shown}`;
}

function renderResponses(responses: JsonObject, resolve: Resolve, path: string): string {
  const all = Object.entries(responses).map(([status, response]) => ({ status, ...resolve(response) }));
  const isError = (status: string): boolean => /^[45]\d\d$/.test(status);
  const successes = all.filter(({ status }) => !isError(status));
  const errors = all.filter(({ status }) => isError(status));
  const table = errors.map(
    ({ status, ...response }) =>
      `<tr><td>${status}</td><td>${renderInline(String(readMembers(response).description ?? ''))}</td></tr>`,
  );
  return `${successes.map(({ status, ...response }) => renderSuccess(status, response, resolve)).join('\n')}
${
  table.length === 0
    ? ''
    : `<h2 id="errors">Errors</h2>\n${path.startsWith('/v1') ? '<p>Problems, as <a href="/docs/guide/conventions#errors">the conventions</a> describe them.</p>' : ''}<div class="table" tabindex="0"><table><thead><tr><th>status</th><th>when</th></tr></thead><tbody>${table.join('')}</tbody></table></div>`
}`;
}

/** Headers that every response has, which the conventions describe. */
const COMMON_HEADERS = ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

function renderSuccess(status: string, response: JsonObject, resolve: Resolve): string {
  const headers = Object.entries(readMembers(response.headers)).filter(
    ([name]) => !COMMON_HEADERS.includes(name),
  );
  const list = headers.map(
    ([name, header]) =>
      `<li><code class="name">${escapeHtml(name)}</code> <p>${renderInline(String(resolve(header).description ?? ''))}</p></li>`,
  );
  return `<h2 id="response-${status}">Response ${status}</h2>
<p>${renderInline(String(response.description ?? ''))}</p>
${list.length === 0 ? '' : `<ul class="fields">${list.join('')}</ul>`}
${Object.entries(readMembers(response.content))
  .map(([type, content]) => renderContent(type, readMembers(content), resolve))
  .join('\n')}`;
}

/** @param seen references that lead to this schema, so that a recursive one ends */
type Within = { readonly resolve: Resolve; readonly seen: readonly string[] };

/** Renders the fields of an object, or of the objects in an array, or the members of a union. */
function renderShape(schema: JsonObject, within: Within): string {
  const { $ref } = schema;
  if (typeof $ref === 'string') {
    if (within.seen.includes($ref)) return '';
    return renderShape(within.resolve(schema), { ...within, seen: [...within.seen, $ref] });
  }
  if (isObject(schema.items)) return renderShape(schema.items, within);
  const members = readObjects(schema.oneOf ?? schema.anyOf);
  if (members.length > 0) return renderMembers(members, within);
  const properties = Object.entries(readMembers(schema.properties));
  const required = readTexts(schema.required);
  const fields = properties.map(([name, property]) =>
    renderField({ name, isRequired: required.includes(name), schema: readMembers(property), ...within }),
  );
  return fields.length === 0 ? '' : `<ul class="fields">${fields.join('')}</ul>`;
}

function renderMembers(members: readonly JsonObject[], within: Within): string {
  const shapes = members.flatMap((member) => {
    const shape = renderShape(member, within);
    return shape === '' ? [] : [{ name: nameType(member, within.resolve), shape }];
  });
  if (shapes.length === 1) return shapes[0]?.shape ?? '';
  return shapes
    .map(({ name, shape }) => `<details><summary>${escapeHtml(name)}</summary>${shape}</details>`)
    .join('');
}

type Field = Within & { readonly name: string; readonly isRequired: boolean; readonly schema: JsonObject };

function renderField({ name, isRequired, schema, resolve, seen }: Field): string {
  const resolved = { ...resolve(schema), ...schema };
  const { description, examples } = resolved;
  const shape = renderShape(schema, { resolve, seen });
  const [example] = Array.isArray(examples) ? examples : [];
  const facts = listLimits(resolved).concat(
    example === undefined || isObject(example)
      ? []
      : [`for example <code>${escapeHtml(JSON.stringify(example))}</code>`],
  );
  return `<li><code class="name">${escapeHtml(name)}</code> <span class="type">${escapeHtml(nameType(schema, resolve))}${isRequired ? ', required' : ''}</span>
${description === undefined ? '' : `<p>${renderInline(String(description))}</p>`}${facts.length === 0 ? '' : `<p class="limits">${facts.join('; ')}</p>`}${shape === '' ? '' : `<details><summary>Fields</summary>${shape}</details>`}</li>`;
}

/** Returns the type of a value in words. */
function nameType(schema: JsonObject, resolve: Resolve): string {
  const { title, type, items, enum: values, const: value, format, ...rest } = resolve(schema);
  const members = readObjects(rest.oneOf ?? rest.anyOf);
  if (members.length > 0) return members.map((member) => nameType(member, resolve)).join(' or ');
  if (Array.isArray(values)) return values.map(String).join(', ');
  if (value !== undefined) return String(value);
  if (isObject(items)) return `list of ${nameType(items, resolve)}`;
  const types = Array.isArray(type) ? type.map(String) : type === undefined ? [] : [String(type)];
  const named = types.map((each) => (each === 'string' && format === 'date-time' ? 'time' : each));
  if (schema.$ref !== undefined && typeof title === 'string') return title;
  return named.length === 0 ? 'any value' : named.join(' or ');
}

/** Returns what limits a value, in words. */
function listLimits(schema: JsonObject): readonly string[] {
  return [
    toRange(schema.minimum, schema.maximum, ''),
    toRange(schema.minLength, schema.maxLength, ' characters'),
    toRange(schema.minItems, schema.maxItems, ' items'),
    schema.default === undefined ? '' : `default <code>${escapeHtml(JSON.stringify(schema.default))}</code>`,
  ].filter((text) => text !== '');
}

function toRange(least: unknown, most: unknown, unit: string): string {
  const [from, to] = [least, most].map((limit) => (typeof limit === 'number' ? String(limit) : undefined));
  if (from !== undefined && to !== undefined) return `${from} to ${to}${unit}`;
  if (to !== undefined) return `at most ${to}${unit}`;
  return from === undefined ? '' : `at least ${from}${unit}`;
}

function renderCode(code: string): string {
  return `<pre tabindex="0"><code>${escapeHtml(code)}</code></pre>`;
}

/** Renders a description: paragraphs, tables and code spans. Descriptions have nothing else. */
function renderText(text: string): string {
  return text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => (block.startsWith('|') ? renderTable(block) : `<p>${renderInline(block)}</p>`))
    .join('\n');
}

function renderTable(block: string): string {
  const [head = [], , ...rows] = block.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => renderInline(cell.trim())),
  );
  const row = (cells: readonly string[], tag: 'td' | 'th'): string =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<div class="table" tabindex="0"><table><thead>${row(head, 'th')}</thead><tbody>${rows.map((cells) => row(cells, 'td')).join('')}</tbody></table></div>`;
}

function renderInline(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
