import { afterEach, describe, expect, it } from 'vitest';
import type { AuditList } from '../../../src/contract/audit.ts';
import type { Key, OwnKey } from '../../../src/contract/keys.ts';
import type { PlanList } from '../../../src/contract/plans.ts';
import type { JsonResponse } from '../../support/http-call.ts';
import { createInstances } from '../../support/instances.ts';
import type { TestService } from '../../support/service.ts';

const { start, environment, close } = createInstances();
afterEach(close);

type Ask = (method: string, path: string, body?: object) => Promise<JsonResponse>;

/** Makes a key, and returns what asks with it, each time another one of the instances. */
async function makeKey(instances: readonly TestService[], key: object): Promise<Ask> {
  let turn = 0;
  const call: TestService['call'] = async (...request) => {
    turn += 1;
    const service = instances[turn % instances.length];
    if (service === undefined) throw new Error('there is no instance');
    return await service.call(...request);
  };
  const body = { name: 'a school', scopes: ['rooms', 'admin'], ...key };
  const made: Key = (await call('POST', '/v1/keys', { body })).json;
  const signing = { apiKey: made.id, apiSecret: made.secret ?? '' };
  return (method, path, asked) => call(method, path, { signing, ...(asked && { body: asked }) });
}

const AT_ONCE = Array.from({ length: 12 }, (_, index) => index);

const problem = (code: string) => ({ type: `urn:problem-type:rtc:${code}` });
const told = ({ status, json }: JsonResponse) => [status, json];
const listIds = async (by: Ask, query = '') =>
  ((await by('GET', `/v1/plans${query}`)).json as PlanList).plans.map(({ planId }) => planId);

describe.each(['SQLite', 'PostgreSQL'] as const)('plans of keys on %s', (engine) => {
  const serve = async (more: object = {}) => {
    const shared = { ...(await environment(engine)), ...more };
    return [await start(shared), await start(shared)];
  };

  it('for a part of the rooms are those within its prefixes, and no others exist for it', async () => {
    const instances = await serve();
    const root = await makeKey(instances, {});
    const acme = await makeKey(instances, { rooms: ['acme-', 'acme.'] });
    const zeta = await makeKey(instances, { rooms: ['zeta-'] });
    for (const [id, plan] of [
      ['all', { prefix: 'a' }],
      ['beside', { prefix: 'acme' }],
      ['operator', { room: 'acme-7' }],
    ] as const)
      expect((await root('PUT', `/v1/plans/${id}`, plan)).status).toBe(201);
    expect((await acme('PUT', '/v1/plans/lessons', { prefix: 'acme-' })).status).toBe(201);
    expect((await acme('PUT', '/v1/plans/visits', { prefix: 'acme.visit' })).status).toBe(201);
    expect((await zeta('PUT', '/v1/plans/theirs', { prefix: 'zeta-' })).status).toBe(201);

    expect(await listIds(acme)).toEqual(['lessons', 'operator', 'visits']);
    const { plans, nextCursor }: PlanList = (await acme('GET', '/v1/plans?limit=2')).json;
    expect(plans).toHaveLength(2);
    expect(await listIds(acme, `?limit=2&cursor=${nextCursor}`)).toEqual(['visits']);
    expect(await listIds(zeta)).toEqual(['theirs']);
    expect(await listIds(root)).toHaveLength(6);

    for (const body of [{ prefix: 'acme' }, { prefix: 'zeta-' }, { room: 'acme' }])
      expect(told(await acme('PUT', '/v1/plans/new', body))).toMatchObject([404, problem('room-not-found')]);
    for (const id of ['theirs', 'all', 'beside', 'nobodys']) {
      for (const method of ['GET', 'DELETE'])
        expect(told(await acme(method, `/v1/plans/${id}`))).toMatchObject([404, problem('plan-not-found')]);
    }
    // Also with a room of its own, which must not move the plan of others there.
    for (const id of ['theirs', 'beside'])
      expect(told(await acme('PUT', `/v1/plans/${id}`, { prefix: 'acme-new-' }))).toMatchObject([
        404,
        problem('plan-not-found'),
      ]);
    expect((await zeta('GET', '/v1/plans/theirs')).json).toMatchObject({ prefix: 'zeta-' });
    expect((await root('GET', '/v1/plans/beside')).json).toMatchObject({ prefix: 'acme' });

    expect((await acme('DELETE', '/v1/plans/operator')).status).toBe(204);
    const audit: AuditList = (await acme('GET', '/v1/audit')).json;
    expect(audit.entries.map(({ method, ids }) => [method, ids])).toContainEqual([
      'DELETE',
      { planId: 'operator', roomId: 'acme-7' },
    ]);
    expect(JSON.stringify(audit)).not.toContain('zeta');
  });

  it('are as many as the key may have, also when it asks two instances at once, and none is lost by a change', async () => {
    const instances = await serve({ MAX_PLANS_PER_KEY: '5' });
    const root = await makeKey(instances, {});
    const some = await makeKey(instances, {});
    const few = await makeKey(instances, { rooms: ['few-'], limits: { plans: 2 } });
    const putAll = (by: Ask, prefix: string) =>
      Promise.all(AT_ONCE.map((one) => by('PUT', `/v1/plans/${prefix}${one}`, { room: `${prefix}${one}` })));
    const many = await putAll(some, 'some-');
    expect(many.filter(({ status }) => status === 201)).toHaveLength(5);
    const refused = { ...problem('key-limit-reached'), kind: 'plans' };
    expect(many.flatMap(({ status, json }) => (status === 201 ? [] : [[status, json]]))).toMatchObject(
      Array.from({ length: 7 }, () => [409, { ...refused, limit: 5 }]),
    );
    await putAll(few, 'few-');
    const [first = '', second] = await listIds(few);
    const own: OwnKey = (await few('GET', '/v1/keys/self')).json;
    expect(own.limits?.plans).toEqual({ used: 2, limit: 2 });
    expect((await some('GET', '/v1/keys/self')).json).toMatchObject({
      limits: { plans: { used: 5, limit: 5 } },
    });

    // A change is always possible, and the plan remains that of the key which made it.
    expect((await few('PUT', `/v1/plans/${first}`, { prefix: 'few-new-' })).status).toBe(200);
    expect((await root('PUT', `/v1/plans/${second}`, { prefix: 'few-' })).status).toBe(200);
    const more = await few('PUT', '/v1/plans/more', { room: 'few-more' });
    expect(told(more)).toMatchObject([
      409,
      { ...refused, limit: 2, hint: { command: 'rtc plans delete ID' } },
    ]);
    expect((await few('DELETE', `/v1/plans/${first}`)).status).toBe(204);
    expect((await few('PUT', '/v1/plans/more', { room: 'few-more' })).status).toBe(201);
  });

  it('are never replaced by another key that wants the same id at the same moment', async () => {
    const instances = await serve();
    const names = ['acme', 'zeta', 'beta'];
    const keys = await Promise.all(names.map((name) => makeKey(instances, { rooms: [`${name}-`] })));
    const answers = await Promise.all(
      AT_ONCE.flatMap((round) =>
        keys.map((by, one) => by('PUT', `/v1/plans/plan-${round}`, { prefix: `${names[one]}-${round}` })),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(AT_ONCE.length);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 404]));
    const made = answers.flatMap(({ status, json }) => (status === 201 ? [json] : []));
    const root = await makeKey(instances, {});
    const { plans }: PlanList = (await root('GET', '/v1/plans')).json;
    const byId = (one: { planId: string }, other: { planId: string }) =>
      one.planId.localeCompare(other.planId);
    expect(plans.toSorted(byId)).toEqual(made.toSorted(byId));
  });
});
