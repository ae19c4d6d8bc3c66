import Schema from 'typebox/schema';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EVENT_ALIASES, EVENT_TYPES } from '../../../src/contract/event-names.ts';
import { EVENT_SCHEMAS } from '../../../src/contract/event-payloads.ts';
import { register } from '../../server/webhooks/support/hooked-service.ts';
import {
  expectedSignatures,
  type Receiver,
  respondWith,
  startReceiver,
} from '../../server/webhooks/support/receiver.ts';
import { type EventStack, startEventStack } from '../support/event-stack.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';

let stack: EventStack;
let receiver: Receiver;
beforeAll(async () => {
  stack = await startEventStack();
});
afterAll(() => stack.close());
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

const trigger = (words: string, options: Parameters<EventStack['rtc']>[1] = {}) =>
  stack.rtc(`webhooks trigger ${words}`, { ...options, env: { RTC_WEBHOOK_SECRET: SECRET, ...options.env } });

describe('rtc webhooks trigger', () => {
  it.each([...EVENT_TYPES])(
    'sends %s like a real delivery: its shape, its headers, both signatures',
    async (type) => {
      const { code, stdout } = await trigger(`${type} --room lobby --to ${receiver.url} --json`);
      expect(code).toBe(0);
      const [received] = receiver.received;
      if (received === undefined) throw new Error('nothing was received');
      expect(Schema.Errors(EVENT_SCHEMAS[type], received.body)).toEqual([true, []]);
      expect(received.body).toMatchObject({ event: type, room: { name: 'lobby' }, sequence: 1 });
      const { specified, standard } = expectedSignatures(received, SECRET);
      expect(received.headers).toMatchObject({
        'x-service-webhook-signature': specified,
        'webhook-signature': standard,
        'webhook-id': received.body.id,
      });
      expect(JSON.parse(stdout)).toEqual({
        ...{ delivered: true, statusCode: 200, error: null },
        ...{ url: `${receiver.url}/`, event: received.body },
      });
    },
  );

  it.each(Object.keys(EVENT_ALIASES))('sends an event under its other name %s', async (alias) => {
    expect((await trigger(`${alias} --to ${receiver.url}`)).code).toBe(0);
    expect(receiver.received.map(({ body }) => body.event)).toEqual([alias]);
  });

  it('gives each event an id of its own', async () => {
    await trigger(`room_started --to ${receiver.url}`);
    await trigger(`room_started --to ${receiver.url}`);
    expect(new Set(receiver.received.map(({ body }) => body.id)).size).toBe(2);
  });

  it('exits with 7 when the receiver refuses the event, redirects, or is unreachable, and sends it once', async () => {
    receiver.behave(respondWith(401));
    const refused = await trigger(`room_started --to ${receiver.url} --json delivered,statusCode,error`);
    expect([refused.code, JSON.parse(refused.stdout)]).toEqual([
      7,
      { delivered: false, statusCode: 401, error: null },
    ]);
    receiver.behave((_request, response) => void response.writeHead(302, { location: '/' }).end());
    const moved = await trigger(`room_started --to ${receiver.url} --json error`);
    expect([moved.code, moved.stdout]).toEqual([
      7,
      `{"error":"redirects to ${receiver.url}/: register that address"}\n`,
    ]);
    expect(receiver.received).toHaveLength(2);
    const absent = await trigger('room_started --to http://127.0.0.1:9 --json statusCode');
    expect([absent.code, absent.stdout]).toEqual([7, '{"statusCode":0}\n']);
  });

  it('signs with the secret of listen by default', async () => {
    const { stdout } = await stack.rtc('webhooks listen --print-secret');
    expect((await stack.rtc(`webhooks trigger room_started --to ${receiver.url}`)).code).toBe(0);
    const [received] = receiver.received;
    if (received === undefined) throw new Error('nothing was received');
    expect(received.headers['webhook-signature']).toBe(
      expectedSignatures(received, stdout.trimEnd()).standard,
    );
  });

  it('sends to a registered webhook with the secret from stdin, and needs one', async () => {
    const { id, secret } = await register(stack.service, receiver.url, ['room_finished']);
    const words = `room_started --webhook ${id}`;
    const without = await stack.rtc(`webhooks trigger ${words}`);
    expect([without.code, without.stderr.includes('--secret-stdin')]).toEqual([2, true]);
    const { code } = await stack.rtc(`webhooks trigger ${words} --secret-stdin`, { stdin: `${secret}\n` });
    expect(code).toBe(0);
    const [received] = receiver.received;
    if (received === undefined) throw new Error('nothing was received');
    expect(received.headers['webhook-signature']).toBe(expectedSignatures(received, secret).standard);
  });

  it.each([
    [2, 'nope --to 4000'],
    [2, 'room_started'],
    [2, 'room_started --to 4000 --webhook wh_x'],
    [2, 'room_started --to ftp://example.org'],
    [3, 'room_started --webhook wh_none'],
  ])('ends with %i for %s', async (code, words) => {
    expect((await trigger(words)).code).toBe(code);
  });
});
