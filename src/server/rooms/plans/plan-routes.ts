import {
  PlanListQuery,
  PlanListSchema,
  PlanParams,
  PlanPutSchema,
  PlanSchema,
} from '../../../contract/plans.ts';
import { defineRoute, type Route } from '../../platform/http/route.ts';
import { deletePlan, getPlan, listPlans, type PlanDeps, putPlan, requireStarts } from './plans.ts';

const DEFAULT_LIMIT = 50;

const ROUTE = {
  path: '/v1/plans/:planId',
  tag: 'plans',
  security: 'signed',
  params: PlanParams,
} as const;

const IGNORED = {
  'X-Room-Ignored': 'Changed fields that open rooms do not take over, separated by commas',
};

/** Settings for the room of a name, or for all rooms with a prefix. */
export function planRoutes(deps: PlanDeps): readonly Route[] {
  return [
    putRoute(deps),
    defineRoute({
      ...ROUTE,
      method: 'GET',
      operationId: 'getPlan',
      summary: 'Read a plan',
      scopes: ['read', 'rooms'],
      success: { 200: { description: 'The plan', schema: PlanSchema } },
      errors: ['plan-not-found', 'storage-unavailable'],
      handle: async ({ params }) => ({ status: 200, body: await getPlan(deps, params.planId) }),
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/plans',
      operationId: 'listPlans',
      tag: 'plans',
      security: 'signed',
      summary: 'List the plans',
      description: 'Ordered by id.',
      scopes: ['read', 'rooms'],
      query: PlanListQuery,
      success: { 200: { description: 'The plans', schema: PlanListSchema } },
      errors: ['storage-unavailable'],
      handle: async ({ query }) => ({
        status: 200,
        body: await listPlans(deps, { ...query, limit: query.limit ?? DEFAULT_LIMIT }),
      }),
    }),
    defineRoute({
      ...ROUTE,
      method: 'DELETE',
      operationId: 'deletePlan',
      summary: 'Delete a plan',
      description: 'Its open rooms stay open, and are no longer closed by it.',
      scopes: ['rooms'],
      success: { 204: { description: 'The plan is deleted' } },
      errors: ['plan-not-found', 'storage-unavailable'],
      handle: async ({ params }) => {
        await deletePlan(deps, params.planId);
        return { status: 204 };
      },
    }),
  ];
}

function putRoute(deps: PlanDeps): Route {
  return defineRoute({
    ...ROUTE,
    method: 'PUT',
    operationId: 'putPlan',
    summary: 'Make or replace a plan',
    description:
      'For the room of a name, or for all rooms with a prefix: the longest prefix wins, and a name wins over prefixes. Open rooms follow the new plan at once; X-Room-Ignored lists what they keep. The same request again changes nothing.',
    scopes: ['rooms'],
    body: PlanPutSchema,
    success: {
      200: { description: 'The plan was replaced, or is the same', schema: PlanSchema, headers: IGNORED },
      201: { description: 'The plan was made', schema: PlanSchema, headers: IGNORED },
    },
    errors: ['conflict', 'storage-unavailable'],
    handle: async ({ params, body, caller }) => {
      requireStarts(body, caller);
      const { plan, isNew, ignored } = await putPlan(deps, params.planId, body);
      const headers = ignored.length > 0 ? { 'x-room-ignored': ignored.join(', ') } : {};
      return { status: isNew ? 201 : 200, body: plan, headers };
    },
  });
}
