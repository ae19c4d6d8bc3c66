import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { startLivekit } from '../support/parts/livekit.ts';
import { readView } from './support/console.ts';
import { startStage } from './support/stage.ts';

const CHECKS = 'POST /console/checks';
const PATIENCE_MS = 60_000;

it('asks only whether the service is ready until the media server is back, and then reads its view again', async () => {
  const stage = await startStage();
  const { browser, client, console, livekit, service } = stage;
  const window = await browser.openWindow();
  window.setDefaultTimeout(PATIENCE_MS);
  const page = await window.newPage();
  // The view that the link leads to checks the service too.
  const checked = page.waitForResponse((response) => response.url().endsWith('/console/checks'));
  await page.goto(console.link);
  await checked;
  await livekit.kill();
  // The service looks at the media server at most once in a while.
  await expect.poll(async () => (await fetch(`${service.url}/ready`)).status).toBe(503);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await page.goto(readView(console, '/overview'));
  const fault = page
    .getByRole('region', { name: 'What is wrong now' })
    .getByText('media server', { exact: true });
  await fault.waitFor();
  await notReady(page);
  await notReady(page);
  expect(asked.filter((request) => request === CHECKS)).toHaveLength(1);

  const port = Number(new URL(livekit.url).port);
  const again = await startLivekit({ port, apiKey: livekit.apiKey, apiSecret: livekit.apiSecret });
  await fault.waitFor({ state: 'detached' });
  await page.getByRole('main').getByRole('alert').waitFor({ state: 'detached' });
  expect(asked.filter((request) => request === CHECKS)).toHaveLength(2);
  const { entries } = await client.audit.list({ limit: 100 });
  expect(entries.filter(({ path }) => path === '/v1/self-check')).toHaveLength(3);
  await window.close();
  await stage.close();
  await again.close();
});

/** Waits until the page has heard once more that the service is not ready. */
async function notReady(page: Page): Promise<void> {
  const heard = await page.waitForResponse((response) => response.url().endsWith('/console/ready'));
  expect(await heard.json()).toEqual({ isReady: false });
}
