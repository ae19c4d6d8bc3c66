import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { createSecretBox } from '../../../../src/server/platform/secrets/encryption-keys.ts';
import type { WebhookRequest, WebhookSender } from '../../../../src/server/webhooks/sender/sender.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { letPass } from './support/let-pass.ts';
import { openStage, type Stage, type StageOptions } from './support/stage.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function stageFor(options?: StageOptions): Promise<Stage> {
  const stage = await openStage(options);
  cleanUps.push(stage.close);
  return stage;
}

/** A sender without a network, whose receivers accept everything. */
function countingSender() {
  const sent: WebhookRequest[] = [];
  const sender: WebhookSender = {
    send: async (request) => {
      sent.push(request);
      return { statusCode: 200, responseBody: '', error: null, durationMs: 1 };
    },
    close: async () => {},
  };
  return { sender, sent };
}

describe('a webhook whose secret cannot be decrypted', () => {
  const setUp = async () => {
    const clock = new ManualClock(Date.now());
    const stage = await stageFor({ clock });
    const { sender, sent } = countingSender();
    const instance = stage.instance({ sender });
    const id = await stage.webhook('http://127.0.0.1:1/');
    const { secret } = (await stage.store.webhooks.find(id)) ?? expect.unreachable();
    const lost = createSecretBox([randomBytes(32)]).seal('of a key that is gone', id);
    await stage.store.webhooks.update(id, { secret: lost, updatedAt: 1 });
    const all = () => stage.store.deliveries.list({ webhookId: id, limit: 100 });
    const postponed = () =>
      all().then(
        (some) =>
          some.filter(
            ({ attempts, dueAt, leaseOwner }) => attempts === 0 && dueAt > clock.now() && leaseOwner === null,
          ).length,
      );
    const lines = () => stage.logLines.filter(({ message }) => message === 'a delivery could not be built');
    return { clock, stage, sent, instance, id, secret, all, postponed, lines };
  };

  it('has one log line a minute that says what to do, and its deliveries keep their attempts', async () => {
    const { clock, sent, instance, id, all, postponed, lines } = await setUp();
    await instance.append(...Array.from({ length: 40 }, (_, index) => `event ${index}`));
    await expect.poll(postponed).toBe(40);
    expect(lines()).toMatchObject([{ level: 'error', fields: { webhookId: id, alikeSinceLastLine: 0 } }]);
    expect(lines()[0]?.fields).not.toHaveProperty('err');
    expect(lines()[0]?.fields.reason).toContain('Add that key to ENCRYPTION_KEY');
    await letPass(clock, 30_500);
    await expect.poll(postponed).toBe(40);
    expect(lines()).toHaveLength(1);
    await letPass(clock, 30_500);
    await expect.poll(postponed).toBe(40);
    expect(lines()).toHaveLength(2);
    for (const delivery of await all()) {
      expect(delivery).toMatchObject({ state: 'pending', attempts: 0, roundAttempts: 0 });
    }
    expect(sent).toEqual([]);
  });

  it('gets its deliveries when the secret can be decrypted again', async () => {
    const { clock, stage, sent, instance, id, secret, postponed } = await setUp();
    await instance.append('event');
    await expect.poll(postponed).toBe(1);
    await stage.store.webhooks.update(id, { secret, updatedAt: 2 });
    await letPass(clock, 30_500);
    await expect.poll(() => sent.length).toBe(1);
  });

  it('fails its deliveries with the reason when they have waited for three days', async () => {
    const { clock, instance, all, postponed } = await setUp();
    await instance.append('event');
    await expect.poll(postponed).toBe(1);
    clock.advance(3 * 86_400_000);
    await expect.poll(() => all().then(([only]) => only?.attempts)).toBe(1);
    const [delivery] = await all();
    expect(delivery?.log[0]?.error).toContain('set a new secret by PUT');
  });

  it('continues with only the new secret when it is the old one of a rotation', async () => {
    const stage = await stageFor();
    const { sender, sent } = countingSender();
    const instance = stage.instance({ sender });
    const id = await stage.webhook('http://127.0.0.1:1/');
    const previousSecret = createSecretBox([randomBytes(32)]).seal('of a key that is gone', id);
    const previousSecretUntil = Date.now() + 3_600_000;
    await stage.store.webhooks.update(id, { previousSecret, previousSecretUntil, updatedAt: 1 });
    await instance.append('one');
    await expect.poll(() => sent.length).toBe(1);
    expect(sent[0]?.headers['webhook-signature']).toMatch(/^v1,[^ ]+$/);
  });
});
