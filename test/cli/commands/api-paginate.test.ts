import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventList } from '../../../src/contract/events.ts';
import type { WebhookList } from '../../../src/contract/webhooks.ts';
import { register } from '../../server/webhooks/support/hooked-service.ts';
import { type EventStack, startEventStack } from '../support/event-stack.ts';
import { json, startHttpServer, type TestHttpServer } from '../support/http-server.ts';
import { run } from '../support/run.ts';

let stack: EventStack;
const ids: string[] = [];
beforeAll(async () => {
  stack = await startEventStack();
  for (const name of ['a', 'b', 'c']) {
    ids.push((await register(stack.service, `https://example.org/${name}`, ['room_finished'])).id);
  }
});
afterAll(() => stack.close());

const paginate = async <T>(path: string): Promise<T> => {
  const { code, stdout, stderr } = await stack.rtc(`api GET ${path} --paginate`);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as T;
};

describe('rtc api --paginate', () => {
  it('prints all pages in the shape of one, whatever their size', async () => {
    for (const path of [
      '/v1/webhooks?limit=1',
      '/v1/webhooks?limit=2',
      '/v1/webhooks',
      '/v1/webhooks?limit=9',
    ]) {
      const { webhooks } = await paginate<WebhookList>(path);
      expect(webhooks.map(({ id }) => id)).toEqual(ids);
    }
    expect(await paginate('/v1/webhooks?limit=2')).toMatchObject({ nextCursor: null });
  });

  it('begins at the cursor that it is given', async () => {
    const first = await stack.rtc('api GET /v1/webhooks?limit=1');
    const { nextCursor } = JSON.parse(first.stdout) as { nextCursor: string };
    const { webhooks } = await paginate<WebhookList>(`/v1/webhooks?cursor=${nextCursor}&limit=1`);
    expect(webhooks.map(({ id }) => id)).toEqual(ids.slice(1));
  });

  it('ends after the last event, and keeps the cursor for later events', async () => {
    await stack.join('paged', 'ada');
    const { events, nextCursor } = await paginate<EventList>('/v1/events?roomId=paged&limit=2');
    expect(events.map(({ event }) => event)).toEqual(['room_created', 'room_started', 'participant_joined']);
    await stack.leave('paged', 'ada');
    const later = await paginate<EventList>(`/v1/events?roomId=paged&cursor=${nextCursor}`);
    expect(later.events.map(({ event }) => event)).toEqual(['participant_left']);
  });

  it('selects fields of the response', async () => {
    const { stdout } = await stack.rtc('api GET /v1/webhooks?limit=2 --paginate --json nextCursor');
    expect(stdout).toBe('{"nextCursor":null}\n');
  });

  it.each([
    [1, 'GET /v1/health'],
    [3, 'GET /v1/recordings/EG_none'],
    [2, 'POST /v1/rooms'],
    [2, 'GET /v1/rooms --include'],
  ])('ends with %i for %s', async (code, words) => {
    const { code: actual, stdout } = await stack.rtc(`api ${words} --paginate`);
    expect([actual, stdout]).toEqual([code, '']);
  });

  it('ends at a server that repeats its cursor', async () => {
    const server: TestHttpServer = await startHttpServer((_request, response) =>
      json(response, 200, { rooms: [{}], nextCursor: 'same' }),
    );
    const env = { RTC_URL: server.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's' };
    const { code, stdout } = await run(['api', 'GET', '/v1/rooms', '--paginate'], { env });
    expect([code, stdout]).toEqual([1, '']);
    await server.close();
  });

  it('ends at a server whose cursors form a circle', async () => {
    const server: TestHttpServer = await startHttpServer((request, response) =>
      json(response, 200, { rooms: [{}], nextCursor: request.url?.includes('cursor=one') ? 'two' : 'one' }),
    );
    const env = { RTC_URL: server.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's' };
    const { code, stdout } = await run(['api', 'GET', '/v1/rooms', '--paginate'], { env });
    expect([code, stdout]).toEqual([1, '']);
    await server.close();
  });
});
