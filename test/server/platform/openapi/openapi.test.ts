import { validate } from '@scalar/openapi-parser';
import Schema from 'typebox/schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERROR_CODES, PROBLEMS } from '../../../../src/contract/errors.ts';
import { findResponseErrors, type OpenApi, resolveReference } from '../../../support/conformance.ts';
import { startTestService, type TestService } from '../../../support/service.ts';
// The service reads its pages at /docs from what is built.
import '../../../support/parts/built.ts';

/* Tests the document of the service. The fixture compares the responses of every call in all tests with it. */

type Media = {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
};
type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly 'x-codeSamples': readonly { readonly label: string; readonly source: string }[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly description?: string;
    readonly schema: object;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly headers?: Readonly<Record<string, unknown>>;
        readonly content?: Readonly<Record<string, Media>>;
      }
    >
  >;
};

let service: TestService;
let document: OpenApi & {
  readonly openapi: string;
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string }[];
};
let operations: readonly { readonly method: string; readonly path: string; readonly operation: Operation }[];

beforeAll(async () => {
  service = await startTestService({ environment: { BROADCAST_ALLOWED_NETWORKS: '0.0.0.0/0' } });
  document = service.document as typeof document;
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation: resolved(operation as unknown as Operation),
    })),
  );
});
afterAll(() => service.close());

/** Returns the operation with its shared parameters and responses resolved. */
const resolved = (operation: Operation): Operation => ({
  ...operation,
  ...(operation.parameters === undefined
    ? {}
    : { parameters: operation.parameters.map((each) => resolveReference(document, each)) }),
  responses: Object.fromEntries(
    Object.entries(operation.responses).map(([status, each]) => [status, resolveReference(document, each)]),
  ),
});

type Part = {
  readonly $ref?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Part>>;
  readonly items?: Part;
};

/** Returns the schemas and properties without a description. A reference has the description of its target. */
const silentParts = (path: string, part: Part): readonly string[] => [
  ...(part.description === undefined && part.$ref === undefined ? [path] : []),
  ...Object.entries(part.properties ?? {}).flatMap(([name, each]) => silentParts(`${path}.${name}`, each)),
  ...(part.items?.properties === undefined
    ? []
    : Object.entries(part.items.properties).flatMap(([name, each]) =>
        silentParts(`${path}[].${name}`, each),
      )),
];

const schemaFaults = (schema: object, value: unknown): unknown =>
  Schema.Errors({ ...schema, components: document.components }, value)[1];

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    const { valid, errors } = await validate(JSON.stringify(document));
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
  });

  it('has every endpoint of the specification that is served, and names those that are not', () => {
    const served = operations.map(({ method, path }) => `${method} ${path}`);
    expect(served).toEqual(
      expect.arrayContaining([
        'GET /v1/health',
        'POST /v1/token',
        'POST /v1/token/refresh',
        'POST /v1/rooms',
        'GET /v1/rooms',
        'GET /v1/rooms/{roomId}',
        'DELETE /v1/rooms/{roomId}',
        'GET /v1/rooms/{roomId}/participants',
        'DELETE /v1/rooms/{roomId}/participants/{participantId}',
        'POST /v1/rooms/{roomId}/participants/{participantId}/mute',
        'POST /v1/rooms/{roomId}/recording/start',
        'POST /v1/rooms/{roomId}/recording/stop',
        'GET /v1/rooms/{roomId}/recording',
        'POST /v1/rooms/{roomId}/ingress',
        'GET /v1/rooms/{roomId}/ingress',
        'DELETE /v1/rooms/{roomId}/ingress/{ingressId}',
        'POST /v1/rooms/{roomId}/transcription/start',
        'POST /v1/rooms/{roomId}/transcription/stop',
        'GET /v1/rooms/{roomId}/transcription',
        'PATCH /v1/rooms/{roomId}/transcription/speakers',
        'POST /v1/recordings/{recordingId}/transcribe',
        'GET /v1/transcriptions',
        'GET /v1/transcriptions/{transcriptionId}',
        'DELETE /v1/transcriptions/{transcriptionId}',
        'GET /ready',
        'GET /openapi.json',
        'GET /docs',
      ]),
    );
  });

  it('forbids control characters in names, like the service', () => {
    const create = { $ref: '#/components/schemas/RoomCreate' };
    expect(schemaFaults(create, { name: 'Zoë 🎧' })).toEqual([]);
    expect(schemaFaults(create, { name: 'a\nb' })).not.toEqual([]);
    const read = operations.find(({ operation }) => operation.operationId === 'getRoom')?.operation;
    const roomId = read?.parameters?.find(({ name }) => name === 'roomId')?.schema ?? expect.unreachable();
    expect(schemaFaults(roomId, 'demo')).toEqual([]);
    expect(schemaFaults(roomId, 'demo\u0085')).not.toEqual([]);
  });

  it.each([
    ['8e03978e-40d5', true],
    ['"8e03978e-40d5"', true],
    ['!#[]~', true],
    ['a b', false],
    ['a"b', false],
    ['a\\b', false],
  ])('agrees with the service about the Idempotency-Key %s', async (key, isTaken) => {
    const create = operations.find(({ operation }) => operation.operationId === 'createRoom')?.operation;
    const header = create?.parameters?.find(({ name }) => name === 'Idempotency-Key')?.schema;
    expect(schemaFaults(header ?? expect.unreachable(), key)).toHaveLength(isTaken ? 0 : 1);
    const headers = { 'idempotency-key': key };
    const { status } = await service.call('POST', '/v1/rooms', { headers, body: { name: `room of ${key}` } });
    // Accepted requests fail because there is no media server.
    expect(status).toBe(isTaken ? 503 : 400);
  });

  it('has the routes of the service and nothing else: no operation is 404 or 405', async () => {
    for (const { method, path, operation } of operations) {
      const response = await service
        .call(method, path.replaceAll(/\{(\w+)\}/g, 'x'), {
          ...(operation.security.length === 0 ? { signing: false } : {}),
          body: '{',
        })
        .catch((error: Error) => error.message);
      const text =
        typeof response === 'string' ? response : `${response.status} ${response.text.slice(0, 300)}`;
      expect([method, path, /route-not-found|method-not-allowed/.test(text)]).toEqual([method, path, false]);
    }
  });

  it('shows signed requests with the command that signs them, as the service accepts them', async () => {
    const signed = operations.filter(({ operation }) => operation.security.length > 0);
    const shown = signed.flatMap(({ operation }) =>
      operation['x-codeSamples'].filter(({ label }) => label === 'rtc'),
    );
    expect(shown.length).toBeGreaterThan(30);
    for (const { source } of shown) {
      const [, method = '', path = '', body] =
        /^rtc api (\w+) '?(\S+?)'?(?: \\\n {2}--data '([^']*)')?$/.exec(source) ?? [];
      const response = await service.call(method, path, {
        ...(body === undefined ? {} : { body, headers: { 'Content-Type': 'application/json' } }),
      });
      expect([
        source,
        [400, 401, 405].includes(response.status),
        response.text.includes('urn:problem-type:rtc:route-not-found'),
      ]).toEqual([source, false, false]);
    }
  });

  it('leaves out internal routes: the parts of its page and the events of the media server', async () => {
    const paths = operations.map(({ path }) => path);
    const internal = ['/docs/scalar.js', '/docs/start.js', '/docs/api/{name}', '/livekit/webhook'];
    expect(paths.filter((path) => internal.includes(path))).toEqual([]);
    expect((await service.call('GET', '/docs/start.js', { signing: false })).status).toBe(200);
  });

  it('begins with tokens and rooms', () => {
    expect(document.tags.slice(0, 2).map(({ name }) => name)).toEqual(['tokens', 'rooms']);
  });

  it('states each shared parameter and error response once', () => {
    const text = JSON.stringify(document);
    expect(text.length / operations.length).toBeLessThan(5_700);
    const responses = Object.values(document.paths).flatMap((item) =>
      Object.values(item).flatMap(({ responses }) => Object.entries(responses)),
    );
    const inline = responses.filter(([, each]) => 'application/problem+json' in (each.content ?? {}));
    expect(inline).toEqual([]);
    expect(Object.keys(document.components.responses ?? {})).toEqual(
      expect.arrayContaining(['BadRequest', 'Unauthorized', 'Forbidden', 'RateLimited', 'RoomNotFound']),
    );
  });

  it('has no duplicate names for generated clients', () => {
    const { schemas, parameters, responses } = document.components as Readonly<Record<string, object>>;
    for (const part of [schemas, parameters, responses]) {
      const names = Object.keys(part ?? {}).map((name) => name.toLowerCase());
      expect(new Set(names).size).toBe(names.length);
    }
    const recording = (schemas as Readonly<Record<string, { properties?: { status?: object } }>>).Recording;
    expect(recording?.properties?.status).toEqual({ $ref: '#/components/schemas/RecordingState' });
  });

  it('requires a signature for every path under /v1 except the health', async () => {
    for (const { method, path, operation } of operations) {
      if (!path.startsWith('/v1')) continue;
      const isPublic = path === '/v1/health';
      expect([path, operation.security.length === 0]).toEqual([path, isPublic]);
      if (isPublic) continue;
      expect(operation.security).toEqual([{ apiKey: [], timestamp: [], signature: [] }]);
      const unsigned = await service.call(method, path.replaceAll(/\{(\w+)\}/g, 'x'), { signing: false });
      expect([path, unsigned.status]).toEqual([path, 401]);
    }
  });

  it('gives every operation a unique name, a summary and a described tag', () => {
    const tags = document.tags.map((tag) => tag.name);
    for (const { path, operation } of operations) {
      expect([path, operation.operationId]).toEqual([path, expect.stringMatching(/^[a-z][A-Za-z0-9]+$/)]);
      expect(operation.summary.length).toBeGreaterThan(8);
      expect(tags).toEqual(expect.arrayContaining([...operation.tags]));
    }
    const names = operations.map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
  });

  it('describes every parameter, and has every parameter of the path', () => {
    for (const { path, operation } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const parameters = operation.parameters ?? [];
      expect(parameters.filter((each) => each.in === 'path').map((each) => each.name)).toEqual(inPath);
      for (const parameter of parameters) {
        expect([path, parameter.name, parameter.description]).toEqual([
          path,
          parameter.name,
          expect.stringMatching(/.{5}/),
        ]);
        if (parameter.in === 'path') expect(parameter.required).toBe(true);
      }
    }
  });

  it('gives every body and response an example that matches its schema', () => {
    for (const { path, operation } of operations) {
      const responses = Object.entries(operation.responses).map(
        ([status, response]) => [status, response.content ?? {}] as const,
      );
      const contents = [['request', operation.requestBody?.content ?? {}] as const, ...responses];
      for (const [what, content] of contents) {
        for (const [type, { schema, example, examples }] of Object.entries(content)) {
          const values =
            examples === undefined ? [example] : Object.values(examples).map((each) => each.value);
          expect([
            path,
            what,
            type,
            values.length > 0 && values.every((value) => value !== undefined),
          ]).toEqual([path, what, type, true]);
          for (const value of values)
            expect([path, what, schemaFaults(schema, value)]).toEqual([path, what, []]);
        }
      }
    }
  });

  it('gives every response a description and its X-Request-Id', () => {
    for (const { path, operation } of operations) {
      expect(Object.keys(operation.responses).length).toBeGreaterThan(1);
      for (const [status, response] of Object.entries(operation.responses)) {
        expect([path, status, response.description]).toEqual([path, status, expect.stringMatching(/.{8}/)]);
        expect([path, status, Object.keys(response.headers ?? {})]).toEqual([
          path,
          status,
          expect.arrayContaining(['X-Request-Id']),
        ]);
      }
    }
  });

  it('gives every operation its errors: those of any request, and those of any signed one', () => {
    for (const { path, operation } of operations) {
      if (path.startsWith('/cf') || path.startsWith('/it')) continue;
      const codes = Object.values(operation.responses).flatMap((response) =>
        Object.keys(response.content?.['application/problem+json']?.examples ?? {}),
      );
      expect([path, codes]).toEqual([
        path,
        expect.arrayContaining(['invalid-request', 'payload-too-large', 'internal-error']),
      ]);
      expect([path, codes.includes('rate-limited')]).toEqual([path, true]);
      if (operation.security.some((scheme) => 'signature' in scheme))
        expect(codes).toEqual(
          expect.arrayContaining([
            'missing-credentials',
            'invalid-api-key',
            'timestamp-out-of-window',
            'invalid-signature',
          ]),
        );
      expect(codes.filter((code) => !(ERROR_CODES as readonly string[]).includes(code))).toEqual([]);
    }
  });

  it('describes every operation, schema and property', () => {
    const undescribed = operations.filter(({ operation }) => operation.description === undefined);
    expect(undescribed.map(({ operation }) => operation.operationId)).toEqual([]);
    const { schemas } = document.components as { readonly schemas: Readonly<Record<string, object>> };
    expect(Object.entries(schemas).flatMap(([name, schema]) => silentParts(name, schema))).toEqual([]);
  });

  it('shows the grants of each role where tokens are issued', () => {
    const token = operations.find(({ operation }) => operation.operationId === 'createToken');
    expect(token?.operation.description).toContain('| `host` | yes | yes | yes | yes | yes |');
    expect(token?.operation.description).toContain('| `viewer` | no | yes | no | no | no |');
  });

  it('has the whole catalogue of problems', () => {
    for (const code of ERROR_CODES)
      expect(document.info.description).toContain(
        `| ${code} | ${PROBLEMS[code].status} | ${PROBLEMS[code].meaning} |`,
      );
  });

  it('is the same at every request, and names no host', async () => {
    const again = await service.call('GET', '/openapi.json', { signing: false });
    expect(again.json).toEqual(document);
    expect(again.text).not.toMatch(/127\.0\.0\.1:\d{4}|secret-[0-9a-f]{8}/);
  });
});

describe('the check of the test fixture', () => {
  const problem = {
    type: 'urn:problem-type:rtc:room-not-found',
    title: 'Not Found',
    status: 404,
    detail: 'There is no room.',
    instance: 'urn:rtc:request:r1',
  };
  const response = {
    method: 'GET',
    path: '/v1/rooms/demo',
    status: 404,
    headers: { 'x-request-id': 'r1', 'content-type': 'application/problem+json; charset=utf-8' },
    text: JSON.stringify(problem),
  };

  it('accepts conforming exchanges', () => {
    expect(findResponseErrors(document, response)).toEqual([]);
  });

  it.each([
    ['no request id', { headers: { 'content-type': 'application/problem+json' } }],
    [
      'an error that is no problem',
      { headers: { 'x-request-id': 'r1', 'content-type': 'application/json' } },
    ],
    ['an undeclared status', { status: 418, text: JSON.stringify({ ...problem, status: 418 }) }],
    [
      'an undeclared code',
      { text: JSON.stringify({ ...problem, type: 'urn:problem-type:rtc:webhook-not-found' }) },
    ],
    ['another status inside', { text: JSON.stringify({ ...problem, status: 400 }) }],
    ['another instance', { text: JSON.stringify({ ...problem, instance: 'urn:rtc:request:r2' }) }],
    ['a missing field', { text: JSON.stringify({ ...problem, detail: undefined }) }],
    ['an undeclared header', { headers: { ...response.headers, 'x-surprise': '1' } }],
    [
      'a response of another shape',
      {
        status: 200,
        headers: { 'x-request-id': 'r1', 'content-type': 'application/json' },
        text: '{"sid":5}',
      },
    ],
    [
      'a body where none is declared',
      { method: 'DELETE', status: 204, headers: { 'x-request-id': 'r1' }, text: 'x' },
    ],
  ])('finds %s', (_name, changed) => {
    expect(findResponseErrors(document, { ...response, ...changed })).not.toEqual([]);
  });
});
