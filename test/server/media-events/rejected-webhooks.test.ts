import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/contract/errors.ts';
import type { SelfCheck } from '../../../src/contract/self-check.ts';
import { RejectedWebhooks, WebhookFault } from '../../../src/server/platform/livekit/media-event-reader.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { ABSENT_MEDIA, mediaWebhook, roomFinished } from '../webhooks/support/media-webhook.ts';

let service: TestService;
beforeEach(async () => {
  service = await startTestService();
});
afterEach(() => service.close());

const post = (path: string, { headers, body }: ReturnType<typeof mediaWebhook>) =>
  fetch(`${service.url}${path}`, { method: 'POST', headers, body });

const warnings = () =>
  service.logLines.filter(({ message }) => message === "LiveKit's webhooks are rejected");

async function checkSelf(): Promise<SelfCheck | undefined> {
  const { json } = await service.call('POST', '/v1/self-check');
  return (json as { checks: SelfCheck[] }).checks.find(({ check }) => check === 'LiveKit webhooks');
}

const event = roomFinished('rejected');
const valid = mediaWebhook(event);

describe("LiveKit's webhooks", () => {
  it.each(['/livekit/webhook/', '/livekit/webhook?token=x', '/livekit/webhook/?', '/livekit/webhook//'])(
    'are accepted at %s',
    async (path) => {
      expect((await post(path, valid)).status).toBe(200);
      expect(await checkSelf()).toBeUndefined();
    },
  );

  it.each([
    ['no-token', '/livekit/webhook', { ...valid, headers: { 'content-type': 'application/webhook+json' } }],
    ['other-key', '/livekit/webhook', mediaWebhook(event, { apiKey: 'other', apiSecret: 'other' })],
    ['wrong-secret', '/livekit/webhook', mediaWebhook(event, { ...ABSENT_MEDIA, apiSecret: 'other' })],
    ['other-body', '/livekit/webhook', { ...valid, body: `${valid.body} ` }],
    ['other', '/livekit/webhook', mediaWebhook(event, ABSENT_MEDIA, { edit: () => '[' })],
    ['unknown-path', '/livekit/hook', valid],
    ['unknown-path', '/v1/webhooks', valid],
  ])('are reported with the reason when they are rejected: %s at %s', async (reason, path, webhook) => {
    expect((await post(path, webhook)).status).toBeGreaterThanOrEqual(400);
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]).toMatchObject({ level: 'warn', fields: { rejectedSinceLastLine: 1 } });
    const check = await checkSelf();
    expect(check).toMatchObject({ status: 'fault', detail: expect.stringContaining('1 rejected') });
    expect(check?.next).toBe(warnings()[0]?.fields.next);
    const { text } = await service.call('GET', '/metrics');
    expect(text).toContain(`rtc_media_webhooks_rejected_total{reason="${reason}"} 1`);
    // Afterwards the media server is set up right.
    await post('/livekit/webhook', valid);
    expect((await checkSelf())?.status).toBe('warning');
  });

  it('are not reported for requests of another kind', async () => {
    await fetch(`${service.url}/nowhere`, { method: 'POST', body: '{}' });
    expect(await checkSelf()).toBeUndefined();
  });
});

it('rejected webhooks are logged once a minute, with their number', () => {
  const lines: unknown[] = [];
  const clock = new ManualClock(0);
  const warn = (fields: object): void => void lines.push(fields);
  const rejected = new RejectedWebhooks({ clock, log: { warn } as never });
  const error = new ServiceError('missing-credentials', 'x', { cause: new WebhookFault('wrong-time') });
  for (let minute = 0; minute < 2; minute += 1) {
    for (let count = 0; count < 3; count += 1) rejected.reject(error, { isKnownPath: true });
    clock.advance(60_000);
  }
  // These are sent again.
  rejected.reject(new ServiceError('storage-unavailable', 'x'), { isKnownPath: true });
  rejected.reject(new ServiceError('rate-limited', 'x'), { isKnownPath: true });
  expect(lines).toMatchObject([
    { rejectedSinceLastLine: 1, reason: 'their signature has expired or is not valid yet' },
    { rejectedSinceLastLine: 3 },
  ]);
});
