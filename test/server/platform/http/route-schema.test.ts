import Fastify, { type RouteOptions } from 'fastify';
import { Type } from 'typebox';
import { expect, it } from 'vitest';
import type { Problem } from '../../../../src/contract/problem.ts';
import { registerRoute } from '../../../../src/server/platform/http/register-route.ts';
import { buildTestApp, testRoute } from '../../../support/app.ts';

const ThingParams = Type.Object({ id: Type.Integer() });
const ThingQuery = Type.Object({ limit: Type.Optional(Type.Integer()) }, { additionalProperties: false });
const ThingSchema = Type.Object({ name: Type.String(), size: Type.Integer() });

const route = testRoute({
  method: 'POST',
  path: '/things/:id',
  security: 'public',
  operationId: 'changeThing',
  summary: 'Change a thing',
  params: ThingParams,
  query: ThingQuery,
  body: ThingSchema,
  success: {
    200: { description: 'The thing', schema: ThingSchema },
    202: { description: 'As text', schema: Type.String(), contentType: 'text/plain' },
    204: { description: 'Nothing' },
  },
  handle: () => ({ status: 204 }),
});

it("Fastify's plugins get the schemas of a route by Fastify's own names", async () => {
  const registered: RouteOptions[] = [];
  const app = Fastify();
  app.addHook('onRoute', (options) => void registered.push(options));
  app.decorateRequest('rawBody');
  registerRoute(app, route, {});
  await app.ready();
  await app.close();
  expect(registered.map(({ schema }) => schema)).toEqual([
    expect.objectContaining({
      operationId: 'changeThing',
      tags: ['service'],
      summary: 'Change a thing',
      params: ThingParams,
      querystring: ThingQuery,
      body: ThingSchema,
      response: {
        200: { description: 'The thing', ...ThingSchema },
        202: { description: 'As text', content: { 'text/plain': { schema: Type.String() } } },
        204: { description: 'Nothing' },
      },
    }),
  ]);
});

it.each([
  ['{"name":1}', ['id', 'limit', '#/size', '#/name']],
  ['{"name"', ['id', 'limit', '#']],
])(
  'a request that is invalid in its path, query and body gets all errors at once: %s',
  async (body, names) => {
    const app = await buildTestApp([route]);
    const response = await app.inject({
      method: 'POST',
      url: '/things/one?limit=x',
      headers: { 'content-type': 'application/json' },
      body,
    });
    await app.close();
    expect(response.statusCode).toBe(400);
    const { errors = [] } = response.json<Problem>();
    expect(errors.map((error) => ('pointer' in error ? error.pointer : error.parameter))).toEqual(names);
  },
);

it('a field that the schema of a response does not declare does not leave, at any depth', async () => {
  const Named = Type.Object({ name: Type.String() });
  const Sized = Type.Object({ size: Type.Integer() });
  const schema = Type.Object({
    owner: Type.Union([Named, Type.Null()]),
    things: Type.Array(Type.Union([Named, Sized])),
    labels: Type.Record(Type.String(), Type.String()),
    theirs: Type.Object({ id: Type.String() }, { additionalProperties: true }),
    any: Type.Unknown(),
  });
  const declared = {
    ...{ owner: { name: 'ada' }, labels: { a: 'b' }, theirs: { id: 'x', more: 1 }, any: { more: [1] } },
    things: [{ name: 'one' }, { size: 1 }],
  };
  const body = {
    ...declared,
    secret: 's',
    owner: { ...declared.owner, secret: 's' },
    things: declared.things.map((thing) => ({ ...thing, secret: 's' })),
  };
  const success = { 200: { description: 'Things', schema } };
  const things = { method: 'GET', path: '/things', security: 'public', success } as const;
  const app = await buildTestApp([testRoute({ ...things, handle: () => ({ status: 200, body }) })]);
  const response = await app.inject({ url: '/things' });
  await app.close();
  expect(response.json()).toEqual(declared);
  // The use case may share the value with other requests.
  expect(body.owner).toHaveProperty('secret');
});
