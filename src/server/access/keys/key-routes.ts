import {
  type Key,
  KeyCreateSchema,
  KeyListQuery,
  KeyListSchema,
  KeyParams,
  KeySchema,
  OwnKeySchema,
} from '../../../contract/keys.ts';
import { defineRoute, type Route, requireCaller } from '../../platform/http/route.ts';
import { createKey, ensureActive, getKey, getOwnKey, type KeyDeps, listKeys, revokeKey } from './keys.ts';

const COLLECTION = '/v1/keys';
const BY_ID = '/v1/keys/:keyId';

export type KeyRouteDeps = KeyDeps & Parameters<typeof getOwnKey>[0];

export function keyRoutes(deps: KeyRouteDeps): readonly Route[] {
  return [
    creationRoute(deps),
    defineRoute({
      method: 'GET',
      path: COLLECTION,
      operationId: 'listKeys',
      tag: 'keys',
      summary: 'List the API keys',
      description:
        'Lists keys without their secrets. Revoked and expired keys are listed for as long as audit entries are kept.',
      security: 'signed',
      scopes: 'root',
      query: KeyListQuery,
      success: { 200: { description: 'The keys', schema: KeyListSchema } },
      errors: ['storage-unavailable'],
      handle: async ({ query }) => ({ status: 200, body: await listKeys(deps, query) }),
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/keys/self',
      operationId: 'getOwnKey',
      tag: 'keys',
      summary: 'Show the key that signed this request, and what it may do',
      security: 'signed',
      scopes: 'any',
      success: { 200: { description: 'The key of this request', schema: OwnKeySchema } },
      errors: ['key-not-found', 'storage-unavailable'],
      handle: async ({ caller }) => ({ status: 200, body: await getOwnKey(deps, requireCaller(caller)) }),
    }),
    defineRoute({
      method: 'GET',
      path: BY_ID,
      operationId: 'getKey',
      tag: 'keys',
      summary: 'Read one API key',
      security: 'signed',
      scopes: 'root',
      params: KeyParams,
      success: { 200: { description: 'The key, without its secret', schema: KeySchema } },
      errors: ['key-not-found', 'storage-unavailable'],
      handle: async ({ params }) => ({ status: 200, body: await getKey(deps, params.keyId) }),
    }),
    revocationRoute(deps),
  ];
}

function creationRoute(deps: KeyDeps): Route {
  return defineRoute({
    method: 'POST',
    path: COLLECTION,
    operationId: 'createKey',
    tag: 'keys',
    summary: 'Create an API key',
    description:
      'Callers send its id as X-Api-Key and sign with its secret. Only this response has the secret.',
    security: 'signed',
    scopes: 'root',
    body: KeyCreateSchema,
    success: { 201: { description: 'The key, with its secret', schema: KeySchema } },
    errors: ['conflict', 'storage-unavailable'],
    handle: async ({ body }) => {
      const key = await createKey(deps, body);
      return { status: 201, body: key, ids: { keyId: key.id } };
    },
    checkRepeated: async ({ body }) => await ensureActive(deps, (body as Key).id),
  });
}

function revocationRoute(deps: KeyDeps): Route {
  return defineRoute({
    method: 'DELETE',
    path: BY_ID,
    operationId: 'revokeKey',
    tag: 'keys',
    summary: 'Revoke an API key',
    description:
      'This instance refuses the key at once, the others within 5 s. The key stays in the list, without its secret.',
    security: 'signed',
    scopes: 'root',
    params: KeyParams,
    success: { 204: { description: 'The key is revoked' } },
    errors: ['key-not-found', 'storage-unavailable'],
    handle: async ({ params }) => {
      await revokeKey(deps, params.keyId);
      return { status: 204 };
    },
  });
}
