import Schema from 'typebox/schema';

/** A response as it was received. */
export type WireResponse = {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
};

type ResponseObject = {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<
    Record<
      string,
      {
        readonly schema: object;
        readonly example?: unknown;
        readonly examples?: Readonly<Record<string, unknown>>;
      }
    >
  >;
};
export type OperationObject = {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, ResponseObject>>;
};
export type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: Readonly<Record<string, unknown>>;
};

const PROBLEM = 'application/problem+json';

/** Statuses that every path may have, before its route is known. */
const BEFORE_ANY_ROUTE = [400, 401, 403, 404, 405, 408, 413, 414, 429, 431, 503];

/** Returns the differences between a response and the service's own OpenAPI document; empty if it conforms. */
export function findResponseErrors(document: OpenApi, response: WireResponse): readonly string[] {
  const { headers, status } = response;
  const found: string[] = [];
  if (typeof headers['x-request-id'] !== 'string') found.push('X-Request-Id is missing');
  const type = String(headers['content-type'] ?? '').split(';')[0] ?? '';
  if (type === PROBLEM) found.push(...problemErrors(document, response));
  else if (status >= 400 && !isDeclared(document, response, type))
    found.push(`an error of type ${type || '(none)'}`);
  const operation = findOperation(document, response.method, response.path);
  if (operation === undefined) {
    if (INTERNAL_PATH.test(response.path)) return found;
    if (!BEFORE_ANY_ROUTE.includes(status)) found.push(`status ${status} on a path that is in no operation`);
    return found;
  }
  return [...found, ...operationErrors(document, operation, response, type)];
}

function isDeclared(document: OpenApi, { method, path, status }: WireResponse, type: string): boolean {
  const response = findOperation(document, method, path)?.responses[status];
  return response !== undefined && resolveReference(document, response).content?.[type] !== undefined;
}

function operationErrors(
  document: OpenApi,
  operation: OperationObject,
  wireResponse: WireResponse,
  type: string,
): readonly string[] {
  const { status, text, headers } = wireResponse;
  const declared = operation.responses[status];
  const response = declared && resolveReference(document, declared);
  if (response === undefined) return [`${operation.operationId} does not declare ${status}`];
  const undeclared = Object.keys(headers).filter(
    (name) =>
      (name.startsWith('x-') || name === 'retry-after') &&
      name !== 'x-content-type-options' &&
      !Object.keys(response.headers ?? {}).some((declared) => declared.toLowerCase() === name),
  );
  const found = undeclared.map((name) => `${operation.operationId} does not declare the header ${name}`);
  if (wireResponse.method === 'HEAD') return found;
  if (response.content === undefined) {
    return text === '' ? found : [...found, `${operation.operationId} ${status} has a body`];
  }
  const media = response.content[type];
  if (media === undefined)
    return [...found, `${operation.operationId} ${status} does not declare ${type || 'an empty body'}`];
  if (type === PROBLEM) {
    const code = (JSON.parse(text) as { type: string }).type.replace(/^urn:problem-type:rtc:/, '');
    if (media.examples?.[code] === undefined)
      found.push(`${operation.operationId} ${status} does not declare ${code}`);
  }
  const value: unknown = type.endsWith('json') ? JSON.parse(text) : text;
  return [...found, ...schemaErrors(document, media.schema, value)];
}

function problemErrors(
  document: OpenApi,
  { status, headers, text, method }: WireResponse,
): readonly string[] {
  if (method === 'HEAD') return [];
  const problem = JSON.parse(text) as Record<string, unknown>;
  const found = [...schemaErrors(document, { $ref: '#/components/schemas/Problem' }, problem)];
  const requestId = headers['x-request-id'];
  if (problem.status !== status)
    found.push(`the problem says ${String(problem.status)}, the response ${status}`);
  if (![`urn:uuid:${requestId}`, `urn:rtc:request:${requestId}`].includes(String(problem.instance)))
    found.push(`instance ${String(problem.instance)} is not the request ${String(requestId)}`);
  if (!/^urn:problem-type:rtc:[a-z-]+$/.test(String(problem.type)))
    found.push(`type ${String(problem.type)}`);
  if (String(problem.detail).length < 5) found.push('no detail');
  return found;
}

function schemaErrors(document: OpenApi, schema: object, value: unknown): readonly string[] {
  const [isValid, errors] = Schema.Errors({ ...schema, components: document.components }, value);
  return isValid ? [] : errors.map((error) => `${error.instancePath || 'the response'} ${error.message}`);
}

/** Returns the target of a `$ref`, or the value itself. */
export function resolveReference<T>(document: OpenApi, value: T): T {
  const { $ref } = value as { readonly $ref?: string };
  if ($ref === undefined) return value;
  const parts = $ref.replace(/^#\//, '').split('/');
  return parts.reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], document) as T;
}

/** Paths that are not for callers of the API. The document does not contain them. */
const INTERNAL_PATH = /^\/(?:$|docs\/|livekit\/webhook$)/;

/** HEAD is a GET without its body. Literal parts of a path take precedence over parameters. */
function findOperation(document: OpenApi, method: string, path: string): OperationObject | undefined {
  const parts = (path.split(/[?#]/)[0] ?? '').split('/');
  const verb = (method === 'HEAD' ? 'GET' : method).toLowerCase();
  const matching = Object.keys(document.paths).filter((template) => {
    const pattern = template.split('/');
    return (
      pattern.length === parts.length &&
      pattern.every((part, index) => (part.startsWith('{') ? parts[index] !== '' : part === parts[index]))
    );
  });
  const [first] = matching.sort((a, b) => a.split('{').length - b.split('{').length);
  return first === undefined ? undefined : document.paths[first]?.[verb];
}
