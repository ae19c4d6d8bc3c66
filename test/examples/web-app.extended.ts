import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectErrors, startBrowser, type TestBrowser } from '../support/parts/browser.ts';
import { sharedLivekit } from '../support/parts/shared.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { startWebApp, type WebApp } from './support/start-web-app.ts';

describe('the example of a web application in a browser', () => {
  let service: TestService;
  let app: WebApp;
  let browser: TestBrowser;
  beforeAll(async () => {
    service = await startTestService({ livekit: await sharedLivekit() });
    app = await startWebApp(service);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await service?.close();
  });

  const joinAs = async (name: string) => {
    const window = await browser.openWindow();
    await window.addInitScript({ path: join(import.meta.dirname, '../web/support/probes.js') });
    const page = await window.newPage();
    const errors = collectErrors(page);
    await page.goto(app.url);
    await page.getByLabel('Your name').fill(name);
    await page.getByRole('button', { name: 'Join' }).click();
    return { page, errors };
  };

  const movingVideos = (page: Page): Promise<number> =>
    page.evaluate('globalThis.probes.moving()') as Promise<number>;

  it('lets two people see each other, and one of them leave', async () => {
    const ada = await joinAs('Ada');
    const bob = await joinAs('Bob');
    await expect.poll(() => movingVideos(ada.page)).toBe(2);
    await bob.page.bringToFront();
    await expect.poll(() => movingVideos(bob.page)).toBe(2);
    await ada.page.goto('about:blank');
    await expect.poll(() => bob.page.locator('video').count()).toBe(1);
    expect([...ada.errors, ...bob.errors]).toEqual([]);
  });
});
