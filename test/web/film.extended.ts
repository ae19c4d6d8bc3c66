import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { RtcClient } from '../../src/client/client.ts';
import { chooseServicePort, startHookedService } from '../server/webhooks/support/hooked-service.ts';
import { respondWith, startReceiver } from '../server/webhooks/support/receiver.ts';
import { startBrowser, type TestBrowser, type WindowOptions } from '../support/parts/browser.ts';
import { startLivekit } from '../support/parts/livekit.ts';
import { joinCall, openConsole, openLink, seriousFindings } from './support/console.ts';

/*
 * The walk of somebody who sees it for the first time, as twelve pictures: a call of four on a laptop and a telephone, a media
 * server that is killed, and the reason why a receiver of webhooks got nothing. `npm run pictures` shows them in docs/pictures.
 */

const FOLDER = join(import.meta.dirname, '../../.cache/pictures');

const LAPTOP: WindowOptions = { width: 1200, height: 750, colorScheme: 'light' };
const TELEPHONE: WindowOptions = { width: 390, height: 844, hasTouch: true, isMobile: true };

const FOUR = 4;
/** The tests wait for states, and give up after this time. */
const PATIENCE = { timeout: 120_000 };

it('shows the first walk in twelve pictures', async () => {
  await mkdir(FOLDER, { recursive: true });
  const { port, webhookUrl } = await chooseServicePort();
  const livekit = await startLivekit({ webhookUrl });
  const service = await startHookedService(port, { livekit });
  const client = new RtcClient(service);
  const receiver = await startReceiver();
  receiver.behave(respondWith(503, 'the database is being moved'));
  await client.webhooks.create({ url: `${receiver.url}/hooks/rtc` });
  const environment = {
    RTC_URL: service.url,
    RTC_API_KEY: service.apiKey,
    RTC_API_SECRET: service.apiSecret,
  };
  const room = await openLink(
    ['rooms', 'open', 'weekly-review', '--print', '--name', 'Ada Lovelace'],
    environment,
  );
  const browser = await startBrowser();
  let taken = 0;
  const take = async (page: Page): Promise<void> => {
    taken += 1;
    await page.bringToFront();
    const path = join(FOLDER, `walk-${String(taken).padStart(2, '0')}.jpg`);
    await page.screenshot({ path, type: 'jpeg', quality: 78 });
    expect(await seriousFindings(page), path).toEqual([]);
  };

  // The link of `npm start`: a look at oneself, then the call.
  const ada = await openPerson(browser, 'ada', LAPTOP);
  await ada.goto(room.link);
  await ada.getByRole('button', { name: 'Join', exact: true }).waitFor();
  await expect.poll(() => ada.evaluate(PLAYING), PATIENCE).toBe(1);
  await take(ada);
  await joinCall(ada);
  await ada.getByText('Ada Lovelace (you)').waitFor();
  await expect.poll(() => ada.evaluate(PLAYING), PATIENCE).toBe(1);
  await ada.getByRole('button', { name: 'People' }).click();
  await ada.getByLabel('Invite a').selectOption('participant');
  await ada.getByRole('button', { name: 'Copy link' }).click();
  const invitation = await ada.getByRole('textbox', { name: 'Link' }).inputValue();
  await take(ada);

  // The others come by the link, one of them on a telephone.
  const join4 = async (person: string, name: string, options: WindowOptions): Promise<Page> => {
    const page = await openPerson(browser, person, options);
    await page.goto(invitation);
    await page.getByLabel('Your name').fill(name);
    if (options === TELEPHONE) await take(page);
    await joinCall(page);
    return page;
  };
  const grace = await join4('grace', 'Grace Hopper', TELEPHONE);
  await join4('alan', 'Alan Turing', LAPTOP);
  await join4('katherine', 'Katherine Johnson', LAPTOP);
  await ada.bringToFront();
  await ada.keyboard.press('Escape');
  await expect.poll(() => ada.evaluate(PLAYING), PATIENCE).toBe(FOUR);
  await take(ada);
  await grace.bringToFront();
  await expect.poll(() => grace.evaluate(PLAYING), PATIENCE).toBe(FOUR);
  await take(grace);
  await grace.getByRole('button', { name: 'Raise hand' }).click();
  await ada.bringToFront();
  await ada.getByLabel('hand raised').first().waitFor();
  await ada.getByRole('button', { name: 'People' }).click();
  await ada.getByRole('complementary').getByText('Katherine Johnson').waitFor();
  await take(ada);
  await ada.keyboard.press('Escape');

  // The media server is killed: both say so at once, and go on when it is back.
  await livekit.kill();
  const banner = ada.getByRole('alert').getByText('Connection lost.');
  await banner.waitFor();
  await take(ada);
  await grace.getByRole('alert').getByText('Connection lost.').waitFor();
  await take(grace);
  const again = await startLivekit({
    ...{ port: Number(new URL(livekit.url).port), webhookUrl },
    ...{ apiKey: livekit.apiKey, apiSecret: livekit.apiSecret },
  });
  await ada.bringToFront();
  await ada.getByRole('button', { name: 'Try now' }).click();
  await banner.waitFor({ state: 'detached' });
  await expect.poll(() => ada.evaluate(PLAYING), PATIENCE).toBe(FOUR);
  await take(ada);

  // The console: what is wrong, the receiver, one of its deliveries, and what happened.
  const console = await openConsole(service);
  const window = await browser.openWindow(LAPTOP);
  window.setDefaultTimeout(PATIENCE.timeout);
  const page = await window.newPage();
  await page.goto(console.link);
  const wrong = page.getByRole('region', { name: 'What is wrong now' });
  await wrong.getByText('responded with 503').first().waitFor();
  await page.getByRole('region', { name: 'Workers' }).getByText('No recording runs').waitFor();
  await take(page);
  await wrong.getByRole('link', { name: 'Why?' }).first().click();
  await page.getByRole('table', { name: 'Deliveries' }).getByRole('button').first().click();
  const panel = page.getByRole('complementary');
  await panel.getByText('the database is being moved').first().waitFor();
  await take(page);
  await panel.getByRole('link', { name: 'What happened?' }).click();
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  await take(page);

  expect(taken).toBe(12);
  await browser.close();
  await console.close();
  await room.close();
  await client.close();
  await receiver.close();
  await service.close();
  await again.close();
}, 600_000);

/** Opens a window whose camera shows a drawn person. */
async function openPerson(browser: TestBrowser, person: string, options: WindowOptions): Promise<Page> {
  const window = await browser.openWindow(options);
  window.setDefaultTimeout(PATIENCE.timeout);
  await window.addInitScript(`globalThis.avatar = '${person}'`);
  await window.addInitScript({ path: join(import.meta.dirname, 'support/avatars.js') });
  return await window.newPage();
}

const PLAYING = "[...document.querySelectorAll('video')].filter(({ videoWidth }) => videoWidth > 0).length";
