import {
  type Webhook as ShownWebhook,
  WebhookCreateSchema,
  WebhookListQuery,
  WebhookListSchema,
  WebhookParams,
  WebhookPatchSchema,
  WebhookPutSchema,
  WebhookSchema,
  WebhookTestSchema,
} from '../../contract/webhooks.ts';
import { defineRoute, type Route, requireCaller } from '../platform/http/route.ts';
import { type TestWebhookDeps, testWebhook } from './test-webhook.ts';
import {
  createWebhook,
  deleteWebhook,
  ensureSecretIsCurrent,
  getWebhook,
  listWebhooks,
  updateWebhook,
  type WebhookDeps,
} from './webhooks.ts';

const BY_ID = '/v1/webhooks/:webhookId';
const ERRORS = ['webhook-not-found', 'storage-unavailable'] as const;

export function webhookRoutes(deps: WebhookDeps & TestWebhookDeps): readonly Route[] {
  return [...collectionRoutes(deps), ...singleRoutes(deps), ...updateRoutes(deps), testRoute(deps)];
}

function collectionRoutes(deps: WebhookDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/webhooks',
      operationId: 'listWebhooks',
      tag: 'webhooks',
      summary: 'List the webhooks',
      description: 'Without `limit` and `cursor`, the response has all webhooks.',
      scopes: ['read', 'webhooks'],
      ofRooms: 'filtered',
      query: WebhookListQuery,
      success: { 200: { description: 'The webhooks, secrets masked', schema: WebhookListSchema } },
      errors: ['storage-unavailable'],
      handle: async ({ query, caller }) => ({
        status: 200,
        body: await listWebhooks(deps, { ...query, rooms: caller?.rooms }),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/webhooks',
      operationId: 'createWebhook',
      tag: 'webhooks',
      summary: 'Register a webhook',
      description: 'Only this response has the secret.',
      scopes: ['webhooks'],
      ofRooms: 'filtered',
      body: WebhookCreateSchema,
      success: { 201: { description: 'The webhook with its secret', schema: WebhookSchema } },
      errors: ['webhook-limit-reached', 'key-limit-reached', 'conflict', 'storage-unavailable'],
      handle: async ({ body, caller }) => {
        const webhook = await createWebhook(deps, requireCaller(caller), body);
        return { status: 201, body: webhook, ids: { webhookId: webhook.id } };
      },
      checkRepeated: async ({ body }) => await ensureSecretIsCurrent(deps, body as ShownWebhook),
    }),
  ];
}

function singleRoutes(deps: WebhookDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: BY_ID,
      operationId: 'getWebhook',
      tag: 'webhooks',
      summary: 'Read a webhook',
      description:
        'The secret is masked: only the response to the creation has it. If you lost it, set a new one.',
      scopes: ['read', 'webhooks'],
      params: WebhookParams,
      success: { 200: { description: 'The webhook, its secret masked', schema: WebhookSchema } },
      errors: ERRORS,
      handle: async ({ params }) => ({ status: 200, body: await getWebhook(deps, params.webhookId) }),
    }),
    defineRoute({
      method: 'DELETE',
      path: BY_ID,
      operationId: 'deleteWebhook',
      tag: 'webhooks',
      summary: 'Delete a webhook with its log',
      description: 'Pending deliveries are cancelled.',
      scopes: ['webhooks'],
      params: WebhookParams,
      success: { 204: { description: 'The webhook is deleted' } },
      errors: ERRORS,
      handle: async ({ params }) => {
        await deleteWebhook(deps, params.webhookId);
        return { status: 204 };
      },
    }),
  ];
}

const AFTER_UPDATE =
  'Pending deliveries and retries are sent to the new URL. A change of the order applies to new events only.';

const WHILE_PAUSED =
  'While a webhook is paused, its deliveries wait without attempts: those of the events of the first three days, and retries. They are sent when `paused` is set to false. Later events are not kept for it. A test is sent nevertheless.';

function updateRoutes(deps: WebhookDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'PATCH',
      path: BY_ID,
      operationId: 'patchWebhook',
      tag: 'webhooks',
      summary: 'Change the URL, the events or the order of a webhook, or pause it',
      description: `${AFTER_UPDATE} ${WHILE_PAUSED}`,
      scopes: ['webhooks'],
      params: WebhookParams,
      body: WebhookPatchSchema,
      success: { 200: { description: 'The webhook, its secret masked', schema: WebhookSchema } },
      errors: ERRORS,
      handle: async ({ params, body }) => ({
        status: 200,
        body: await updateWebhook(deps, params.webhookId, body),
      }),
    }),
    defineRoute({
      method: 'PUT',
      path: BY_ID,
      operationId: 'putWebhook',
      tag: 'webhooks',
      summary: 'Change the URL, the events, the order or the secret of a webhook, or pause it',
      description: `A new secret starts a rotation: for 24 h, the Standard Webhooks header carries the signatures of both secrets. ${AFTER_UPDATE} ${WHILE_PAUSED}`,
      scopes: ['webhooks'],
      params: WebhookParams,
      body: WebhookPutSchema,
      success: { 200: { description: 'The webhook, its secret masked', schema: WebhookSchema } },
      errors: ERRORS,
      handle: async ({ params, body }) => ({
        status: 200,
        body: await updateWebhook(deps, params.webhookId, body),
      }),
    }),
  ];
}

function testRoute(deps: TestWebhookDeps): Route {
  return defineRoute({
    method: 'POST',
    path: `${BY_ID}/test`,
    operationId: 'testWebhook',
    tag: 'webhooks',
    summary: 'Send a test delivery',
    description: 'Sends the event webhook_test once, without retries. The delivery log has it.',
    scopes: ['webhooks'],
    params: WebhookParams,
    success: { 200: { description: 'The response of the receiver', schema: WebhookTestSchema } },
    errors: ERRORS,
    handle: async ({ params }) => ({ status: 200, body: await testWebhook(deps, params.webhookId) }),
  });
}
