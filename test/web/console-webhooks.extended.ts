import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RtcClient } from '../../src/client/client.ts';
import { failPending } from '../server/webhooks/support/fail-pending.ts';
import { type Receiver, respondWith, startReceiver } from '../server/webhooks/support/receiver.ts';
import { collectErrors, type TestBrowser } from '../support/parts/browser.ts';
import { confirm, expectAccessible, type OpenedConsole, openView, readView } from './support/console.ts';
import { type Stage, startStage } from './support/stage.ts';

describe('webhooks in the console', () => {
  let stage: Stage;
  let client: RtcClient;
  let browser: TestBrowser;
  let console: OpenedConsole;
  let receiver: Receiver;
  let dataDir: string;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'rtc-console-'));
    receiver = await startReceiver();
    stage = await startStage({ environment: { DATA_DIR: dataDir } });
    ({ client, browser, console } = stage);
  });

  afterAll(async () => {
    await stage?.close();
    await receiver?.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('registers a webhook, shows its secret once, tests it and gives it a new secret', async () => {
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByText('No webhook is registered').waitFor();
    await page.getByRole('button', { name: 'Register a webhook' }).click();
    await page.getByLabel('URL', { exact: true }).fill('not-a-url');
    await confirm(page, 'Register');
    await page.getByRole('dialog').getByRole('alert').getByText('url: must be').waitFor();
    await page.getByLabel('URL', { exact: true }).fill(receiver.url);
    await page.getByLabel('participant_joined').check();
    await page.getByText(`rtc webhooks create ${receiver.url} --events participant_joined`).waitFor();
    await expectAccessible(page);
    await confirm(page, 'Register');
    await page.getByText(/^whsec_/).waitFor();
    await confirm(page, 'Done');
    await page.getByRole('link', { name: receiver.url }).click();

    await page.getByRole('button', { name: 'Test' }).click();
    await confirm(page, 'Send it');
    await page.getByText('Delivered: the receiver responded with 200').waitFor();
    expect(receiver.received.at(-1)?.body.event).toBe('webhook_test');
    await confirm(page, 'Done');
    await page.getByRole('cell', { name: 'webhook_test' }).waitFor();

    await page.getByRole('button', { name: 'Pause' }).click();
    await expectAccessible(page);
    await confirm(page, 'Pause');
    await page.getByText('Paused', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await confirm(page, 'Resume');
    await page.getByRole('button', { name: 'Pause' }).waitFor();

    const edit = async (isOrdered: boolean) => {
      await page.getByRole('button', { name: 'Edit' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('The events of a room one after the other').setChecked(isOrdered);
      await dialog.getByLabel('room_finished', { exact: true }).check();
      const words = isOrdered ? '--events \\S*room_finished\\S* --ordered' : '--unordered';
      await page.getByText(new RegExp(`rtc webhooks update wh_\\S+ \\S+ .*${words}`)).waitFor();
      await confirm(page, 'Save');
    };
    await edit(true);
    await page.getByText('events of a room in order').waitFor();
    await page.getByText(/room_finished.*; events of a room/).waitFor();
    await edit(false);
    await page.getByText('events of a room in order').waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await confirm(page, 'Rotate');
    expect(await page.getByText(/^whsec_/).textContent()).toMatch(/^whsec_[\w+/]{43}=$/);
    await confirm(page, 'Done');
    expect(errors).toEqual([]);
    await window.close();
  });

  it('shows failed deliveries first, with every attempt and the request, and sends one again', async () => {
    const [webhook] = (await client.webhooks.list()).webhooks;
    receiver.behave(respondWith(500));
    const guest = await stage.enter('broken', 'dora');
    await expect
      .poll(async () => (await client.deliveries.list(webhook?.id ?? '')).deliveries[0]?.attempts.length)
      .toBe(1);
    await failPending(dataDir);
    const { window, page } = await openView(browser, console);
    const errors = collectErrors(page);
    await page.goto(readView(console, '/webhooks'));
    await page.getByText(/^(Failing|Unsteady)$/).waitFor();
    await page.getByRole('link', { name: receiver.url }).click();
    const table = page.getByRole('table', { name: 'Deliveries' });
    await page.getByLabel('Only deliveries with this text').fill('nothing like it');
    await page.getByText('No delivery has this text').waitFor();
    expect(new URL(page.url()).search + new URL(page.url()).hash).toContain('text=nothing');
    await page.getByLabel('Only deliveries with this text').fill('failed');
    await table.waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as CSV' }).click(),
    ]);
    expect(await readFile(await download.path(), 'utf8')).toMatch(/^delivery,event,eventId,status,details\n/);
    await page.getByLabel('Only deliveries with this text').fill('');
    // Each one is loaded, so there is no plus behind their number.
    await page.getByRole('heading', { name: /^Deliveries \d+$/ }).waitFor();
    const first = table.getByRole('row').nth(1);
    await first.getByText('failed').waitFor();
    await first.getByRole('button', { name: 'participant_joined' }).click();
    const panel = page.getByRole('complementary', { name: 'Delivery of participant_joined' });
    await panel.getByText('1. Response 500').waitFor();
    const request = panel.locator('pre', { hasText: `POST ${receiver.url}` });
    const { 'webhook-id': eventId, 'x-service-webhook-event': event } =
      receiver.received.at(-1)?.headers ?? {};
    await request.getByText(`webhook-id: ${eventId}`).waitFor();
    await request.getByText(`x-service-webhook-event: ${event}`).waitFor();
    await panel.getByText('"identity": "dora"').waitFor();
    await page.getByRole('region', { name: 'Deliveries of a period' }).getByRole('img').waitFor();
    await expectAccessible(page);

    receiver.behave(respondWith(200));
    await panel.getByRole('button', { name: 'Replay' }).click();
    await confirm(page, 'Send again');
    await panel.getByText('3. Response 200').waitFor();
    expect(receiver.received.at(-1)?.body).toMatchObject({ participant: { identity: 'dora' } });
    expect(errors).toEqual([]);
    await guest.leave();
    await window.close();
  });

  it('sends all failed deliveries again', async () => {
    receiver.behave(respondWith(503));
    const guests = [await stage.enter('crowd', 'eve'), await stage.enter('crowd', 'fay')];
    const [webhook] = (await client.webhooks.list()).webhooks;
    const waiting = async () =>
      (await client.deliveries.list(webhook?.id ?? '', { status: 'pending' })).deliveries.filter(
        ({ attempts }) => attempts.length === 1,
      ).length;
    await expect.poll(waiting).toBe(2);
    await failPending(dataDir);
    receiver.behave(respondWith(200));
    const { window, page } = await openView(browser, console);
    await page.goto(readView(console, `/webhooks/${webhook?.id}`));
    await page.getByRole('button', { name: 'Replay failed' }).click();
    await confirm(page, 'Send all again');
    await page.getByText('2 deliveries are sent again.').waitFor();
    await confirm(page, 'Done');
    await expect
      .poll(() => page.getByRole('table', { name: 'Deliveries' }).getByText('delivered').count())
      .toBe(4);
    for (const guest of guests) await guest.leave();
    await window.close();
  });

  it('leads from an event to its delivery', async () => {
    const { window, page } = await openView(browser, console);
    await page.goto(readView(console, '/events'));
    await page.getByLabel('Only events of this kind').selectOption('participant_joined');
    await page.getByText('--events participant_joined').waitFor();
    await page.getByRole('row').filter({ hasText: 'fay' }).getByRole('button').click();
    const panel = page.getByRole('complementary', { name: 'Event participant_joined' });
    await panel.getByRole('link', { name: receiver.url }).click();
    await page.getByRole('complementary', { name: 'Delivery of participant_joined' }).waitFor();
    await window.close();
  });

  it('shows the delivery of an event, even if the list has not loaded it yet', async () => {
    const [webhook] = (await client.webhooks.list()).webhooks;
    const { deliveries } = await client.deliveries.list(webhook?.id ?? '', { limit: 200 });
    const { id, eventId } = deliveries.at(-1) ?? { id: '', eventId: '' };
    const { window, page } = await openView(browser, console);
    await page.route(/deliveries\?(?!eventId)/, (route) =>
      route.fulfill({ json: { deliveries: deliveries.slice(0, 1), nextCursor: null } }),
    );
    await page.goto(readView(console, `/webhooks/${webhook?.id}?delivery=${id}&event=${eventId}`));
    await page.getByRole('complementary').getByText(id).waitFor();
    await window.close();
  });
});
