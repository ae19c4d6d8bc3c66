import { afterEach, expect, it } from 'vitest';
import { describeReason, mend } from '../../../src/explain/explain-deliveries.ts';
import { createAddressGuard } from '../../../src/server/webhooks/sender/address-guard.ts';
import { createWebhookSender } from '../../../src/server/webhooks/sender/webhook-sender.ts';
import { type Behaviour, respondWith, startReceiver } from './support/receiver.ts';

/* What is said of an attempt follows from what the sender writes, so that it is made by real attempts here. */

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

type Options = { readonly timeoutMs?: number; readonly change?: (url: string) => string };

async function attempt(behaviour: Behaviour | undefined, { timeoutMs, change = (url) => url }: Options = {}) {
  const receiver = await startReceiver(behaviour);
  cleanUps.push(receiver.close);
  const guard = createAddressGuard(['127.0.0.0/8']);
  const sender = createWebhookSender({
    guard,
    userAgent: 'rtc-service/test',
    ...(timeoutMs && { timeoutMs }),
  });
  cleanUps.push(sender.close);
  const { statusCode, error, ...rest } = await sender.send({
    url: change(receiver.url),
    headers: {},
    body: '{}',
  });
  return { number: 1, startedAt: '2026-11-01T09:30:00.000Z', ...rest, statusCode, error };
}

const BRIEFLY = 300;

it.each<[string, Behaviour, Options & { readonly says: RegExp; readonly advises: RegExp }]>([
  [
    'never responds',
    () => {},
    { timeoutMs: BRIEFLY, says: /^no response within 0\.3 s$/, advises: /end its response within/ },
  ],
  [
    'does not end its response',
    (_request, response) => void response.writeHead(200).write('begun'),
    {
      timeoutMs: 2_000,
      says: /^it responded with 200: the response did not end within 2 s$/,
      advises: /end its response within/,
    },
  ],
  ['fails', respondWith(500), { says: /^it responded with 500$/, advises: /receiver's log/ }],
  ['has no such path', respondWith(404), { says: /^it responded with 404$/, advises: /correct the address/ }],
])('a receiver that %s is explained', async (_name, behaviour, { says, advises, ...options }) => {
  const made = await attempt(behaviour, options);
  expect(describeReason(made)).toMatch(says);
  expect(mend('wh_1', made).text).toMatch(advises);
});

it('a receiver without TLS at an address with it is explained', async () => {
  const made = await attempt(respondWith(200), { change: (url) => url.replace('http:', 'https:') });
  expect(describeReason(made)).toMatch(/TLS/);
  expect(mend('wh_1', made).text).toMatch(/certificate, or the scheme/);
});

it('a receiver that is not there is explained', async () => {
  const made = await attempt(undefined, { change: () => 'http://127.0.0.1:1/' });
  expect(mend('wh_1', made).text).toBe('start the receiver, or correct its address, then test it');
});
