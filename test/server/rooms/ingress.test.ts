import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ingress, IngressList } from '../../../src/contract/ingress.ts';
import type { Problem } from '../../../src/contract/problem.ts';
import { type Livekit, startLivekit } from '../../support/parts/livekit.ts';
import { type SharedParts, sharedLivekit } from '../../support/parts/shared.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const toPath = (room: string, id?: string): string =>
  `/v1/rooms/${encodeURIComponent(room)}/ingress${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;

describe('ingress with Redis', () => {
  let livekit: SharedParts['livekit'];
  let service: TestService;
  beforeAll(async () => {
    livekit = await sharedLivekit();
    service = await startTestService({ livekit });
  });
  afterAll(() => service.close());

  async function create(room: string, body?: unknown): Promise<Ingress> {
    const response = await service.call('POST', toPath(room), body === undefined ? {} : { body });
    expect(response.status).toBe(201);
    return response.json;
  }
  async function list(room: string): Promise<readonly Ingress[]> {
    const response = await service.call('GET', toPath(room));
    expect(response.status).toBe(200);
    return (response.json as { ingress: readonly Ingress[] }).ingress;
  }
  async function remove(room: string, id: string) {
    const response = await service.call('DELETE', toPath(room, id));
    return { status: response.status, code: (response.json as Problem | undefined)?.type?.split(':').at(-1) };
  }

  it('is created from an empty body with RTMP, a default name and an identity of its own', async () => {
    const room = `no such room ${randomUUID()}`;
    const [one, other] = [await create(room), await create(room, {})];
    expect(one).toMatchObject({ inputType: 'RTMP_INPUT', roomName: room, participantName: 'Ingress Stream' });
    expect(one.ingressId).toMatch(/^IN_/);
    expect(one.streamKey).not.toBe('');
    expect(one.participantIdentity).toMatch(/^ingress_[\w-]+$/);
    expect(other.participantIdentity).not.toBe(one.participantIdentity);
    expect(other.streamKey).not.toBe(one.streamKey);
  });

  it('is created as requested', async () => {
    const room = `asked-${randomUUID()}`;
    const body = { type: 'whip', participantName: 'Camera è', participantIdentity: 'camera/1' };
    expect(await create(room, body)).toMatchObject({
      inputType: 'WHIP_INPUT',
      participantName: 'Camera è',
      participantIdentity: 'camera/1',
    });
  });

  it('is listed only in its room, and deleted only from it', async () => {
    const [room, other] = [`list/ ${randomUUID()}`, `other-${randomUUID()}`];
    const [first, second] = [await create(room), await create(room)];
    expect((await list(room)).map((each) => each.ingressId).sort()).toEqual(
      [first.ingressId, second.ingressId].sort(),
    );
    expect(await list(other)).toEqual([]);
    expect(await remove(other, first.ingressId)).toEqual({ status: 404, code: 'ingress-not-found' });
    expect(await remove(room, first.ingressId)).toEqual({ status: 204, code: undefined });
    expect(await remove(room, first.ingressId)).toEqual({ status: 404, code: 'ingress-not-found' });
    expect((await list(room)).map((each) => each.ingressId)).toEqual([second.ingressId]);
  });

  it('is listed with those of all rooms', async () => {
    const rooms = [`all-${randomUUID()}`, `all-${randomUUID()}`];
    for (const room of rooms) await create(room);
    const { ingress } = (await service.call('GET', '/v1/ingress')).json as IngressList;
    expect(ingress.map(({ roomName }) => roomName)).toEqual(expect.arrayContaining(rooms));
    const first = (await service.call('GET', '/v1/ingress?limit=1')).json as IngressList;
    expect(first).toMatchObject({ ingress: [ingress[0]], nextCursor: expect.any(String) });
  });

  it('is listed by id in pages', async () => {
    const room = `paged-${randomUUID()}`;
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.push((await create(room)).ingressId);
    ids.sort();
    expect((await list(room)).map((each) => each.ingressId)).toEqual(ids);
    const page = async (query: string): Promise<IngressList> =>
      (await service.call('GET', `${toPath(room)}?${query}`)).json;
    const first = await page('limit=2');
    expect(first.ingress.map((each) => each.ingressId)).toEqual(ids.slice(0, 2));
    const last = await page(`limit=2&cursor=${first.nextCursor}`);
    expect(last).toMatchObject({ ingress: [{ ingressId: ids[2] }], nextCursor: null });
    expect(await page('limit=1001')).toMatchObject({ status: 400, errors: [{ parameter: 'limit' }] });
    expect(await page('cursor=x')).toMatchObject({ status: 400, errors: [{ parameter: 'cursor' }] });
  });

  it('is not returned again under its Idempotency-Key once it is deleted', async () => {
    const room = `repeated-${randomUUID()}`;
    const headers = { 'Idempotency-Key': randomUUID() };
    const send = () => service.call('POST', toPath(room), { headers });
    const first = await send();
    expect((await send()).text).toBe(first.text);
    const { ingressId, streamKey } = first.json as Ingress;
    await remove(room, ingressId);
    const again = await send();
    expect([again.status, (again.json as Problem).type]).toEqual([409, 'urn:problem-type:rtc:conflict']);
    expect(again.text).not.toContain(streamKey);
  });

  it('is 404 for an unknown id, whatever the id', async () => {
    for (const id of ['IN_unknown', '../x', 'a b', '%', '😀']) {
      expect([id, await remove('any', id)]).toEqual([id, { status: 404, code: 'ingress-not-found' }]);
    }
  });

  it('is rejected with the list of known types for a wrong one', async () => {
    const response = await service.call('POST', toPath('any'), { body: { type: 'srt' } });
    expect(response.json as Problem).toMatchObject({
      status: 400,
      errors: [{ pointer: '#/type', detail: 'must be one of rtmp, whip' }],
    });
  });
});

describe('ingress without Redis', () => {
  let livekit: Livekit;
  let service: TestService;
  beforeAll(async () => {
    livekit = await startLivekit();
    service = await startTestService({ livekit });
  });
  afterAll(async () => {
    await service?.close();
    await livekit?.close();
  });

  it.each([
    ['POST', toPath('demo')],
    ['GET', toPath('demo')],
    ['DELETE', toPath('demo', 'IN_x')],
  ])('is 503 with the reason: %s', async (method, path) => {
    const response = await service.call(method, path);
    expect(response.json as Problem).toMatchObject({
      type: 'urn:problem-type:rtc:media-worker-unavailable',
      status: 503,
      detail: expect.stringContaining('Redis'),
    });
  });

  it('makes a recording 503 too, with the reason, and blocks nothing', async () => {
    await service.call('POST', '/v1/rooms', { body: { name: 'demo' } });
    for (let times = 0; times < 2; times += 1) {
      const response = await service.call('POST', '/v1/rooms/demo/recording/start');
      expect(response.json as Problem).toMatchObject({
        type: 'urn:problem-type:rtc:media-worker-unavailable',
        detail: expect.stringContaining('Redis'),
      });
    }
    expect((await service.call('GET', '/v1/rooms/demo/recording')).json).toEqual({
      isRecording: false,
      egressId: null,
      startedAt: null,
      mediaStartedAt: null,
    });
    expect((await service.call('POST', '/v1/rooms/demo/recording/stop')).status).toBe(404);
  });

  it('does not affect the rooms', async () => {
    expect((await service.call('GET', '/v1/rooms/demo')).status).toBe(200);
    expect((await service.call('GET', '/ready', { signing: false })).json).toEqual({
      ready: true,
      checks: { mediaServer: true, database: true },
    });
  });
});
