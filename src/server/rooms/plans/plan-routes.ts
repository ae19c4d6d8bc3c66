import {
  type Plan,
  PlanListQuery,
  PlanListSchema,
  PlanParams,
  PlanPutSchema,
  PlanSchema,
} from '../../../contract/plans.ts';
import { defineRoute, type Route, type RouteResponse, requireCaller } from '../../platform/http/route.ts';
import { deletePlan, getPlan, listPlans, type PlanDeps, putPlan } from './plans.ts';

const ROUTE = {
  path: '/v1/plans/:planId',
  tag: 'plans',
  params: PlanParams,
  ofRooms: 'filtered',
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
      handle: async ({ params, caller }) => ({
        status: 200,
        body: await getPlan(deps, { id: params.planId, caller: requireCaller(caller) }),
      }),
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/plans',
      operationId: 'listPlans',
      tag: 'plans',
      summary: 'List the plans',
      description: 'Ordered by id.',
      scopes: ['read', 'rooms'],
      ofRooms: 'filtered',
      query: PlanListQuery,
      success: { 200: { description: 'The plans', schema: PlanListSchema } },
      errors: ['storage-unavailable'],
      handle: async ({ query, caller }) => ({
        status: 200,
        body: await listPlans(deps, { ...query, rooms: caller?.rooms }),
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
      handle: async ({ params, caller }) => {
        const by = { id: params.planId, caller: requireCaller(caller) };
        return { status: 204, ids: toIds(await deletePlan(deps, by)) };
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
    errors: ['room-not-found', 'plan-not-found', 'key-limit-reached', 'conflict', 'storage-unavailable'],
    handle: async ({ params, body, caller }) => {
      const by = { id: params.planId, caller: requireCaller(caller) };
      const { plan, isNew, ignored } = await putPlan(deps, by, body);
      const headers = ignored.length > 0 ? { 'x-room-ignored': ignored.join(', ') } : {};
      return { status: isNew ? 201 : 200, body: plan, headers, ids: toIds(plan) };
    },
  });
}

/** The room or prefix, so that the audit log of a room and of a key for some rooms has the change. */
function toIds({ room, prefix = '' }: Plan): RouteResponse['ids'] {
  return { roomId: room ?? prefix };
}
