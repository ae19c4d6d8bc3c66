import type { TSchema } from 'typebox';
import {
  ERROR_CODES,
  type ErrorCode,
  PROBLEMS,
  problemType,
  reasonPhrase,
  ServiceError,
} from '../../../contract/errors.ts';
import {
  IDEMPOTENCY_KEY_HEADER,
  MAX_IDEMPOTENCY_KEY_LENGTH,
  REPLAYED_HEADER,
} from '../../../contract/idempotency.ts';
import { ProblemSchema } from '../../../contract/problem.ts';
import { takesIdempotencyKey } from '../http/register-route.ts';
import { type Route, type SuccessResponse, TAG_DESCRIPTIONS } from '../http/route.ts';
import {
  API_DESCRIPTION,
  DELIVERY_TAG,
  describe,
  describeScopes,
  listSignedErrors,
  type Operation,
  SECURITY,
  SECURITY_SCHEMES,
  SharedParts,
  SIGNED_ERRORS,
  shareParameters,
  webhookSection,
} from './document-parts.ts';
import { shellSamples } from './samples/code-samples.ts';
import {
  type Components,
  createExample,
  type JsonObject,
  recordedDelivery,
  recordedOperation,
  recordedProblem,
  toReference,
} from './schema-document.ts';

/** Errors of every route: each one rejects unknown query parameters, and any request may have a body. */
const ANY_ERRORS: readonly ErrorCode[] = [
  'invalid-request',
  'request-timeout',
  'payload-too-large',
  'headers-too-large',
  'internal-error',
  'server-busy',
  'transfer-coding-unknown',
  'shutting-down',
];

/** Builds the OpenAPI 3.1 document of the routes: every operation, error, header and example. */
export function openApiDocument(
  routes: readonly Route[],
  { version, basePath }: { readonly version: string; readonly basePath: string },
): JsonObject {
  const components: Components = new Map();
  const responses = new SharedParts('responses');
  const inline: Record<string, Record<string, Operation>> = {};
  const documented = routes.filter((route) => !route.isInternal);
  for (const route of documented) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    const described = operation(route, { components, responses, basePath });
    inline[path] = { ...inline[path], [route.method.toLowerCase()]: described };
  }
  // Registers the component, because error responses refer to it by its name.
  toReference(ProblemSchema, components);
  const { paths, parameters } = shareParameters(inline);
  const section = webhookSection(components, recordedDelivery);
  return {
    openapi: '3.1.0',
    info: {
      title: 'rtc-service',
      version,
      description: API_DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: basePath === '' ? '/' : basePath, description: 'This service' }],
    tags: [...usedTags(documented), DELIVERY_TAG],
    paths,
    webhooks: section.webhooks,
    components: {
      schemas: Object.fromEntries(components),
      parameters: { ...parameters, ...section.parameters },
      responses: responses.components,
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

/** Returns the used tags in the order of the descriptions. */
function usedTags(routes: readonly Route[]): readonly JsonObject[] {
  const used = new Set<string>(routes.map((route) => route.tag));
  return Object.entries(TAG_DESCRIPTIONS)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));
}

/** Parts that operations share. */
type Shared = {
  readonly components: Components;
  readonly responses: SharedParts;
  readonly basePath: string;
};

function operation(route: Route, { components, responses, basePath }: Shared): Operation {
  const parameters = [
    ...describeParameters(route.params, 'path', components),
    ...describeParameters(route.query, 'query', components),
    ...(takesIdempotencyKey(route) ? [IDEMPOTENCY_KEY] : []),
  ];
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...describe(route),
    security: SECURITY[route.security],
    ...describeScopes(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBody(route, components),
    responses: {
      ...successResponses(route, components),
      ...errorResponses(route, components, responses),
    },
    'x-codeSamples': shellSamples(route, basePath),
  };
}

function describeParameters(
  schema: TSchema | undefined,
  place: 'path' | 'query',
  components: Components,
): JsonObject[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Readonly<Record<string, TSchema>>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, part]) => {
    const { description, ...rest } = toReference(part, components);
    return { name, in: place, required: required.includes(name), description, schema: rest };
  });
}

function requestBody({ operationId, body, rawBody }: Route, components: Components): JsonObject {
  const { schema, contentType } = rawBody ?? { schema: body, contentType: 'application/json' };
  if (schema === undefined) return {};
  const isRequired = ((schema as { required?: readonly string[] }).required ?? []).length > 0;
  return {
    requestBody: {
      required: isRequired,
      content: {
        [contentType]: {
          schema: toReference(schema, components),
          example: recordedOperation(operationId)?.body ?? createExample(schema),
        },
      },
    },
  };
}

function successResponses(route: Route, components: Components): JsonObject {
  return Object.fromEntries(
    Object.entries(route.success).map(([status, response]) => [
      status,
      successResponse(
        route,
        { ...response, example: recordedOperation(route.operationId)?.responses[status] ?? response.example },
        components,
      ),
    ]),
  );
}

function successResponse(route: Route, response: SuccessResponse, components: Components): JsonObject {
  const described = Object.entries(response.headers ?? {}).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ]);
  const headers = {
    ...Object.fromEntries(described),
    ...commonHeaders(isLimited(route) ? 'counted' : 'uncounted'),
  };
  if (response.schema === undefined) return { description: response.description, headers };
  const content = {
    [response.contentType ?? 'application/json']: {
      schema: toReference(response.schema, components),
      example: response.example ?? createExample(response.schema),
    },
    ...Object.fromEntries(
      Object.entries(response.examplesByType ?? {}).map(([type, example]) => [
        type,
        { schema: { type: 'string' }, example },
      ]),
    ),
  };
  return { description: response.description, headers, content };
}

/** Refers to all errors that the route can return, one response per status with an example per code. */
function errorResponses(route: Route, components: Components, responses: SharedParts): JsonObject {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of listErrorCodes(route)) {
    const { status } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const sorted = [...byStatus].sort(([a], [b]) => a - b);
  // The 503 of /ready has a shape of its own and is declared as a success response.
  const undeclared = sorted.filter(([status]) => !Object.hasOwn(route.success, status));
  return Object.fromEntries(
    undeclared.map(([status, codes]) => {
      const shape = errorShape(route, status, components);
      const name = nameErrorResponse(status, codes, shape);
      return [status, responses.refer(errorResponse(status, codes, shape), name, String(status))];
    }),
  );
}

function listErrorCodes(route: Route): readonly ErrorCode[] {
  return [
    ...new Set<ErrorCode>([
      ...(route.params === undefined ? [] : (['uri-too-long'] as const)),
      ...(route.body === undefined ? [] : (['unsupported-media-type'] as const)),
      ...(isLimited(route) ? (['rate-limited'] as const) : []),
      ...listSignedErrors(route),
      ...(takesIdempotencyKey(route) ? KEYED_ERRORS : []),
      ...route.errors,
      ...ANY_ERRORS,
    ]),
  ];
}

/** Errors whose responses have a Retry-After header. */
const RETRY_LATER: readonly ErrorCode[] = ['rate-limited', 'server-busy', 'idempotency-in-progress'];

function errorResponse(status: number, codes: readonly ErrorCode[], shape: ErrorShape): JsonObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].meaning}`).join('\n\n'),
    headers: {
      ...commonHeaders(status === 429 ? 'counted' : 'uncounted'),
      ...(codes.some((code) => RETRY_LATER.includes(code)) ? { 'Retry-After': RETRY_AFTER } : {}),
    },
    content: {
      [shape.contentType]: {
        schema: shape.schema,
        examples: Object.fromEntries(codes.map((code) => [code, { value: shape.example(code) }])),
      },
    },
  };
}

/** Names the component of an error response by the codes that not every route has. */
function nameErrorResponse(status: number, codes: readonly ErrorCode[], shape: ErrorShape): string {
  const special = ERROR_CODES.filter(
    (code) => codes.includes(code) && !ANY_ERRORS.includes(code) && !SIGNED_ERRORS.includes(code),
  );
  const words = special.length === 0 ? reasonPhrase(status) : special.join('-or-');
  return (shape === PROBLEM_SHAPE ? '' : 'Fiscal') + toPascalCase(words);
}

function toPascalCase(words: string): string {
  return words.replaceAll(/(?:^|[ -])(\w)/g, (_, letter: string) => letter.toUpperCase());
}

type ErrorShape = {
  readonly contentType: string;
  readonly schema: JsonObject;
  readonly example: (code: ErrorCode) => object;
};

const PROBLEM_SHAPE: ErrorShape = {
  contentType: 'application/problem+json',
  schema: { $ref: '#/components/schemas/Problem' },
  example: (code) =>
    recordedProblem(code) ?? {
      type: problemType(code),
      title: reasonPhrase(PROBLEMS[code].status),
      status: PROBLEMS[code].status,
      detail: PROBLEMS[code].meaning,
      instance: 'urn:uuid:6f1c1f0a-3f0c-4d8e-9c59-0f6b0e0d9a51',
    },
};

/** These errors occur before the path is known, so they are always problems. */
const PATHLESS_STATUSES: readonly number[] = [408, 431, 501];

function errorShape({ errorFormat }: Route, status: number, components: Components): ErrorShape {
  if (errorFormat === undefined || PATHLESS_STATUSES.includes(status)) return PROBLEM_SHAPE;
  return {
    contentType: 'application/json',
    schema: toReference(errorFormat.errorSchema, components),
    example: (code) => errorFormat.errorBody(new ServiceError(code, PROBLEMS[code].meaning), {}),
  };
}

/** Errors of every route that takes an Idempotency-Key. */
const KEYED_ERRORS: readonly ErrorCode[] = [
  'idempotency-in-progress',
  'idempotency-key-reused',
  'storage-unavailable',
  'secret-unavailable',
];

/** Visible ASCII characters except quotes and backslashes, with or without quotes around all of them. */
const KEY_PATTERN = '^(?:[!#-\\[\\]-~]+|"[!#-\\[\\]-~]+")$';

const IDEMPOTENCY_KEY: JsonObject = {
  name: IDEMPOTENCY_KEY_HEADER,
  in: 'header',
  required: false,
  description: `The request is done once per key: its response is kept for 24 hours and given again, with \`${REPLAYED_HEADER}: true\`. Not signed: it is for retries, and no defence against replays`,
  schema: { type: 'string', minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY_LENGTH, pattern: KEY_PATTERN },
  example: '8e03978e-40d5-43dd-bc93-6894a57f9324',
};

/* Response headers, as the OpenAPI document describes them. */

/** Shared headers by name. The RateLimit ones follow draft-ietf-httpapi-ratelimit-headers-05. */
const HEADERS: Readonly<Record<string, JsonObject>> = {
  'X-Request-Id': {
    description: "The caller's X-Request-Id if it was sane, else a new one; the service's log carries it",
    schema: { type: 'string' },
    example: '6f1c1f0a-3f0c-4d8e-9c59-0f6b0e0d9a51',
  },
  'RateLimit-Limit': {
    description: 'Requests in a second; absent, like the next two, where the limit is turned off',
    schema: { type: 'integer' },
    example: 100,
  },
  'RateLimit-Remaining': {
    description: 'How many of them are left',
    schema: { type: 'integer' },
    example: 99,
  },
  'RateLimit-Reset': { description: 'Seconds until all are back', schema: { type: 'integer' }, example: 1 },
};

const RETRY_AFTER = {
  description: 'Seconds until the next try',
  schema: { type: 'integer' },
  example: 1,
};

/** Returns whether the route has a rate limit. Routes of the media server have none, because it does not retry after a 429. */
function isLimited({ security }: Route): boolean {
  return security !== 'media-server';
}

/** Returns the headers of a response. Only a response to a request that is always counted has RateLimit headers. */
function commonHeaders(request: 'counted' | 'uncounted'): JsonObject {
  const names = Object.keys(HEADERS).filter(
    (name) => request === 'counted' || !name.startsWith('RateLimit-'),
  );
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
